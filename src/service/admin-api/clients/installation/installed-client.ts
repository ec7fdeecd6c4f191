// What installation documents are made of: a client, its realm, and the address of the server.
import type { Representation } from '../../../../kinds/json.ts'

/** A client to install, and its surroundings. */
export interface InstalledClient {
  /** The client as the caller may see it: its secrets may be masked. */
  readonly client: Representation
  /** The attributes of the client. */
  readonly attributes: Readonly<Record<string, string>>
  /** The names of the client's own roles. */
  readonly roles: readonly string[]
  readonly realm: string
  /** Which connections require TLS, such as `external`. */
  readonly sslRequired: string
  /** The address of the server, without a slash at its end. */
  readonly base: string
  /** The certificates of the realm that sign, in Base64 of their DER form. */
  readonly certificates: readonly { readonly kid: string; readonly certificate: string }[]
}

/** Returns the address of the realm. */
export const getRealmAddress = ({ base, realm }: Pick<InstalledClient, 'base' | 'realm'>): string =>
  `${base}/realms/${encodeURIComponent(realm)}`

/** Returns lines of text, with a line break at the end. */
export const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

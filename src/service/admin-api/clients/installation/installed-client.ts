// What installation documents are made of: a client, its realm, and the address of the server.
import { type Representation, readTextMap } from '../../../../kinds/json.ts'
import type { Context } from '../../../context/context.ts'
import { writers } from '../../../kinds/index.ts'
import { findLiveRealm } from '../../../objects/live-objects.ts'
import { clients } from '../clients.ts'

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

/** Returns a client as the caller may see it, with its surroundings. Throws forbidden, not_found. */
export async function loadInstalledClient(
  context: Context,
  id: string,
  { base, certificates }: Pick<InstalledClient, 'base' | 'certificates'>,
): Promise<InstalledClient> {
  return describeInstalledClient(context, await clients.get(context, { id }), { base, certificates })
}

/** Returns the surroundings of a client, which the caller may see as it is. */
export async function describeInstalledClient(
  context: Context,
  client: Representation,
  { base, certificates }: Pick<InstalledClient, 'base' | 'certificates'>,
): Promise<InstalledClient> {
  const roles = await writers.role.list(context, { parents: { kind: 'client', ids: [String(client.id)] } })
  const realm = await findLiveRealm(context)
  return {
    client,
    attributes: readTextMap(client.attributes),
    roles: roles.map(({ key }) => key.at(-1)!),
    realm: context.realm.name,
    sslRequired: String(realm?.representation.sslRequired ?? 'external').toLowerCase(),
    base,
    certificates,
  }
}

/** Returns the address of the realm. */
export const getRealmAddress = ({ base, realm }: Pick<InstalledClient, 'base' | 'realm'>): string =>
  `${base}/realms/${encodeURIComponent(realm)}`

/** Joins the lines of a document. Each ends with a line break. */
export const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

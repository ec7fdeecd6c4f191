// The credentials at a Keycloak server that a command only reads.
import type { ServerCredentials } from '../../reconcile/read/server/access-token.ts'
import { AdminServer } from '../../reconcile/read/server/admin-server.ts'

/** The flags for these credentials. */
export interface OtherServerFlags {
  readonly fromRealm: string
  readonly fromClient: string
  readonly fromClientSecret?: string
  readonly fromUser?: string
  readonly fromPassword?: string
  readonly fromToken?: string
}

/** Returns the server at a URL, with the credentials that flags or environment give. @throws Error without credentials. */
export function openOtherServer(url: string, flags: OtherServerFlags): AdminServer {
  return new AdminServer(url, readCredentials(url, flags))
}

function readCredentials(from: string, flags: OtherServerFlags): ServerCredentials {
  const { REGENT_FROM_TOKEN, REGENT_FROM_USER, REGENT_FROM_PASSWORD, REGENT_FROM_CLIENT_SECRET } = process.env
  const token = flags.fromToken ?? REGENT_FROM_TOKEN
  if (token) return { token }
  const user = flags.fromUser ?? REGENT_FROM_USER
  const password = flags.fromPassword ?? REGENT_FROM_PASSWORD
  const clientSecret = flags.fromClientSecret ?? (REGENT_FROM_CLIENT_SECRET || undefined)
  const userCredentials = user && password ? { username: user, password } : undefined
  if (!userCredentials && clientSecret === undefined) {
    throw new Error(
      `${from} requires credentials. Pass --from-user and --from-password, --from-client and --from-client-secret, or --from-token (REGENT_FROM_USER, …).`,
    )
  }
  return { realm: flags.fromRealm, client: flags.fromClient, clientSecret, user: userCredentials }
}

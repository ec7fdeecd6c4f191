// The writers of all kinds: what is special about a kind is in the file that its line names.
import type { KindName } from '../kinds/kind.ts'
import { authenticationFlows } from './authentication-flows.ts'
import { clientScopes } from './client-scopes.ts'
import { clients } from './clients.ts'
import { plain, type Writers } from './objects.ts'
import { realms } from './realms.ts'

/** The writers of each kind. */
export const writers: Readonly<Record<KindName, Writers>> = {
  realm: realms,
  authenticatorConfig: plain('authenticatorConfig'),
  authenticationFlow: authenticationFlows,
  clientScope: clientScopes,
  client: clients,
  protocolMapper: plain('protocolMapper'),
}

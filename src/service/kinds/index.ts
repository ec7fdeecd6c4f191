// The writers of all kinds. What is special about a kind is in the file that its line names; the others are plain.

import { parentPath } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import { authorizationPolicies, authorizationResources, authorizationScopes } from '../authorization/authorization.ts'
import { protocolMappers } from '../authorization/protocol-mappers.ts'
import { clientScopes } from '../clients/client-scopes.ts'
import { clients } from '../clients/clients.ts'
import { plain } from '../objects/objects.ts'
import { treeWriters } from '../objects/trees.ts'
import type { Writers } from '../objects/writers.ts'
import { authenticationFlows, authenticatorConfigs } from '../realms/authentication-flows.ts'
import { components } from '../realms/components.ts'
import { identityProviders } from '../realms/identity-providers.ts'
import { realms } from '../realms/realms.ts'
import { roles } from '../realms/roles.ts'
import { workflows } from '../realms/workflows.ts'
import { organizations } from '../users/organizations.ts'
import { users } from '../users/users.ts'

const special: Readonly<Partial<Record<KindName, Writers>>> = {
  realm: realms,
  authenticationFlow: authenticationFlows,
  authenticatorConfig: authenticatorConfigs,
  clientScope: clientScopes,
  client: clients,
  protocolMapper: protocolMappers,
  organization: organizations,
  identityProvider: identityProviders,
  role: roles,
  group: treeWriters('group', parentPath),
  component: components,
  user: users,
  authorizationPolicy: authorizationPolicies,
  authorizationResource: authorizationResources,
  authorizationScope: authorizationScopes,
  workflow: workflows,
}

/** The writers of each kind. */
export const writers = Object.fromEntries(
  (Object.keys(kinds) as KindName[]).map((kind) => [kind, special[kind] ?? plain(kind)]),
) as Readonly<Record<KindName, Writers>>

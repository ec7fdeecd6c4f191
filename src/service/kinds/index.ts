// The writers of all kinds: the plain ones, or those of the file of the kind.
import { getParentPath } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import {
  authorizationPolicies,
  authorizationResources,
  authorizationScopes,
} from '../authorization/authorization-writers.ts'
import { withManagementPermissions } from '../authorization/management-permissions.ts'
import { protocolMappers } from '../authorization/protocol-mapper-writers.ts'
import { clientScopes } from '../clients/client-scopes.ts'
import { clients } from '../clients/clients.ts'
import { createPlainWriters } from '../objects/plain-writers.ts'
import { createTreeWriters } from '../objects/tree-writers.ts'
import type { Writers } from '../objects/writers.ts'
import { authenticationFlows, authenticatorConfigs } from '../realms/authentication-flows.ts'
import { components } from '../realms/components.ts'
import { identityProviders } from '../realms/identity-providers.ts'
import { realms } from '../realms/realms.ts'
import { roles } from '../realms/roles.ts'
import { workflows } from '../realms/workflows.ts'
import { organizations } from '../users/organizations.ts'
import { users } from '../users/users.ts'

const specialWriters: Readonly<Partial<Record<KindName, Writers>>> = {
  realm: realms,
  authenticationFlow: authenticationFlows,
  authenticatorConfig: authenticatorConfigs,
  clientScope: clientScopes,
  client: withManagementPermissions('client', clients),
  protocolMapper: protocolMappers,
  organization: organizations,
  organizationGroup: createTreeWriters('organizationGroup', getParentPath),
  identityProvider: identityProviders,
  role: withManagementPermissions('role', roles),
  group: createTreeWriters('group', getParentPath, withManagementPermissions('group', createPlainWriters('group'))),
  component: components,
  user: users,
  authorizationPolicy: authorizationPolicies,
  authorizationResource: authorizationResources,
  authorizationScope: authorizationScopes,
  workflow: workflows,
}

/** The writers of each kind. */
export const writers = Object.fromEntries(
  Object.values(kinds).map(({ name }) => [name, specialWriters[name] ?? createPlainWriters(name)]),
) as Readonly<Record<KindName, Writers>>

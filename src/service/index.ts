// The writers of all kinds. What is special about a kind is in the file that its line names; the others are plain.

import { parentPath } from '../kinds/group.ts'
import { kinds } from '../kinds/index.ts'
import type { KindName } from '../kinds/kind.ts'
import { authenticationFlows, authenticatorConfigs } from './authentication-flows.ts'
import { authorizationPolicies, authorizationResources, authorizationScopes } from './authorization.ts'
import { clientScopes } from './client-scopes.ts'
import { clients } from './clients.ts'
import { components } from './components.ts'
import { identityProviders } from './identity-providers.ts'
import { plain, type Writers } from './objects.ts'
import { organizations } from './organizations.ts'
import { realms } from './realms.ts'
import { roles } from './roles.ts'
import { treeWriters } from './trees.ts'
import { users } from './users.ts'
import { workflows } from './workflows.ts'

const special: Readonly<Partial<Record<KindName, Writers>>> = {
  realm: realms,
  authenticationFlow: authenticationFlows,
  authenticatorConfig: authenticatorConfigs,
  clientScope: clientScopes,
  client: clients,
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

// The table of all kinds.
import { authenticationFlow } from './authentication-flow.ts'
import { authenticatorConfig } from './authenticator-config.ts'
import { authorizationPolicy } from './authorization-policy.ts'
import { authorizationResource } from './authorization-resource.ts'
import { authorizationScope } from './authorization-scope.ts'
import { client } from './client.ts'
import { clientScope } from './client-scope.ts'
import { component } from './component.ts'
import { group } from './group.ts'
import { identityProvider } from './identity-provider.ts'
import { identityProviderMapper } from './identity-provider-mapper.ts'
import type { Kind, KindName } from './kind.ts'
import { localization } from './localization.ts'
import { organization } from './organization.ts'
import { organizationGroup } from './organization-group.ts'
import { protocolMapper } from './protocol-mapper.ts'
import { realm } from './realm.ts'
import { requiredAction } from './required-action.ts'
import { role } from './role.ts'
import { user } from './user.ts'
import { workflow } from './workflow.ts'

/** All kinds by name. */
export const kinds: Readonly<Record<KindName, Kind>> = {
  realm,
  authenticatorConfig,
  authenticationFlow,
  clientScope,
  client,
  protocolMapper,
  organization,
  organizationGroup,
  identityProvider,
  identityProviderMapper,
  role,
  group,
  component,
  localization,
  user,
  workflow,
  requiredAction,
  authorizationPolicy,
  authorizationResource,
  authorizationScope,
}

/** Whether a text is the name of a kind. */
export function isKindName(name: string): name is KindName {
  return Object.hasOwn(kinds, name)
}

// The table of effects: of every field and provider, whether Regent enforces it.
import type { KindName } from '../kind-name.ts'
import { authenticationFlowEffects, authenticatorConfigEffects, requiredActionEffects } from './authentication.ts'
import { authorizationPolicyEffects, authorizationResourceEffects, authorizationScopeEffects } from './authorization.ts'
import { clientEffects, clientScopeEffects } from './client.ts'
import { componentEffects, identityProviderEffects, identityProviderMapperEffects } from './federation.ts'
import { enforced, type FieldEffect, type KindEffects } from './field-effect.ts'
import { protocolMapperEffects } from './protocol-mapper.ts'
import { realmEffects } from './realm.ts'
import {
  groupEffects,
  organizationEffects,
  organizationGroupEffects,
  roleEffects,
  userEffects,
  workflowEffects,
} from './subjects.ts'

/** The effects of fields, by kind. Not listed are fields that the server sets. */
export const effects: Readonly<Record<KindName, KindEffects>> = {
  realm: realmEffects,
  authenticatorConfig: authenticatorConfigEffects,
  authenticationFlow: authenticationFlowEffects,
  clientScope: clientScopeEffects,
  client: clientEffects,
  protocolMapper: protocolMapperEffects,
  organization: organizationEffects,
  organizationGroup: organizationGroupEffects,
  identityProvider: identityProviderEffects,
  identityProviderMapper: identityProviderMapperEffects,
  role: roleEffects,
  group: groupEffects,
  component: componentEffects,
  localization: enforced('test/login/pages.test.ts', ['locale', 'texts.*']),
  user: userEffects,
  workflow: workflowEffects,
  requiredAction: requiredActionEffects,
  authorizationPolicy: authorizationPolicyEffects,
  authorizationResource: authorizationResourceEffects,
  authorizationScope: authorizationScopeEffects,
}

/** Returns the effect of a field, or of a key of a map, `field.key`; undefined for a field that the server sets. */
export function findEffect(kind: KindName, path: string): FieldEffect | undefined {
  const listed = effects[kind]
  if (Object.hasOwn(listed, path)) return listed[path]
  const dot = path.indexOf('.')
  return dot < 0 ? undefined : listed[`${path.slice(0, dot)}.*`]
}

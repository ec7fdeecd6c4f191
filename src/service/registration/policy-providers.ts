// The providers of client registration policies, with the values that their settings can have in a realm.
import { CLIENT_REGISTRATION_POLICY, type ComponentType, componentTypes } from '../../kinds/component-types.ts'
import { mapperTypes } from '../../kinds/mapper-types.ts'
import type { Context } from '../context/context.ts'
import { listObjects } from '../objects/live-objects.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'

/** A provider of policies. */
export interface PolicyProvider extends ComponentType {
  readonly id: string
}

/** Keycloak: the scope of OpenID Connect requests, which is no client scope, can be permitted like one. */
const OPENID = 'openid'

/** Lists the providers. One statement. */
export async function listPolicyProviders(context: Context): Promise<PolicyProvider[]> {
  requirePermissions(context, 'view-realm')
  const scopes = await listObjects(context, 'clientScope', {})
  const options: Readonly<Record<string, readonly string[]>> = {
    'allowed-client-scopes': [...scopes.map(({ key }) => key[0]!), OPENID],
    'allowed-protocol-mapper-types': Object.keys(mapperTypes),
  }
  return Object.entries(componentTypes[CLIENT_REGISTRATION_POLICY]!).map(([id, type]) => ({
    id,
    ...type,
    properties: type.properties.map((property) => {
      const values = options[property.name]
      return values ? { ...property, options: values } : property
    }),
  }))
}

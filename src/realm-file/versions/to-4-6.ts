import { assignClientScope } from './client-scopes.ts'
import type { VersionStep } from './version-step.ts'

/** Assigns the client scopes that add roles and allowed origins to tokens, which earlier versions always added. Keycloak: MigrateTo4_6_0. */
export const toVersion4_6: VersionStep = {
  version: '4.6.0',
  migrate(realm, { warn }) {
    const withRoles = assignClientScope(realm, { name: 'roles', type: 'default' })
    const migrated = assignClientScope(withRoles, { name: 'web-origins', type: 'default' })
    if (migrated !== realm) warn(['clients'], 'clients get the default client scopes roles and web-origins')
    return migrated
  },
}

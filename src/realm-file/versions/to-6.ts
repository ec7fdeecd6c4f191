import { assignClientScope } from './client-scopes.ts'
import type { VersionStep } from './version-step.ts'

/** Assigns the client scope `microprofile-jwt`. Keycloak: MigrateTo6_0_0. */
export const toVersion6: VersionStep = {
  version: '6.0.0',
  migrate(realm, { warn }) {
    const migrated = assignClientScope(realm, { name: 'microprofile-jwt', type: 'optional' })
    if (migrated !== realm) warn(['clients'], 'clients get the optional client scope microprofile-jwt')
    return migrated
  },
}

import { assignClientScope, lacksClientScope } from './client-scopes.ts'
import type { VersionStep } from './version-step.ts'

/** Assigns the client scope `basic`. Keycloak: MigrateTo25_0_0. */
export const toVersion25: VersionStep = {
  version: '25.0.0',
  migrate(realm, { warn }) {
    if (!lacksClientScope(realm, 'basic')) return realm
    const migrated = assignClientScope(realm, { name: 'basic', type: 'default' })
    if (migrated !== realm)
      warn(['clientScopes'], 'clients get the default client scope basic, which adds sub and auth_time to tokens')
    return migrated
  },
}

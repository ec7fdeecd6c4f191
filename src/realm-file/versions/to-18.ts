import { assignClientScope, lacksClientScope } from './client-scopes.ts'
import type { VersionStep } from './version-step.ts'

/** Assigns the client scope `acr`. Keycloak: MigrateTo18_0_0. */
export const toVersion18: VersionStep = {
  version: '18.0.0',
  migrate(realm, { warn }) {
    if (!lacksClientScope(realm, 'acr')) return realm
    const migrated = assignClientScope(realm, { name: 'acr', type: 'default' })
    if (migrated !== realm) warn(['clientScopes'], 'clients get the default client scope acr, which adds acr to tokens')
    return migrated
  },
}

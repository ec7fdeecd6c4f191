import type { VersionStep } from './version-step.ts'

/** Removes the former default of hash iterations, which is not meant for the current algorithms. Keycloak: MigrateTo3_2_0. */
export const toVersion3_2: VersionStep = {
  version: '3.2.0',
  migrate(realm, { warn }) {
    const { passwordPolicy: policy } = realm
    if (typeof policy !== 'string' || policy.includes('hashAlgorithm')) return realm
    const rules = policy.split(' and ')
    const remaining = rules.filter((rule) => rule.trim() !== 'hashIterations(20000)')
    if (remaining.length === rules.length) return realm
    warn(['passwordPolicy'], 'hashIterations(20000) is removed from the password policy')
    return { ...realm, passwordPolicy: remaining.join(' and ') }
  },
}

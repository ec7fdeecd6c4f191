import { isObject } from '../../kinds/json.ts'
import type { VersionStep } from './version-step.ts'

const FORMER_POLICY = "frame-src 'self'"
const POLICY = "frame-src 'self'; frame-ancestors 'self'; object-src 'none';"

/** Replaces the former default of the content security policy, which permits embedding login pages. Keycloak: MigrateTo3_4_1. */
export const toVersion3_4_1: VersionStep = {
  version: '3.4.1',
  migrate(realm, { warn }) {
    const { browserSecurityHeaders: headers } = realm
    if (!isObject(headers) || headers.contentSecurityPolicy !== FORMER_POLICY) return realm
    warn(['browserSecurityHeaders', 'contentSecurityPolicy'], `contentSecurityPolicy becomes "${POLICY}"`)
    return { ...realm, browserSecurityHeaders: { ...headers, contentSecurityPolicy: POLICY } }
  },
}

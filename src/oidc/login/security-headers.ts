// What the realm's settings say of its pages to browsers: whether they may be framed, and the like.
import type { Representation } from '../../kinds/json.ts'
import { isHeaderValue } from '../../lib/http/header-value.ts'

/** Keycloak: the names that the settings have for them. */
const NAMES: Readonly<Record<string, string>> = {
  contentSecurityPolicy: 'content-security-policy',
  contentSecurityPolicyReportOnly: 'content-security-policy-report-only',
  referrerPolicy: 'referrer-policy',
  strictTransportSecurity: 'strict-transport-security',
  xContentTypeOptions: 'x-content-type-options',
  xFrameOptions: 'x-frame-options',
  xRobotsTag: 'x-robots-tag',
}

/** The headers of the realm's pages, which may have frames of these addresses. An empty one is not sent, also where the server sends it by default. */
export function securityHeaders(
  { browserSecurityHeaders }: Representation,
  frames: readonly string[] = [],
): Record<string, string> {
  const stated = (browserSecurityHeaders ?? {}) as Record<string, string>
  const origins = frames.map((address) => new URL(address).origin)
  const policy = stated.contentSecurityPolicy?.replace(/frame-src/, ['frame-src', ...origins].join(' '))
  const all: Record<string, string> = { ...stated, ...(policy !== undefined && { contentSecurityPolicy: policy }) }
  // A value that no header holds was kept by an earlier version: the page is shown without it.
  const sendable = (text = '') => (isHeaderValue(text) ? text : '')
  return Object.fromEntries(Object.entries(NAMES).map(([setting, header]) => [header, sendable(all[setting])]))
}

// Responses to browsers: pages, redirects and authorization responses.
import type { Cookie } from '../../lib/http/cookies.ts'
import { isHeaderValue, toHeaderValue } from '../../lib/http/headers.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { OidcRealm, RealmSettings } from '../oidc-realm.ts'
import { createTranslator, listLanguages } from '../pages/localize.ts'
import { formPostPage } from '../pages/messages.ts'
import { type Page, renderDocument, type View } from '../pages/view.ts'
import {
  buildResponseForm,
  buildResponseUrl,
  getDelivery,
  isSignedMode,
  type ResponseTarget,
} from './authorization-response.ts'
import { getPageLanguage, type LanguagePreferences } from './language.ts'
import type { BrowserRequest, BrowserResponse } from './session/browser-request.ts'
import { signResponse } from './signed-response.ts'

/** The realm and the request of a page. */
export interface PageContext {
  readonly service: Service
  readonly realm: OidcRealm
  readonly request: BrowserRequest
}

/** The path of the stylesheet. */
export const STYLESHEET = '/resources/regent/login.css'

/** Options of a page. */
export interface PageOptions extends Partial<Pick<View, 'action' | 'address' | 'problem' | 'info' | 'values'>> {
  /** Preferred languages, the most preferred one first; those of the browser follow. */
  readonly languages?: LanguagePreferences
  readonly status?: number
  readonly cookies?: readonly Cookie[]
  /** The address at which the page can be loaded again; absent: that of the request. */
  readonly self?: string
  /** Addresses of applications that the page loads in frames. */
  readonly frames?: readonly string[]
}

/** Renders a page in the language of the user. */
export async function renderPage(
  context: PageContext,
  page: Page,
  options: PageOptions = {},
): Promise<BrowserResponse> {
  const { service, realm, request } = context
  const { settings } = realm
  const { languages = [], status = 200, cookies = [], frames = [], self = `?${request.query}`, ...view } = options
  const language = getPageLanguage(context, languages)
  const text = await service.read(SYSTEM, realm, (context) => createTranslator(context, settings, language))
  const document = renderDocument(page, {
    text,
    language,
    languages: listLanguages(settings).map((tag) => ({ tag, address: addLanguage(self, tag) })),
    realm: settings.displayName || realm.name,
    stylesheet: `${new URL(request.base).pathname.replace(/\/$/, '')}${STYLESHEET}`,
    action: '',
    address: (page) => page,
    values: {},
    ...view,
  })
  return {
    status,
    page: document,
    cookies,
    headers: {
      ...getSecurityHeaders(settings, frames),
      'cache-control': 'no-store, must-revalidate, max-age=0',
      'content-language': toHeaderValue(language),
    },
  }
}

/** Sends an authorization response to a client in the requested response mode. */
export async function respondToClient(
  context: PageContext,
  target: ResponseTarget,
  {
    client,
    parameters,
    cookies = [],
  }: {
    /** Only signed responses need it. */
    readonly client: LiveObject | undefined
    readonly parameters: Readonly<Record<string, string>>
    readonly cookies?: readonly Cookie[]
  },
): Promise<BrowserResponse> {
  const sent = isSignedMode(target.responseMode) ? await signResponse(context, client, parameters) : parameters
  if (getDelivery(target.responseMode) !== 'form_post') return redirectTo(buildResponseUrl(target, sent), cookies)
  return renderPage(
    context,
    formPostPage((button) => buildResponseForm(target, sent, button)),
    { cookies },
  )
}

/** Redirects the browser. */
export function redirectTo(location: string, cookies: readonly Cookie[] = []): BrowserResponse {
  return { status: 302, location, cookies, headers: { 'cache-control': 'no-store, must-revalidate, max-age=0' } }
}

/** Returns the address of a page in a language. */
function addLanguage(self: string, tag: string): string {
  const [path, query] = self.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('kc_locale', tag)
  return `${path}?${parameters}`
}

/** Keycloak: the names of the headers in `browserSecurityHeaders`. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  contentSecurityPolicy: 'content-security-policy',
  contentSecurityPolicyReportOnly: 'content-security-policy-report-only',
  referrerPolicy: 'referrer-policy',
  strictTransportSecurity: 'strict-transport-security',
  xContentTypeOptions: 'x-content-type-options',
  xFrameOptions: 'x-frame-options',
  xRobotsTag: 'x-robots-tag',
}

/**
 * Returns the security headers of a realm's pages, which may load the given frames. An empty header replaces the default
 * one of the server, and is not sent.
 */
export function getSecurityHeaders(
  { browserSecurityHeaders = {} }: Pick<RealmSettings, 'browserSecurityHeaders'>,
  frames: readonly string[] = [],
): Record<string, string> {
  const origins = frames.map((address) => new URL(address).origin)
  const { contentSecurityPolicy, ...headers } = browserSecurityHeaders
  const policy = contentSecurityPolicy?.replace(/frame-src/, ['frame-src', ...origins].join(' '))
  const values: Record<string, string> = { ...headers, ...(policy !== undefined && { contentSecurityPolicy: policy }) }
  // An earlier version stored values that no header can contain: the page is sent without them.
  const toHeader = (text = '') => (isHeaderValue(text) ? text : '')
  return Object.fromEntries(
    Object.entries(SECURITY_HEADERS).map(([setting, header]) => [header, toHeader(values[setting])]),
  )
}

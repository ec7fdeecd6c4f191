// Answers to browsers: pages, and what applications are told.
import type { Cookie } from '../../lib/http/cookies.ts'
import { asHeader } from '../../lib/http/header-value.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { languagesOf, textsFor } from '../pages/localize.ts'
import { formPostPage } from '../pages/messages.ts'
import { documentOf, type Page, type View } from '../pages/view.ts'
import type { TokenRealm } from '../realm.ts'
import { languageFor, type Wishes } from './language.ts'
import { type AnswerTo, addressWith, formWith } from './response.ts'
import { securityHeaders } from './security-headers.ts'
import type { BrowserAnswer, BrowserRequest } from './session/browser.ts'

/** What any page needs. */
export interface Place {
  readonly service: Service
  readonly realm: TokenRealm
  readonly request: BrowserRequest
}

/** Where the stylesheet of pages is. */
export const STYLESHEET = '/resources/regent/login.css'

/** What a page of a log-in knows besides. */
export interface Within extends Partial<Pick<View, 'action' | 'address' | 'problem' | 'info' | 'values'>> {
  /** Languages that are wished, the strongest wish first; those of the browser come last. */
  readonly wishes?: Wishes
  readonly status?: number
  readonly cookies?: readonly Cookie[]
  /** The address at which the page can be seen again; absent: that of the request. */
  readonly self?: string
  /** Addresses of applications that the page has in frames. */
  readonly frames?: readonly string[]
}

/** A page in the language of its reader. */
export async function show(place: Place, page: Page, within: Within = {}): Promise<BrowserAnswer> {
  const { service, realm, request } = place
  const { settings } = realm
  const { wishes = [], status = 200, cookies = [], frames = [], self = `?${request.query}`, ...known } = within
  const language = languageFor(place, wishes)
  const text = await service.read(SYSTEM, realm, (context) => textsFor(context, settings, language))
  const view: View = {
    text,
    language,
    languages: languagesOf(settings).map((tag) => ({ tag, address: inLanguage(self, tag) })),
    realm: String(settings.displayName || realm.name),
    stylesheet: `${new URL(request.base).pathname.replace(/\/$/, '')}${STYLESHEET}`,
    action: '',
    address: (to) => to,
    values: {},
    ...known,
  }
  return {
    status,
    page: documentOf(page, view),
    cookies,
    headers: {
      ...securityHeaders(settings, frames),
      'cache-control': 'no-store, must-revalidate, max-age=0',
      'content-language': asHeader(language),
    },
  }
}

/** The answer to an application, by the way that it wished. */
export async function respond(
  place: Place,
  to: AnswerTo,
  answer: Readonly<Record<string, string>>,
  cookies: readonly Cookie[] = [],
): Promise<BrowserAnswer> {
  if (to.responseMode === 'form_post') {
    return show(
      place,
      formPostPage((button) => formWith(to, answer, button)),
      { cookies },
    )
  }
  return goTo(addressWith(to, answer), cookies)
}

/** Sends the browser on. */
export function goTo(location: string, cookies: readonly Cookie[] = []): BrowserAnswer {
  return { status: 302, location, cookies, headers: { 'cache-control': 'no-store, must-revalidate, max-age=0' } }
}

/** The address of a page in a language. */
function inLanguage(self: string, tag: string): string {
  const [path, query] = self.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('kc_locale', tag)
  return `${path}?${parameters}`
}

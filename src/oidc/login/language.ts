// In which language somebody reads and writes.
import { languageOf } from '../pages/localize.ts'
import type { TokenRealm } from '../realm.ts'
import type { Login } from './login.ts'
import type { BrowserRequest } from './session/browser.ts'
import { LOCALE } from './session/cookies.ts'

/** Languages that are wished, the strongest wish first. */
export type Wishes = readonly (string | undefined)[]

/** What is wished for a log-in: on one of its pages, by the person, by the application. */
export function wishesOf({ state, person }: Login): Wishes {
  const attributes = (person?.live.representation.attributes ?? {}) as Record<string, string[]>
  return [state.locale, attributes.locale?.[0], state.parameters.languages]
}

/** The language of an answer: what is chosen with the request comes before the wishes, what the browser likes behind them. */
export function languageFor(
  { realm, request }: { readonly realm: TokenRealm; readonly request: BrowserRequest },
  wishes: Wishes,
): string {
  const chosen = request.query.get('kc_locale') ?? undefined
  return languageOf(realm.settings, [chosen, ...wishes, request.cookies.get(LOCALE), request.languages])
}

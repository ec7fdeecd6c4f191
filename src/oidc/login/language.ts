// The language of a page.
import type { OidcRealm } from '../oidc-realm.ts'
import { selectLanguage } from '../pages/localize.ts'
import type { Login } from './login.ts'
import type { BrowserRequest } from './session/browser-request.ts'
import { LOCALE } from './session/cookies.ts'

/** Preferred languages, the most preferred one first. */
export type LanguagePreferences = readonly (string | undefined)[]

/** Returns the preferred languages of a login: the selected one, that of the user, that of the authorization request. */
export function listPreferredLanguages({ state, user }: Login): LanguagePreferences {
  return [state.locale, user?.fields.attributes?.locale?.[0], state.parameters.languages]
}

/** Returns the language of a page: selected by the request, then preferred, then that of the browser. */
export function getPageLanguage(
  { realm, request }: { readonly realm: OidcRealm; readonly request: BrowserRequest },
  preferences: LanguagePreferences,
): string {
  const selected = request.query.get('kc_locale') ?? undefined
  return selectLanguage(realm.settings, [selected, ...preferences, request.cookies.get(LOCALE), request.languages])
}

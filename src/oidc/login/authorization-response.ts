// Authorization responses: as a redirect, or as a form that the browser submits.
import { type Html, html } from '../../lib/html.ts'

/** The supported response modes. */
export const responseModes = [
  ...(['query', 'fragment', 'form_post'] as const),
  ...(['query.jwt', 'fragment.jwt', 'form_post.jwt', 'jwt'] as const),
] as const

/** A response mode. */
export type ResponseMode = (typeof responseModes)[number]

/** Whether the parameters of a response are signed in a token. JARM, section 2.3. */
export const isSignedMode = (mode: ResponseMode): boolean => mode.endsWith('jwt')

/** Returns the mode in which the response is delivered. The default of authorization codes is the query. */
export const getDelivery = (mode: ResponseMode): string => mode.replace(/\.?jwt$/, '') || 'query'

/** The recipient of an authorization response. */
export interface ResponseTarget {
  readonly redirectUri: string
  readonly responseMode: ResponseMode
}

/** Returns the redirect of an authorization response, for the modes `query` and `fragment`. Only the redirect URI of Keycloak's console has a fragment. */
export function buildResponseUrl(
  { redirectUri, responseMode }: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
): string {
  const text = new URLSearchParams(parameters).toString()
  const [address, fragment] = redirectUri.split('#')
  if (getDelivery(responseMode) === 'fragment') return `${redirectUri}${fragment === undefined ? '#' : '&'}${text}`
  return `${address}${address!.includes('?') ? '&' : '?'}${text}${fragment === undefined ? '' : `#${fragment}`}`
}

/** Returns the form of an authorization response, for the mode `form_post`. A script submits it; `button` is for browsers without scripts. */
export function buildResponseForm(
  { redirectUri }: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
  button: string,
): Html {
  const fields = Object.entries(parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<form method="post" action="${redirectUri}">${fields}<button type="submit">${button}</button></form>
<script>document.forms[0].submit()</script>`
}

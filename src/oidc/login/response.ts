// How an application is answered: by an address that the browser goes to, or a form that it sends.
import { type Html, html } from '../../lib/html.ts'

/** The ways to answer. */
export const responseModes = ['query', 'fragment', 'form_post'] as const

/** A way to answer. */
export type ResponseMode = (typeof responseModes)[number]

/** Where an answer goes. */
export interface AnswerTo {
  readonly redirectUri: string
  readonly responseMode: ResponseMode
}

/** The address that carries the answer; not for `form_post`. */
export function addressWith({ redirectUri, responseMode }: AnswerTo, answer: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(answer).toString()
  if (responseMode === 'fragment') return `${redirectUri}#${text}`
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${text}`
}

/** The form that carries the answer; it sends itself where scripts run. */
export function formWith(to: AnswerTo, answer: Readonly<Record<string, string>>, button: string): Html {
  const fields = Object.entries(answer).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<form method="post" action="${to.redirectUri}">${fields}<button type="submit">${button}</button></form>
<script>document.forms[0].submit()</script>`
}

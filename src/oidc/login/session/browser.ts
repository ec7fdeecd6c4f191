// What a browser sends, and what it gets.

import type { Html } from '../../../lib/html.ts'
import type { Cookie } from '../../../lib/http/cookies.ts'

/** A request of a browser. */
export interface BrowserRequest {
  /** Base address of the server as the browser knows it. */
  readonly base: string
  readonly realm: string
  readonly query: URLSearchParams
  /** The form of a POST. */
  readonly form?: Readonly<Record<string, string>>
  readonly cookies: ReadonlyMap<string, string>
  /** The address that it comes from, whether nobody could read it on its way, and the languages that it wishes. */
  readonly address: string
  readonly secure: boolean
  readonly languages: string
}

/** An answer to a browser: a page, or another address. */
export interface BrowserAnswer {
  readonly status: number
  readonly location?: string
  readonly page?: Html
  readonly cookies: readonly Cookie[]
  readonly headers: Readonly<Record<string, string>>
}

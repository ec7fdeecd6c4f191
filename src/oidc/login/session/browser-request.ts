import type { Html } from '../../../lib/html.ts'
import type { Cookie } from '../../../lib/http/cookies.ts'

/** A request of a browser. */
export interface BrowserRequest {
  /** The address of the server, as the browser sees it. */
  readonly base: string
  readonly realm: string
  readonly query: URLSearchParams
  /** The form of a POST. */
  readonly form?: Readonly<Record<string, string>>
  readonly cookies: ReadonlyMap<string, string>
  /** The network address of the browser. */
  readonly address: string
  /** Whether the request came over HTTPS. */
  readonly secure: boolean
  /** The Accept-Language header. */
  readonly languages: string
}

/** A response to a browser: a page, or a redirect. */
export interface BrowserResponse {
  readonly status: number
  readonly location?: string
  readonly page?: Html
  readonly cookies: readonly Cookie[]
  readonly headers: Readonly<Record<string, string>>
}

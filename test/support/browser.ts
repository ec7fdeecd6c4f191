// A browser for tests, without scripts: it stores cookies, follows redirects and submits forms, in this process.
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/** The redirect URI of the clients of tests. No server listens there: the browser stops when it is redirected to it. */
export const APPLICATION = 'http://app.example/back'

/** A page that the browser has loaded, or the redirect to a client that it has stopped at. */
export interface Visited {
  readonly status: number
  /** The last URL of the server. */
  readonly url: string
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
  /** The parameters of the response to the client; absent unless the browser was redirected to it. */
  readonly response?: URLSearchParams
}

/** A browser with its cookies. */
export interface TestBrowser {
  readonly cookies: Map<string, string>
  open(url: string): Promise<Visited>
  /** Submits the form of a page with these fields. */
  send(page: Visited, fields: Record<string, string>): Promise<Visited>
  /** Follows the link whose URL contains a text. */
  follow(page: Visited, text: string): Promise<Visited>
}

/** Creates a browser that sends its requests to the server. */
export function testBrowser(app: FastifyInstance): TestBrowser {
  const cookies = new Map<string, string>()
  const visit = async (method: 'GET' | 'POST', url: string, form?: Record<string, string>): Promise<Visited> => {
    const { pathname, search } = new URL(url, 'http://localhost')
    const result = await app.inject({
      method,
      url: pathname + search,
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    for (const text of [result.headers['set-cookie'] ?? []].flat()) storeCookie(cookies, text)
    const { location } = result.headers
    const page = { status: result.statusCode, url: pathname + search, text: result.body, headers: result.headers }
    if (location === undefined) return page
    const to = new URL(location)
    return to.host === 'localhost' || to.host === 'localhost:80'
      ? visit('GET', location)
      : { ...page, response: new URLSearchParams(to.hash.slice(1) || to.search) }
  }
  return {
    cookies,
    open: (url) => visit('GET', url),
    send: (page, fields) => visit('POST', new URL(getFormAction(page), `http://localhost${page.url}`).href, fields),
    follow(page, text) {
      const links = [...page.text.matchAll(/<a href="([^"]*)"/g)].map(([, address]) => unescapeHtml(address!))
      const link = links.find((address) => address.includes(text))
      if (link === undefined) throw new Error(`no link with ${text} in ${page.text}`)
      return visit('GET', new URL(link, `http://localhost${page.url}`).href)
    },
  }
}

/** Returns the path of an authorization request, and the PKCE verifier that redeems its code. */
export function loginAddress(realm: string, parameters: Record<string, string> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: 'web',
    redirect_uri: APPLICATION,
    response_type: 'code',
    scope: 'openid',
    state: 'st',
    nonce: 'no',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...parameters,
  })
  return { address: `/realms/${realm}/protocol/openid-connect/auth?${query}`, verifier }
}

/** Returns the action of the form of a page. */
function getFormAction({ text }: Visited): string {
  const [, action] = /<form method="post" action="([^"]*)"/.exec(text) ?? []
  if (action === undefined) throw new Error(`no form in ${text}`)
  return unescapeHtml(action)
}

function unescapeHtml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

function storeCookie(cookies: Map<string, string>, text: string): void {
  const [pair = '', ...attributes] = text.split('; ')
  const at = pair.indexOf('=')
  const name = pair.slice(0, at)
  if (attributes.includes('Max-Age=0')) cookies.delete(name)
  else cookies.set(name, pair.slice(at + 1))
}

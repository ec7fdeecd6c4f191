// A browser without scripts: it keeps cookies, follows addresses and sends forms, in this process.
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/** Where applications of tests are: nobody answers there, and a browser stops when it is sent there. */
export const APPLICATION = 'http://app.example/back'

/** A page, or the address of an application that the browser was sent to. */
export interface Visited {
  readonly status: number
  /** The last address of the server. */
  readonly url: string
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
  /** What the application was told; absent: it was not reached. */
  readonly answer?: URLSearchParams
}

/** A browser. */
export interface TestBrowser {
  readonly cookies: Map<string, string>
  open(url: string): Promise<Visited>
  /** Sends the form of the page with these fields. */
  send(page: Visited, fields: Record<string, string>): Promise<Visited>
  /** Follows the link whose address holds the text. */
  follow(page: Visited, text: string): Promise<Visited>
}

/** A browser that asks the server. */
export function testBrowser(app: FastifyInstance): TestBrowser {
  const cookies = new Map<string, string>()
  const visit = async (method: 'GET' | 'POST', url: string, form?: Record<string, string>): Promise<Visited> => {
    const { pathname, search } = new URL(url, 'http://localhost')
    const answer = await app.inject({
      method,
      url: pathname + search,
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    for (const text of [answer.headers['set-cookie'] ?? []].flat()) keep(cookies, text)
    const { location } = answer.headers
    const page = { status: answer.statusCode, url: pathname + search, text: answer.body, headers: answer.headers }
    if (location === undefined) return page
    const to = new URL(location)
    return to.host === 'localhost' || to.host === 'localhost:80'
      ? visit('GET', location)
      : { ...page, answer: new URLSearchParams(to.hash.slice(1) || to.search) }
  }
  return {
    cookies,
    open: (url) => visit('GET', url),
    send: (page, fields) => visit('POST', new URL(formOf(page), `http://localhost${page.url}`).href, fields),
    follow(page, text) {
      const links = [...page.text.matchAll(/<a href="([^"]*)"/g)].map(([, address]) => unescaped(address!))
      const found = links.find((address) => address.includes(text))
      if (found === undefined) throw new Error(`no link with ${text} in ${page.text}`)
      return visit('GET', new URL(found, `http://localhost${page.url}`).href)
    },
  }
}

/** The address that begins a log-in, and the secret with which its code is redeemed. */
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

/** The address of the form of a page. */
function formOf({ text }: Visited): string {
  const [, action] = /<form method="post" action="([^"]*)"/.exec(text) ?? []
  if (action === undefined) throw new Error(`no form in ${text}`)
  return unescaped(action)
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

function keep(cookies: Map<string, string>, text: string): void {
  const [pair = '', ...attributes] = text.split('; ')
  const at = pair.indexOf('=')
  const name = pair.slice(0, at)
  if (attributes.includes('Max-Age=0')) cookies.delete(name)
  else cookies.set(name, pair.slice(at + 1))
}

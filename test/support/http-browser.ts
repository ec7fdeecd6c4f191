// A browser for tests of servers in other processes, without scripts: it stores cookies, follows redirects and submits forms over HTTP.
import { once } from 'node:events'
import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'

/** A page that was loaded. */
export interface LoadedPage {
  readonly status: number
  readonly url: string
  readonly text: string
}

/** A browser with its cookies, by host. */
export interface HttpBrowser {
  open(url: string): Promise<LoadedPage>
  /** Submits the form of a page. */
  send(page: LoadedPage, fields: Readonly<Record<string, string>>): Promise<LoadedPage>
}

/** Creates a browser. */
export function createHttpBrowser(): HttpBrowser {
  const cookies = new Map<string, Map<string, string>>()
  const visit = async (method: string, url: string, body?: string): Promise<LoadedPage> => {
    const { host } = new URL(url)
    const ofHost = cookies.get(host) ?? new Map<string, string>()
    cookies.set(host, ofHost)
    const sent = request(url, {
      method,
      headers: {
        cookie: [...ofHost].map((pair) => pair.join('=')).join('; '),
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    })
    sent.end(body)
    const [response] = await once(sent, 'response')
    const { location, 'set-cookie': setCookies = [] } = response.headers
    for (const text of setCookies as string[]) {
      const [name = '', value = ''] = text.split(';', 1)[0]!.split(/=(.*)/s)
      if (/Max-Age=0\b/.test(text)) ofHost.delete(name)
      else ofHost.set(name, value)
    }
    const text = await readText(response)
    if (location !== undefined) return visit('GET', new URL(location, url).href)
    return { status: response.statusCode, url, text }
  }
  return {
    open: (url) => visit('GET', url),
    send({ url, text }, fields) {
      const [, action] = /<form method="post" action="([^"]*)"/.exec(text) ?? []
      if (action === undefined) throw new Error(`no form in ${text}`)
      const address = action.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      return visit('POST', new URL(address, url).href, new URLSearchParams(fields).toString())
    },
  }
}

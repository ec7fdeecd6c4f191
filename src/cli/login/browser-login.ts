// Log-in in a browser, by the authorization code flow with PKCE. RFC 8252: the response comes to a listener on a loopback address, or the
// user copies the code from a page of the server.
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { html } from '../../lib/html.ts'
import { expireAfter } from '../../lib/timing/deadline.ts'
import { CODE_PAGE } from '../../oidc/redirect-uris.ts'
import { prompt } from '../prompt.ts'
import { LOGIN_CLIENT } from './access-tokens.ts'
import { findIssuer, getEndpoint, requestTokens, type ServerRealm, type TokenResponse } from './token-request.ts'

/** A log-in that has begun. */
interface BrowserLogin {
  readonly at: ServerRealm
  readonly issuer: string
  /** Protects from responses to other requests. RFC 6749, section 10.12. */
  readonly state: string
  /** Proves that the code is redeemed by the command that has requested it. RFC 7636. */
  readonly verifier: string
}

/** Milliseconds in which the user has to log in. */
const PATIENCE = 15 * 60_000

/** Logs a user in. The URL for the browser is printed on standard error. @throws Error if the user does not log in. */
export async function logInWithBrowser(
  at: ServerRealm,
  { opensBrowser }: { readonly opensBrowser: boolean },
): Promise<TokenResponse> {
  const createText = () => randomBytes(32).toString('base64url')
  const login = { at, issuer: await findIssuer(at), state: createText(), verifier: createText() }
  return opensBrowser ? receiveCode(login) : promptCode(login)
}

function renderAddress({ at, state, verifier }: BrowserLogin, redirectUri: string): string {
  const query = new URLSearchParams({
    client_id: LOGIN_CLIENT,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  return `${getEndpoint(at, 'auth')}?${query}`
}

function redeemCode({ at, verifier }: BrowserLogin, code: string, redirectUri: string): Promise<TokenResponse> {
  return requestTokens(at, {
    grant_type: 'authorization_code',
    client_id: LOGIN_CLIENT,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
}

/** Prints the URL, and asks for the code that the server shows after the log-in. */
async function promptCode(login: BrowserLogin): Promise<TokenResponse> {
  const base = login.issuer.slice(0, login.issuer.lastIndexOf('/realms/'))
  const redirectUri = base + CODE_PAGE
  console.error(`Open this URL in a browser, and log in:\n\n${renderAddress(login, redirectUri)}\n`)
  const code = await prompt('Code: ', 'There was no code, so you are not logged in.')
  return redeemCode(login, code.trim(), redirectUri)
}

/** Opens the browser, and receives the response at a loopback address. */
async function receiveCode(login: BrowserLogin): Promise<TokenResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<TokenResponse>()
  let redirectUri = ''
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', redirectUri)
    // Another program of this machine may send requests, too.
    if (request.method !== 'GET' || url.pathname !== PATH || url.searchParams.get('state') !== login.state)
      return sendPage(response, 404, 'There is nothing here. Use the page that "regent login" has opened.')
    readResponse(login, url.searchParams, redirectUri).then(
      (tokens) => {
        sendPage(response, 200, 'You are logged in. You can close this page.')
        resolve(tokens)
      },
      (error: Error) => {
        sendPage(response, 400, `You are not logged in: ${error.message}`)
        reject(error)
      },
    )
  })
  await new Promise<void>((listening, fail) => server.once('error', fail).listen(0, '127.0.0.1', listening))
  redirectUri = `http://127.0.0.1:${getPort(server.address())}${PATH}`
  const stopWaiting = expireAfter(PATIENCE, () => reject(new Error('No user has logged in. Run "regent login" again.')))
  const address = renderAddress(login, redirectUri)
  console.error(`Log in in the browser. If it does not open, open this URL:\n\n${address}\n`)
  openBrowser(address)
  return promise.finally(() => {
    stopWaiting()
    server.close()
    server.closeIdleConnections()
  })
}

/** The path of the redirect URI. */
const PATH = '/regent-log-in'

const getPort = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address ? address.port : 0

async function readResponse(login: BrowserLogin, query: URLSearchParams, redirectUri: string): Promise<TokenResponse> {
  // RFC 9207: the response of another server is refused.
  const issuer = query.get('iss')
  if (issuer !== null && issuer !== login.issuer) throw new Error(`The response is from the issuer ${issuer}.`)
  const code = query.get('code')
  if (code === null)
    throw new Error(
      `The server refuses the log-in: ${query.get('error_description') ?? query.get('error') ?? 'no code'}.`,
    )
  return redeemCode(login, code, redirectUri)
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Regent</title>
<p>${text}</p>
</html>
`
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    })
    .end(page.text)
}

/** Opens a URL in the browser of the user, if that is possible. The URL is printed as well, so that a failure is no error. */
function openBrowser(url: string): void {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = process.env
  const [command, ...args] = BROWSER ? [BROWSER] : (commands[process.platform] ?? ['xdg-open'])
  const hasDesktop = BROWSER || process.platform in commands || DISPLAY || WAYLAND_DISPLAY
  if (!command || !hasDesktop) return
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}

const commands: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

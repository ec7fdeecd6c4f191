// A server whose clock a test moves, with realms in which Ann logs in at the client web.
import { createServer } from '../../src/http/server.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { startOutbox } from '../../src/service/messages/outbox.ts'
import { APPLICATION, loginAddress, testBrowser } from './browser.ts'
import { newName, openNewService } from './service.ts'

/** The tokens or the error of a token response. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every form
export type TokenResponse = Record<string, any>

/** Opens the server. The caller must close it. */
export async function openTimedServer() {
  let now = new Date('2030-01-01T12:00:00Z')
  const service = await openNewService({ clock: () => now })
  const outbox = startOutbox(service, deliverers, () => {})
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  const app = await createServer(service, { caller: SYSTEM })

  /** Calls the admin API, and returns the body of the response or the location of the created object. */
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const headers = { accept: 'application/json' }
    const response = await app.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
    if (response.statusCode >= 400) throw new Error(`${method} ${url}: ${response.statusCode} ${response.body}`)
    if (response.body !== '') return response.json()
    const { location } = response.headers
    return location && new URL(location).pathname
  }

  /** Creates a realm. Ann's password is `pw`. */
  const createRealm = async (settings: object = {}, { client = {}, ann = {} } = {}) => {
    const name = newName()
    const path = `/admin/realms/${name}`
    await call('POST', '/admin/realms', { realm: name, enabled: true, ...settings })
    const web = { clientId: 'web', publicClient: true, directAccessGrantsEnabled: true, redirectUris: [APPLICATION] }
    const clientPath = await call('POST', `${path}/clients`, { ...web, ...client })
    const profile = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'Ann', lastName: 'Example' }
    const credentials = [{ type: 'password', value: 'pw' }]
    const user = await call('POST', `${path}/users`, { ...profile, credentials, ...ann })
    const requestTokens = async (form: Record<string, string>): Promise<TokenResponse> => {
      const response = await app.inject({
        method: 'POST',
        url: `/realms/${name}/protocol/openid-connect/token`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ client_id: 'web', ...form }).toString(),
      })
      return response.json()
    }
    return {
      name,
      path,
      client: clientPath,
      user,
      requestTokens,
      logIn: (form: Record<string, string> = {}) =>
        requestTokens({ grant_type: 'password', username: 'ann', password: 'pw', ...form }),
      refresh: ({ refresh_token }: TokenResponse) => requestTokens({ grant_type: 'refresh_token', refresh_token }),
      /** Logs Ann in on the login page, and returns her tokens. */
      async logInOnPage(fields: Record<string, string> = {}, { beforeRedemption = async () => {} } = {}) {
        const browser = testBrowser(app)
        const { address, verifier } = loginAddress(name)
        const page = await browser.open(address)
        const { response } = await browser.send(page, { username: 'ann', password: 'pw', ...fields })
        const code = response?.get('code') ?? ''
        await beforeRedemption()
        const redemption = { code, redirect_uri: APPLICATION, code_verifier: verifier }
        return requestTokens({ grant_type: 'authorization_code', ...redemption })
      },
    }
  }

  return {
    app,
    service,
    outbox,
    call,
    createRealm,
    now: () => now,
    /** Moves the clock, by seconds. */
    later(seconds: number) {
      now = new Date(now.getTime() + seconds * 1000)
    },
    async close() {
      await app.close()
      await service.close()
    },
  }
}

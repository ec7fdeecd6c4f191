// A realm on two servers with one database, for tests of protections that count uses: with the user Ann and two clients.
import type { FastifyInstance } from 'fastify'
import { createServer } from '../../src/http/server.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { APPLICATION, type TestBrowser, testBrowser, type Visited } from './browser.ts'
import { newName } from './service.ts'
import { openServiceReplicas } from './service-replicas.ts'

type Form = Readonly<Record<string, string>>

/** The response of an endpoint. */
export interface EndpointResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every form
  readonly body: any
}

/** Options of a request. */
interface EndpointRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the request to the other server. */
  readonly isOther?: boolean
}

/** Two servers, whose clock can be moved. */
export async function openProtectedServers() {
  let offset = 0
  const { service, other } = await openServiceReplicas(() => new Date(Date.now() + offset))
  const app = await createServer(service, { caller: SYSTEM })
  const otherApp = service === other ? app : await createServer(other, { caller: SYSTEM })

  /** Creates a realm with the public client web and the confidential client server, whose secret is `secret`. Ann's password is `pw`. */
  const createRealm = async (attributes: Form = {}, { settings = {}, client = {} } = {}) => {
    const name = newName()
    const shared = { redirectUris: [APPLICATION], directAccessGrantsEnabled: true, attributes, ...client }
    const clients = [
      { clientId: 'web', publicClient: true, ...shared },
      { clientId: 'server', secret: 'secret', serviceAccountsEnabled: true, ...shared },
    ]
    await send(app, 'POST', '/admin/realms', { body: { realm: name, enabled: true, clients, ...settings } })
    const representation = {
      username: 'ann',
      enabled: true,
      email: 'ann@example.org',
      firstName: 'Ann',
      lastName: 'Example',
      credentials: [await hashPassword('pw')],
    }
    await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
    const issuer = `http://localhost:80/realms/${name}`
    const protocol = `${issuer}/protocol/openid-connect`
    return {
      name,
      issuer,
      protocol,
      post: (path: string, form: Form, { headers, isOther = false }: EndpointRequest = {}) =>
        send(isOther ? otherApp : app, 'POST', `${protocol}/${path}`, { form, headers }),
      get: (path: string, { headers, isOther = false }: EndpointRequest = {}) =>
        send(isOther ? otherApp : app, 'GET', `${protocol}/${path}`, { headers }),
      call: (method: string, path: string, body?: object) =>
        send(app, method, `/admin/realms/${name}${path}`, { ...(body && { body }) }),
      register: (client: object, headers: Readonly<Record<string, string>>) =>
        send(app, 'POST', `/realms/${name}/clients-registrations/default`, { body: client, headers }),
      /** Opens the authorization endpoint with parameters. */
      open: (parameters: Form, { isOther = false }: EndpointRequest = {}) => {
        const browser = testBrowser(isOther ? otherApp : app)
        return browser.open(`${protocol}/auth?${new URLSearchParams(parameters)}`)
      },
      /** Logs Ann in with a request of these parameters. Returns the page of an error. */
      logIn: async (parameters: Form, browser: TestBrowser = testBrowser(app)): Promise<Visited> => {
        const page = await browser.open(`${protocol}/auth?${new URLSearchParams(parameters)}`)
        return page.response || page.status !== 200 ? page : browser.send(page, { username: 'ann', password: 'pw' })
      },
    }
  }
  return {
    app,
    service,
    createRealm,
    /** Moves the clock of the servers forward. */
    pass: (seconds: number) => {
      offset += seconds * 1000
    },
  }
}

async function send(
  app: FastifyInstance,
  method: string,
  url: string,
  {
    form,
    body,
    headers = {},
  }: { readonly form?: Form; readonly body?: object; readonly headers?: Readonly<Record<string, string>> | undefined },
): Promise<EndpointResponse> {
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(form && { payload: new URLSearchParams(form).toString() }),
    ...(body && { payload: JSON.stringify(body) }),
  })
  const isJson = String(response.headers['content-type']).startsWith('application/json')
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson && response.body ? response.json() : response.body,
  }
}

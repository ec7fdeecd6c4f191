// Requests of the endpoints of OpenID Connect that succeed in a sized realm.
import { APPLICATION, loginAddress, testBrowser } from './browser.ts'
import { type TestResponse, testServer } from './server.ts'
import { LABEL, MEMBER } from './sized-realm.ts'

const PROTOCOL = '/realms/{realm}/protocol/openid-connect'
const REGISTRATION = '/realms/{realm}/clients-registrations/openid-connect'
const METADATA = { redirect_uris: ['https://registered.example.org/'] }

/** A request of an endpoint. */
interface OidcRequest {
  /** The method and path, and the case. */
  readonly name: string
  /** Does what the request requires, such as a login, and returns the function that sends it. */
  prepare(realm: string): Promise<() => Promise<Pick<TestResponse, 'status' | 'body'>>>
}

const client = { client_id: LABEL, client_secret: 'secret' }
const user = { username: MEMBER, password: 'pw' }

/** The requests. */
export const oidcRequests: readonly OidcRequest[] = [
  getRequest('/realms/{realm}'),
  getRequest('/realms/{realm}/.well-known/openid-configuration'),
  getRequest(`${PROTOCOL}/certs`),
  tokenRequest('client_credentials', async () => ({})),
  tokenRequest('password', async () => ({ ...user, scope: 'openid' })),
  tokenRequest('refresh_token', async (realm) => ({ refresh_token: (await logIn(realm)).refresh_token })),
  tokenRequest('authorization_code', async (realm) => {
    const { browser, page, verifier } = await openPasswordPage(realm)
    const { response } = await browser.send(page, { password: user.password })
    return { code: response!.get('code')!, redirect_uri: APPLICATION, code_verifier: verifier }
  }),
  formRequest(`${PROTOCOL}/ext/par/request`, async () => ({ response_type: 'code', redirect_uri: APPLICATION })),
  formRequest(`${PROTOCOL}/token/introspect`, async (realm) => ({ token: (await logIn(realm)).access_token })),
  formRequest(`${PROTOCOL}/revoke`, async (realm) => ({ token: (await logIn(realm)).refresh_token })),
  formRequest(`${PROTOCOL}/logout`, async (realm) => ({ refresh_token: (await logIn(realm)).refresh_token })),
  {
    name: `GET ${PROTOCOL}/userinfo`,
    async prepare(realm) {
      const { call } = await testServer()
      const { access_token: token } = await logIn(realm)
      return () => call('GET', toUrl(`${PROTOCOL}/userinfo`, realm), { token })
    },
  },
  {
    name: `GET ${PROTOCOL}/auth`,
    async prepare(realm) {
      const { app } = await testServer()
      return async () => toResponse(await testBrowser(app).open(loginAddress(realm, { client_id: LABEL }).address))
    },
  },
  registrationRequest('POST', async (realm) => ({ path: '', token: await createInitialToken(realm), body: METADATA })),
  registrationRequest('GET', async (realm) => registerClient(realm)),
  registrationRequest('PUT', async (realm) => {
    const registered = await registerClient(realm)
    return { ...registered, body: { ...METADATA, client_id: registered.path.slice(1) } }
  }),
  registrationRequest('DELETE', async (realm) => registerClient(realm)),
  {
    name: 'POST /realms/{realm}/login-actions/authenticate',
    async prepare(realm) {
      const { browser, page } = await openPasswordPage(realm)
      return async () => toResponse(await browser.send(page, { password: user.password }))
    },
  },
]

async function createInitialToken(realm: string): Promise<string> {
  const { call } = await testServer()
  return (await call('POST', `/admin/realms/${realm}/clients-initial-access`, { body: {} })).body.token
}

/** Registers a client, and returns its address and its token. */
async function registerClient(realm: string): Promise<{ readonly path: string; readonly token: string }> {
  const { call } = await testServer()
  const request = { token: await createInitialToken(realm), body: METADATA }
  const { body } = await call('POST', toUrl(REGISTRATION, realm), request)
  return { path: `/${body.client_id}`, token: body.registration_access_token }
}

const toUrl = (path: string, realm: string): string => path.replace('{realm}', realm)
const toResponse = ({ status, text }: { status: number; text: string }) => ({ status, body: text })

/** Logs the user in, and returns the tokens. */
async function logIn(realm: string): Promise<Record<'access_token' | 'refresh_token', string>> {
  return (await sendForm(toUrl(`${PROTOCOL}/token`, realm), { grant_type: 'password', ...user, scope: 'openid' })).body
}

/** Opens the page that asks for the password, which follows the one for the username in a realm with organizations. */
async function openPasswordPage(realm: string) {
  const { app } = await testServer()
  const browser = testBrowser(app)
  const { address, verifier } = loginAddress(realm, { client_id: LABEL })
  const page = await browser.send(await browser.open(address), { username: user.username })
  return { browser, page, verifier }
}

function getRequest(path: string): OidcRequest {
  return {
    name: `GET ${path}`,
    async prepare(realm) {
      const { call } = await testServer()
      return () => call('GET', toUrl(path, realm), { token: null })
    },
  }
}

/** Describes a request of client registration. `prepare` returns the end of its address, and the rest of the request. */
function registrationRequest(
  method: string,
  prepare: (realm: string) => Promise<{ readonly path: string; readonly token: string; readonly body?: object }>,
): OidcRequest {
  return {
    name: `${method} ${REGISTRATION}${method === 'POST' ? '' : '/{client}'}`,
    async prepare(realm) {
      const { call } = await testServer()
      const { path, ...request } = await prepare(realm)
      return () => call(method, `${toUrl(REGISTRATION, realm)}${path}`, request)
    },
  }
}

type Form = Readonly<Record<string, string>>

/** Describes a token request with a grant type. `getParameters` returns the parameters of the grant type. */
function tokenRequest(grantType: string, getParameters: (realm: string) => Promise<Form>): OidcRequest {
  const request = formRequest(`${PROTOCOL}/token`, async (realm) => ({
    grant_type: grantType,
    ...(await getParameters(realm)),
  }))
  return { ...request, name: `${request.name}, ${grantType}` }
}

/** Describes a request with a form, in which the client authenticates. */
function formRequest(path: string, createForm: (realm: string) => Promise<Form>): OidcRequest {
  return {
    name: `POST ${path}`,
    async prepare(realm) {
      const form = await createForm(realm)
      return () => sendForm(toUrl(path, realm), form)
    },
  }
}

async function sendForm(url: string, form: Form): Promise<TestResponse> {
  const { call } = await testServer()
  return call('POST', url, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...client, ...form }).toString(),
  })
}

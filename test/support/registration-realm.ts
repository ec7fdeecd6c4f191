// A realm in which applications register clients.
import { type TestRequest, type TestResponse, testServer } from './server.ts'

const POLICY = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'

/** The realm, and functions to register clients. */
export interface RegistrationRealm {
  readonly path: string
  readonly name: string
  /** Creates an initial access token, and returns it with its id. */
  createToken(settings?: object): Promise<{ readonly id: string; readonly token: string }>
  /** Sends a request about clients: `default`, or `openid-connect/my-client`. Without a token it is anonymous. */
  send(method: string, address: string, request?: TestRequest): Promise<TestResponse>
  /** Registers a client with a new initial access token. */
  register(client: object, format?: string): Promise<TestResponse>
  /** Changes the settings of a policy, or creates it. */
  setPolicy(
    type: 'anonymous' | 'authenticated',
    providerId: string,
    config?: Readonly<Record<string, readonly string[]>>,
  ): Promise<void>
  /** Permits anonymous registration from this machine. */
  trustThisMachine(...hosts: readonly string[]): Promise<void>
  /** Returns a client as the administrator sees it; undefined if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read representations of every form
  find(clientId: string): Promise<any>
}

/** Creates the realm. */
export async function createRegistrationRealm(settings: object = {}): Promise<RegistrationRealm> {
  const { call, create, createRealm } = await testServer()
  const path = await createRealm(settings)
  const name = path.split('/').at(-1)!
  const send: RegistrationRealm['send'] = (method, address, request = {}) =>
    call(method, `/realms/${name}/clients-registrations/${address}`, { token: null, ...request })
  const createToken: RegistrationRealm['createToken'] = async (tokenSettings = {}) =>
    (await call('POST', `${path}/clients-initial-access`, { body: tokenSettings })).body
  const setPolicy: RegistrationRealm['setPolicy'] = async (type, providerId, config = {}) => {
    const components: { id: string; subType: string; providerId: string }[] = (
      await call('GET', `${path}/components?type=${POLICY}`)
    ).body
    const present = components.find((policy) => policy.subType === type && policy.providerId === providerId)
    if (present) await call('PUT', `${path}/components/${present.id}`, { body: { ...present, config } })
    else
      await create(`${path}/components`, {
        name: providerId,
        providerId,
        providerType: POLICY,
        subType: type,
        config,
      })
  }
  return {
    path,
    name,
    createToken,
    send,
    async register(client, format = 'default') {
      const { token } = await createToken()
      return send('POST', format, { token, body: client })
    },
    setPolicy,
    trustThisMachine: (...hosts) =>
      setPolicy('anonymous', 'trusted-hosts', { 'trusted-hosts': ['127.0.0.1', ...hosts] }),
    async find(clientId) {
      const { body } = await call('GET', `${path}/clients?clientId=${encodeURIComponent(clientId)}`)
      return body[0]
    },
  }
}

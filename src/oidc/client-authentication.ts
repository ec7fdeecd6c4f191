// Which client asks, and whether it is the one that it says. The realm's flow says in which ways clients may prove it.
import { isStorable } from '../kinds/fields.ts'
import type { Representation } from '../kinds/json.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import { writers } from '../service/kinds/index.ts'
import type { LiveObject } from '../service/objects/live.ts'
import type { EventNotes } from './call.ts'
import { assertedClient, assertionDetails } from './client-authentication/assertion.ts'
import { byClientJwt } from './client-authentication/client-jwt.ts'
import { byClientSecret, statedCredentials } from './client-authentication/client-secret.ts'
import { byClientSecretJwt } from './client-authentication/client-secret-jwt.ts'
import { type Attempt, type Method, type TokenRequest, unknownClient } from './client-authentication/method.ts'
import { OAuthError } from './oauth-error.ts'
import type { TokenRealm } from './realm.ts'
import { perRevision, same } from './tokens/revised.ts'

export type { TokenRequest } from './client-authentication/method.ts'

/** The ways that there are, by what flows and clients call them. */
const methods: Readonly<Record<string, Method>> = {
  'client-secret': byClientSecret,
  'client-jwt': byClientJwt,
  'client-secret-jwt': byClientSecretJwt,
}

/** Methods of the token endpoint by OpenID Connect's names, for discovery. */
export const AUTHENTICATION_METHODS = [
  'private_key_jwt',
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
]

/**
 * The client that the request comes from. The ways that the realm's flow allows are gone through until one is that of the
 * client which the request names. Throws OAuthError. One statement, and one for an assertion.
 */
export async function authenticateClient(
  { service, base, realm }: Pick<Attempt, 'service' | 'base' | 'realm'>,
  request: TokenRequest,
  notes: EventNotes,
): Promise<LiveObject> {
  const clients = await namedClients(service, realm, request)
  const attempt: Attempt = { service, base, realm, request, clients, notes }
  notes.client = statedCredentials(request).id
  Object.assign(notes.details, assertionDetails(request))
  let client: LiveObject | undefined
  for (const authenticator of await allowedMethods(service, realm)) {
    const method = Object.hasOwn(methods, authenticator) ? methods[authenticator] : undefined
    const outcome = await method?.(attempt)
    client = outcome?.client ?? client
    if (!client || authenticatorOf(client) !== authenticator) continue
    notes.client = client.key[0]!
    if (!outcome) throw notExecuted(authenticator)
    if (outcome.problem) throw outcome.problem
    if (client.representation.bearerOnly === true)
      throw new OAuthError(400, 'invalid_client', 'Bearer-only not allowed')
    notes.details.client_auth_method = authenticator
    return client
  }
  throw unknownClient()
}

function notExecuted(authenticator: string): OAuthError {
  const reason = `Clients cannot authenticate by ${authenticator} here`
  return new OAuthError(401, 'invalid_client', reason, { error: 'invalid_client', reason })
}

/** Keycloak: a public client says who it is, whatever its settings say. */
function authenticatorOf({ representation: { publicClient, clientAuthenticatorType } }: LiveObject): string {
  return publicClient === true ? 'client-secret' : String(clientAuthenticatorType ?? 'client-secret')
}

/** So many clients of a realm are kept in memory. */
const KEPT = 1_000

/** Clients by name, as they were read at one revision of their realm or a later one. */
const known = perRevision(async (_service, { revision }) => ({ revision, value: new Map<string, LiveObject>() }))

/** The clients that the request names. Statements: one, or none where they are known. */
async function namedClients(service: Service, realm: TokenRealm, request: TokenRequest): Promise<Attempt['clients']> {
  const kept = await known(service, realm)
  const ids = new Set([statedCredentials(request).id, assertedClient(request)])
  const unknown = [...ids].filter((id) => id !== undefined && isStorable(id) && !kept.has(id)).map((id) => [id!])
  if (unknown.length) {
    const found = await service.read(SYSTEM, realm, (context) => writers.client.list(context, { keys: unknown }))
    if (kept.size + found.length > KEPT) kept.clear()
    for (const client of found) kept.set(client.key[0]!, client)
  }
  return new Map([...ids].flatMap((id) => (id !== undefined && kept.has(id) ? [[id, kept.get(id)!] as const] : [])))
}

const flows = perRevision(async (service, realm) =>
  service.read(SYSTEM, realm.name, async (context) => {
    const all = await writers.authenticationFlow.list(same(context, realm), {})
    const steps = all.map(({ key, representation }): [string, string[]] => [key[0]!, stepsOf(representation)])
    return { revision: context.realm.revision, value: new Map(steps) }
  }),
)

/** What the realm's flow lets clients prove themselves by, in order. Statements: none where it is known. */
async function allowedMethods(service: Service, realm: TokenRealm): Promise<readonly string[]> {
  return (await flows(service, realm)).get(String(realm.settings.clientAuthenticationFlow)) ?? []
}

/** Keycloak: of steps that are required the first one counts alone. */
function stepsOf({ authenticationExecutions = [] }: Representation): string[] {
  const steps = authenticationExecutions as Representation[]
  const being = (requirement: string) => steps.filter((step) => step.requirement === requirement)
  const counting = being('REQUIRED').length ? being('REQUIRED').slice(0, 1) : being('ALTERNATIVE')
  return counting.map(({ authenticator }) => String(authenticator))
}

// The operations of client registration: each is authorized and recorded as a user event, and returns a token.
import type { Representation } from '../../kinds/json.ts'
import type { UserEventType } from '../../kinds/user-events.ts'
import type { Context } from '../../service/context/context.ts'
import { type ErrorCode, ServiceError } from '../../service/context/errors.ts'
import {
  type ClientChange,
  deleteRegisteredClient,
  type RegisteredClient,
  readAdapterConfig,
  readRegisteredClient,
  registerClient,
  updateRegisteredClient,
} from '../../service/registration/registered-clients.ts'
import { createTokenError, PolicyRefusedError } from '../../service/registration/registration-errors.ts'
import type { RegistrationParty } from '../../service/registration/registration-party.ts'
import { authenticateClient } from '../client-authentication/authenticate-client.ts'
import { OAuthError } from '../oauth-error.ts'
import { getFrontendUrl } from '../oidc-realm.ts'
import type { RegistrationCall } from './authenticate-registration.ts'
import { signRegistrationToken } from './registration-tokens.ts'

/** A client, and the signed token with which it may be changed. */
export interface IssuedClient {
  readonly client: Representation
  readonly token: string | undefined
}

/** The transport of a request, and its Authorization header. */
export interface RequestOrigin {
  readonly address: string
  readonly secure: boolean
  readonly authorization?: string | undefined
}

/** Registers a client. `readBody` returns what the request declares. Throws OAuthError and errors of the service. */
export function register(
  call: RegistrationCall,
  address: string,
  readBody: () => Promise<Representation>,
): Promise<IssuedClient> {
  return withRegistrationEvent(call, { type: 'CLIENT_REGISTER', address }, async () => {
    const body = await readBody()
    const registered = await call.service.write(call.caller, call.realm.name, (context) =>
      registerClient(context, call.party, body),
    )
    return toResult(call, registered)
  })
}

/** Returns a client. */
export function read(call: RegistrationCall, address: string, clientId: string): Promise<IssuedClient> {
  return withRegistrationEvent(call, toEvent('CLIENT_INFO', address, clientId), async () => {
    const registered = await readIn(call, (context) => readRegisteredClient(context, call.party, clientId))
    return toResult(call, registered)
  })
}

/** Updates a client. */
export function update(call: RegistrationCall, address: string, change: ClientChange): Promise<IssuedClient> {
  return withRegistrationEvent(call, toEvent('CLIENT_UPDATE', address, change.clientId), async () => {
    const registered = await call.service.write(call.caller, call.realm.name, (context) =>
      updateRegisteredClient(context, call.party, change),
    )
    return toResult(call, registered)
  })
}

/** Deletes a client. */
export function remove(call: RegistrationCall, address: string, clientId: string): Promise<void> {
  return withRegistrationEvent(call, toEvent('CLIENT_DELETE', address, clientId), async () => {
    await call.service.write(call.caller, call.realm.name, (context) =>
      deleteRegisteredClient(context, call.party, clientId),
    )
    return { client: clientId, value: undefined }
  })
}

/** Returns the text of the configuration of a client for Keycloak's adapters. Without a bearer token, the client authenticates itself. */
export function readAdapterConfiguration(
  call: RegistrationCall,
  request: RequestOrigin,
  clientId: string,
): Promise<string> {
  return withRegistrationEvent(call, toEvent('CLIENT_INFO', request.address, clientId), async () => {
    const party = await findParty(call, request, clientId)
    const base = getFrontendUrl(call.base, call.realm)
    const value = await readIn(call, (context) => readAdapterConfig(context, party, { clientId, base }))
    return { client: clientId, value }
  })
}

async function findParty(
  call: RegistrationCall,
  { authorization, ...transport }: RequestOrigin,
  clientId: string,
): Promise<RegistrationParty> {
  const { party } = call
  if (party.credential.kind !== 'none') return party
  const request = { ...transport, authorization, form: authorization === undefined ? { client_id: clientId } : {} }
  try {
    const event = { type: 'CLIENT_INFO', details: {} } as const
    const client = await authenticateClient(call, { ...request, permissions: [], origin: undefined }, event)
    return { ...party, credential: { kind: 'client', id: client.id } }
  } catch (error) {
    if (error instanceof OAuthError) throw createTokenError('Failed to authenticate client')
    throw error
  }
}

const toEvent = (type: RegistrationEvent['type'], address: string, client: string): RegistrationEvent => ({
  type,
  address,
  client,
})

const readIn = <T>({ service, caller, realm }: RegistrationCall, work: (context: Context) => Promise<T>): Promise<T> =>
  service.read(caller, realm, work)

/** Signs the token of a client, after the commit. */
async function toResult(
  call: RegistrationCall,
  { client, token }: RegisteredClient,
): Promise<{ readonly client: string; readonly value: IssuedClient }> {
  const { origins } = call
  const signed = token && (await signRegistrationToken(call, { ...token, ...(origins && { origins }) }))
  return { client: String(client.clientId), value: { client, token: signed } }
}

/** The event of a request. */
interface RegistrationEvent {
  readonly type: Extract<UserEventType, `CLIENT_${'REGISTER' | 'INFO' | 'UPDATE' | 'DELETE'}`>
  readonly address: string
  /** Client id. Absent: it is that of the result. */
  readonly client?: string | undefined
}

/** Keycloak: the errors of events, by the meaning of the refusal. It records no others. */
const eventErrors: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthorized: 'invalid_token',
  forbidden: 'not_allowed',
  not_found: 'client_not_found',
}

/** Runs work, and records its event; for a refusal, an error event. */
async function withRegistrationEvent<T>(
  { service, realm }: Pick<RegistrationCall, 'service' | 'realm'>,
  event: RegistrationEvent,
  work: () => Promise<{ readonly client: string; readonly value: T }>,
): Promise<T> {
  try {
    const { client, value } = await work()
    await service.recordUserEvents(realm, [{ ...event, client }])
    return value
  } catch (error) {
    const refusal = error instanceof ServiceError ? toRefusal(error) : undefined
    if (refusal) await service.recordUserEvents(realm, [{ ...event, ...refusal }])
    throw error
  }
}

/** Returns the error and the details of the event of a refusal; undefined if none is recorded. */
function toRefusal(error: ServiceError) {
  const code = eventErrors[error.code]
  if (code === undefined) return undefined
  if (error instanceof PolicyRefusedError) return { error: code, details: { client_registration_policy: error.policy } }
  return { error: code, details: { reason: error.code === 'unauthorized' ? error.message : undefined } }
}

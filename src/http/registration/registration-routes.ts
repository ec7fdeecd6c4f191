// Client registration: applications register, read, change and delete their clients. RFC 7591, RFC 7592. Keycloak: ClientRegistrationService.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { RealmEndpoint } from '../../oidc/client-call.ts'
import { OriginError } from '../../oidc/oauth-error.ts'
import { getIssuer } from '../../oidc/oidc-realm.ts'
import { authenticateRegistration, type RegistrationCall } from '../../oidc/registration/authenticate-registration.ts'
import {
  read,
  readAdapterConfiguration,
  register,
  remove,
  update,
} from '../../oidc/registration/client-registration.ts'
import { checkTokenOrigin, isAllowedOrigin } from '../../oidc/web-origins.ts'
import { failure } from '../../service/context/errors.ts'
import { HttpError, methodNotAllowed } from '../errors.ts'
import { encodeSegment } from '../register.ts'
import { allowOrigin, servePreflight } from '../server/cors.ts'
import { UNAUTHENTICATED_LIMIT } from '../server/limits.ts'
import { type RegistrationFormat, registrationFormats } from './registration-formats.ts'

const PATH = '/realms/:realm/clients-registrations'
/** Keycloak: the format that returns the configuration of adapters, and only that. */
const INSTALL = 'install'
const OPENID = 'openid-connect'

/** The parameters of paths. */
interface RegistrationParameters {
  Params: { readonly realm: string; readonly format: string; readonly client?: string }
}

/** An authenticated request. */
interface RoutedRegistration extends RegistrationCall {
  readonly request: FastifyRequest<RegistrationParameters>
  readonly reply: FastifyReply
  readonly format: RegistrationFormat
  /** Client id in the path; empty if there is none. */
  readonly clientId: string
  readonly address: string
}

/** Adds the routes of client registration. */
export function addRegistrationRoutes(
  app: FastifyInstance,
  endpointOf: (request: FastifyRequest) => RealmEndpoint,
): void {
  const calls = new WeakMap<FastifyRequest, RegistrationCall>()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: UNAUTHENTICATED_LIMIT }, (_request, body, parsed) =>
    parsed(null, body),
  )
  // The sender is authenticated before the body is read.
  app.addHook<RegistrationParameters>('onRequest', async (request) => {
    if (request.method === 'OPTIONS') return
    const call = await authenticateRegistration(endpointOf(request), {
      authorization: request.headers.authorization,
      address: request.ip,
      secure: request.protocol === 'https',
      client: request.params.client,
    })
    calls.set(request, call)
  })
  const route = (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    handle: (call: RoutedRegistration) => Promise<unknown>,
  ) =>
    app.route<RegistrationParameters>({
      method,
      url: `${PATH}/${path}`,
      handler: async (request, reply) => {
        const call = calls.get(request)!
        const { format: name, client: clientId = '' } = request.params
        if (name === INSTALL) return install(call, method, { request, reply, clientId })
        const format = Object.hasOwn(registrationFormats, name) ? registrationFormats[name] : undefined
        if (!format) throw failure('not_found', 'Client registration provider not found')
        if (format.allowsScripts) await checkScript(call, request, reply)
        return handle({ ...call, request, reply, format, clientId, address: request.ip })
      },
    })
  refuseWithoutClient(app)
  for (const path of [OPENID, `${OPENID}/:client`])
    servePreflight(app, `${PATH}/${path}`, ['DELETE', 'POST', 'GET', 'PUT', 'OPTIONS'])
  route('POST', ':format', registerByRequest)
  route('GET', ':format/:client', async (call) => {
    requireUpdates(call.format)
    return send(call, await read(call, call.address, call.clientId))
  })
  route('PUT', ':format/:client', async (call) => {
    const parse = requireUpdates(call.format)
    requireMediaType(call)
    const readBody = parse(bodyOf(call.request))
    return send(call, await update(call, call.address, { clientId: call.clientId, readBody }))
  })
  route('DELETE', ':format/:client', async (call) => {
    requireUpdates(call.format)
    await remove(call, call.address, call.clientId)
    return call.reply.code(204).send()
  })
}

/** A request without a client ID can only register. */
function refuseWithoutClient(app: FastifyInstance): void {
  app.route({
    method: ['GET', 'PUT', 'DELETE'],
    url: `${PATH}/:format`,
    handler: async () => Promise.reject(methodNotAllowed()),
  })
}

async function registerByRequest(call: RoutedRegistration): Promise<FastifyReply> {
  const { format, reply, request, realm } = call
  requireMediaType(call)
  const issued = await register(call, call.address, () => format.parse(bodyOf(request)))
  const address = addressOf(call, String(issued.client.clientId))
  reply.code(201).header('location', address)
  return sendJson(reply, format.render({ ...issued, address, issuedAt: toEpochSeconds(realm.now) }))
}

async function install(
  call: RegistrationCall,
  method: string,
  { request, reply, clientId }: Pick<RoutedRegistration, 'request' | 'reply' | 'clientId'>,
): Promise<FastifyReply> {
  if (method !== 'GET') throw methodNotAllowed()
  const { authorization } = request.headers
  const from = { authorization, address: request.ip, secure: request.protocol === 'https' }
  return sendText(reply, await readAdapterConfiguration(call, from, clientId))
}

/** Permits the script of a page to read the response. Throws OriginError where its origin may not send the request. */
async function checkScript(
  { service, base, caller, origins }: RegistrationCall,
  { headers: { origin } }: FastifyRequest<RegistrationParameters>,
  reply: FastifyReply,
): Promise<void> {
  if (origin === undefined) return
  if (origins) {
    if (!isAllowedOrigin(origins, base, origin)) throw new OriginError()
  } else if (caller.token) await checkTokenOrigin(service, caller.token, { base, origin })
  allowOrigin(reply, origin, 'Location')
}

/** Returns the function that parses updates. Throws HttpError 405 if the format has no updates. */
function requireUpdates({ parseUpdate }: RegistrationFormat): NonNullable<RegistrationFormat['parseUpdate']> {
  if (!parseUpdate) throw methodNotAllowed()
  return parseUpdate
}

function requireMediaType({ request, format: { mediaType } }: RoutedRegistration): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== mediaType)
    throw new HttpError(415, { error: 'The content-type header value did not match the value in @Consumes' })
}

const bodyOf = ({ body }: FastifyRequest): Buffer | undefined => (Buffer.isBuffer(body) ? body : undefined)

/** Returns the address of a client in the format of a request. */
const addressOf = ({ base, realm, request }: RoutedRegistration, clientId: string): string =>
  `${getIssuer(base, realm)}/clients-registrations/${request.params.format}/${encodeSegment(clientId)}`

const send = (call: RoutedRegistration, issued: Awaited<ReturnType<typeof read>>): FastifyReply =>
  sendJson(call.reply, call.format.render({ ...issued, address: addressOf(call, String(issued.client.clientId)) }))

const sendJson = (reply: FastifyReply, body: unknown): FastifyReply => sendText(reply, JSON.stringify(body))

/** Sends a text that is JSON. */
const sendText = (reply: FastifyReply, json: string): FastifyReply =>
  reply.type('application/json').header('cache-control', 'no-store').send(json)

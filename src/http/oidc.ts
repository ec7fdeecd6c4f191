// The routes of what realms offer to applications; oidc/ decides what they answer.
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TokenRequest } from '../oidc/client-authentication/authenticate-client.ts'
import type { RealmEndpoint } from '../oidc/client-call.ts'
import { getDiscoveryDocument, getPublicKeys, getPublicRealm, getUmaDocument } from '../oidc/endpoints/discovery.ts'
import { introspectToken } from '../oidc/endpoints/introspection.ts'
import { logOutByToken } from '../oidc/endpoints/logout.ts'
import { pushAuthorizationRequest } from '../oidc/endpoints/pushed-authorization.ts'
import { revokeClientToken } from '../oidc/endpoints/revocation.ts'
import { handleTokenRequest } from '../oidc/endpoints/token-endpoint.ts'
import { getUserInfo } from '../oidc/endpoints/user-info.ts'
import { logOut } from '../oidc/login/log-out.ts'
import { findFrontendUrl } from '../oidc/oidc-realm.ts'
import type { Service } from '../service/context/service.ts'
import { methodNotAllowed } from './errors.ts'
import { formOf, permissionsOf, singleFormOf } from './form.ts'
import { addLoginRoutes, readBrowserRequest, sendBrowserResponse } from './login.ts'
import { addProtectionRoutes } from './protection/protection-routes.ts'
import { addRegistrationRoutes } from './registration/registration-routes.ts'
import { addCorsHeaders, allowOrigin, servePreflight } from './server/cors.ts'
import { UNAUTHENTICATED_LIMIT } from './server/limits.ts'
import { accessTokenOf, evidenceOf } from './server/sender-evidence.ts'

const READABLE = { config: { readable: {} } }
/** The addresses of the metadata: those of OpenID Connect Discovery and of RFC 8414, also in the form of its section 3.1. */
const METADATA = [
  '/realms/:realm/.well-known/openid-configuration',
  '/realms/:realm/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/realms/:realm',
]
const PUSHED_REQUESTS = '/ext/par/request'
const METHODS_TOO = { config: { readable: { headers: 'Access-Control-Allow-Methods' } } }

/** Adds the routes of OpenID Connect. */
export async function addOidcRoutes(
  app: FastifyInstance,
  service: Service,
  {
    baseOf,
    acceptsCertificates,
  }: { readonly baseOf: (request: FastifyRequest) => string; readonly acceptsCertificates: boolean },
): Promise<void> {
  await app.register(formbody, { bodyLimit: UNAUTHENTICATED_LIMIT })
  // Keycloak: a body that is not a form counts as an empty one.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, parsed) => parsed(null, {}))
  const frontendUrls = new WeakMap<FastifyRequest, string>()
  const frontendOf = (request: FastifyRequest) => frontendUrls.get(request) ?? baseOf(request)
  app.addHook('preHandler', async (request) => {
    frontendUrls.set(request, await findFrontendUrl(service, baseOf(request), realmOf(request)))
  })
  const endpointOf = endpoints(service, frontendOf)
  app.addHook('onRequest', addCorsHeaders)
  app.get('/realms/:realm', READABLE, (request, reply) => {
    reply.type('application/json;charset=UTF-8')
    return getPublicRealm(service, frontendOf(request), realmOf(request))
  })
  servePreflight(app, '/realms/:realm', ['GET', 'HEAD', 'OPTIONS'])
  for (const path of METADATA) {
    app.get(path, READABLE, (request) =>
      getDiscoveryDocument({ ...endpointOf(request), acceptsCertificates }, transportOf(request)),
    )
    servePreflight(app, path, ['GET'])
  }
  const uma = '/realms/:realm/.well-known/uma2-configuration'
  app.get(uma, READABLE, (request) => getUmaDocument(endpointOf(request), transportOf(request)))
  servePreflight(app, uma, ['GET'])
  addLoginRoutes(app, service, frontendOf)
  await app.register(async (protection) => addProtectionRoutes(protection, endpointOf))
  await app.register(async (registration) => addRegistrationRoutes(registration, endpointOf))
  const prefix = '/realms/:realm/protocol/openid-connect'
  await app.register(async (protocol) => protocolRoutes(protocol, service, frontendOf), { prefix })
}

/** Adds the routes below the address of the protocol. */
function protocolRoutes(
  protocol: FastifyInstance,
  service: Service,
  baseOf: (request: FastifyRequest) => string,
): void {
  const endpointOf = endpoints(service, baseOf)
  const logOutByBrowser = async (request: FastifyRequest, reply: FastifyReply) =>
    sendBrowserResponse(reply, await logOut(service, readBrowserRequest(request, baseOf(request))))
  protocol.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
  })
  protocol.get('/certs', READABLE, (request, reply) => {
    reply.header('cache-control', 'no-cache')
    return getPublicKeys(service, realmOf(request), transportOf(request))
  })
  protocol.post('/token', METHODS_TOO, (request) => handleTokenRequest(endpointOf(request), requestOf(request)))
  protocol.post('/token/introspect', (request) => introspectToken(endpointOf(request), requestOf(request)))
  protocol.post(PUSHED_REQUESTS, METHODS_TOO, async (request, reply) =>
    reply.code(201).send(await pushAuthorizationRequest(endpointOf(request), requestOf(request))),
  )
  protocol.post('/revoke', METHODS_TOO, async (request, reply) => {
    await revokeClientToken(endpointOf(request), requestOf(request))
    return reply.send()
  })
  protocol.post('/logout', async (request, reply) => {
    // Without a refresh token it is the browser of a user that comes, with cookies: no script of another page reads the answer.
    if (formOf(request.body).refresh_token === undefined) return logOutByBrowser(request, reply)
    allowOrigin(reply, request.headers.origin, 'Access-Control-Allow-Methods')
    await logOutByToken(endpointOf(request), requestOf(request))
    return reply.code(204).send()
  })
  protocol.get('/logout', logOutByBrowser)
  protocol.route({
    method: ['GET', 'POST'],
    url: '/userinfo',
    config: { readable: { headers: 'Access-Control-Allow-Methods, WWW-Authenticate' } },
    handler: async (request, reply) => {
      const claims = await getUserInfo(endpointOf(request), {
        ...transportOf(request),
        origin: request.headers.origin,
        ...evidenceOf(request),
        method: request.method,
        header: accessTokenOf(request),
        form: formOf(request.body).access_token,
      })
      return typeof claims === 'string' ? reply.type('application/jwt').send(claims) : claims
    },
  })
  servePreflight(protocol, '/certs', ['GET'])
  for (const path of ['/token', '/revoke', PUSHED_REQUESTS]) servePreflight(protocol, path, ['POST', 'OPTIONS'])
  for (const path of ['/logout', '/userinfo']) servePreflight(protocol, path, ['GET', 'HEAD', 'POST', 'OPTIONS'])
  for (const path of ['/token', '/token/introspect', '/revoke', PUSHED_REQUESTS])
    protocol.get(path, async () => Promise.reject(methodNotAllowed()))
}

/** Returns the function that finds where a request arrives. */
function endpoints(service: Service, baseOf: (request: FastifyRequest) => string) {
  return (request: FastifyRequest): RealmEndpoint => ({ service, base: baseOf(request), realmName: realmOf(request) })
}

function realmOf({ params }: FastifyRequest): string {
  return (params as { realm: string }).realm
}

function transportOf({ ip, protocol }: FastifyRequest): Pick<TokenRequest, 'address' | 'secure'> {
  return { address: ip, secure: protocol === 'https' }
}

function requestOf(request: FastifyRequest): TokenRequest {
  return {
    ...transportOf(request),
    ...evidenceOf(request),
    form: singleFormOf(request.body),
    permissions: permissionsOf(request.body),
    authorization: request.headers.authorization,
    origin: request.headers.origin,
  }
}

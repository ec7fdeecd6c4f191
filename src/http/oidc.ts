// The routes of what realms offer to applications; oidc/ decides what they answer.
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TokenRequest } from '../oidc/client-authentication.ts'
import { discoveryDocument, publicKeys, publicRealm } from '../oidc/discovery.ts'
import { introspect } from '../oidc/introspection.ts'
import { logOut } from '../oidc/login/log-out.ts'
import { logOutByToken } from '../oidc/logout.ts'
import { revoke } from '../oidc/revocation.ts'
import { issueTokens } from '../oidc/token-endpoint.ts'
import { userInfo } from '../oidc/user-info.ts'
import type { Service } from '../service/service.ts'
import { preflight, showReadable } from './cors.ts'
import { methodNotAllowed } from './errors.ts'
import { formOf, singleFormOf } from './form.ts'
import { browserRequest, loginRoutes, toBrowser } from './login.ts'

/** Anybody may send a form: it is read before it is known who does. */
const FORM_LIMIT = 64 * 1024

const READABLE = { config: { readable: {} } }
const METHODS_TOO = { config: { readable: { headers: 'Access-Control-Allow-Methods' } } }

/** Adds the routes. */
export async function oidcRoutes(
  app: FastifyInstance,
  service: Service,
  baseOf: (request: FastifyRequest) => string,
): Promise<void> {
  await app.register(formbody, { bodyLimit: FORM_LIMIT })
  // Keycloak: a body that is no form states nothing.
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: FORM_LIMIT }, (_request, _body, parsed) =>
    parsed(null, {}),
  )
  app.removeContentTypeParser(['application/json', 'text/plain'])
  const realmOf = (request: FastifyRequest) => (request.params as { realm: string }).realm

  const transportOf = ({ ip, protocol }: FastifyRequest) => ({ address: ip, secure: protocol === 'https' })
  const requestOf = (request: FastifyRequest): TokenRequest => ({
    ...transportOf(request),
    form: singleFormOf(request.body),
    authorization: request.headers.authorization,
    origin: request.headers.origin,
  })

  app.addHook('onRequest', showReadable)
  app.get('/realms/:realm', READABLE, (request) => publicRealm(service, baseOf(request), realmOf(request)))
  preflight(app, '/realms/:realm', ['GET', 'HEAD', 'OPTIONS'])
  app.get('/realms/:realm/.well-known/openid-configuration', READABLE, (request) =>
    discoveryDocument(service, baseOf(request), realmOf(request), transportOf(request)),
  )
  preflight(app, '/realms/:realm/.well-known/openid-configuration', ['GET'])
  loginRoutes(app, service, baseOf)
  const logOutByBrowser = async (request: FastifyRequest, reply: FastifyReply) =>
    toBrowser(reply, await logOut(service, browserRequest(request, baseOf(request))))
  await app.register(
    async (protocol) => {
      protocol.addHook('onSend', async (_request, reply) => {
        if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
      })
      protocol.get('/certs', READABLE, (request, reply) => {
        reply.header('cache-control', 'no-cache')
        return publicKeys(service, realmOf(request), transportOf(request))
      })
      protocol.post('/token', METHODS_TOO, (request) =>
        issueTokens(service, baseOf(request), realmOf(request), requestOf(request)),
      )
      protocol.post('/token/introspect', (request) =>
        introspect(service, baseOf(request), realmOf(request), requestOf(request)),
      )
      protocol.post('/revoke', METHODS_TOO, async (request, reply) => {
        await revoke(service, baseOf(request), realmOf(request), requestOf(request))
        return reply.send()
      })
      protocol.post('/logout', METHODS_TOO, async (request, reply) => {
        // Without a refresh token it is the browser of a person that comes.
        if (formOf(request.body).refresh_token === undefined) return logOutByBrowser(request, reply)
        await logOutByToken(service, baseOf(request), realmOf(request), requestOf(request))
        return reply.code(204).send()
      })
      protocol.get('/logout', logOutByBrowser)
      preflight(protocol, '/certs', ['GET'])
      for (const path of ['/token', '/revoke']) preflight(protocol, path, ['POST', 'OPTIONS'])
      for (const path of ['/logout', '/userinfo']) preflight(protocol, path, ['GET', 'HEAD', 'POST', 'OPTIONS'])
      for (const path of ['/token', '/token/introspect', '/revoke'])
        protocol.get(path, async () => Promise.reject(methodNotAllowed()))
      protocol.route({
        method: ['GET', 'POST'],
        url: '/userinfo',
        config: { readable: { headers: 'Access-Control-Allow-Methods, WWW-Authenticate' } },
        handler: async (request, reply) => {
          const known = await userInfo(service, baseOf(request), realmOf(request), {
            ...transportOf(request),
            origin: request.headers.origin,
            bearer: /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1],
            form: formOf(request.body).access_token,
          })
          return typeof known === 'string' ? reply.type('application/jwt').send(known) : known
        },
      })
    },
    { prefix: '/realms/:realm/protocol/openid-connect' },
  )
}

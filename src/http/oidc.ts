// The routes of what realms offer to applications; oidc/ decides what they answer.
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TokenRequest } from '../oidc/client-authentication.ts'
import { discoveryDocument, publicKeys, publicRealm } from '../oidc/discovery.ts'
import { introspect } from '../oidc/introspection.ts'
import { logOutByToken } from '../oidc/logout.ts'
import { revoke } from '../oidc/revocation.ts'
import { issueTokens } from '../oidc/token-endpoint.ts'
import { userInfo } from '../oidc/user-info.ts'
import type { Service } from '../service/service.ts'
import { methodNotAllowed } from './errors.ts'
import { formOf } from './form.ts'
import { loginRoutes } from './login.ts'

/** Anybody may send a form: it is read before it is known who does. */
const FORM_LIMIT = 64 * 1024

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

  const requestOf = (request: FastifyRequest): TokenRequest => ({
    form: formOf(request.body),
    authorization: request.headers.authorization,
    address: request.ip,
  })

  app.get('/realms/:realm', (request) => publicRealm(service, baseOf(request), realmOf(request)))
  app.get('/realms/:realm/.well-known/openid-configuration', (request) =>
    discoveryDocument(service, baseOf(request), realmOf(request)),
  )
  loginRoutes(app, service, baseOf)
  await app.register(
    async (protocol) => {
      protocol.addHook('onSend', async (_request, reply) => {
        if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
      })
      protocol.get('/certs', (request, reply) => {
        reply.header('cache-control', 'no-cache')
        return publicKeys(service, realmOf(request))
      })
      protocol.post('/token', (request) => issueTokens(service, baseOf(request), realmOf(request), requestOf(request)))
      protocol.post('/token/introspect', (request) => introspect(service, realmOf(request), requestOf(request)))
      protocol.post('/revoke', async (request, reply) => {
        await revoke(service, realmOf(request), requestOf(request))
        return reply.send()
      })
      protocol.post('/logout', async (request, reply) => {
        await logOutByToken(service, realmOf(request), requestOf(request))
        return reply.code(204).send()
      })
      for (const path of ['/token', '/token/introspect', '/revoke'])
        protocol.get(path, async () => Promise.reject(methodNotAllowed()))
      protocol.route({
        method: ['GET', 'POST'],
        url: '/userinfo',
        handler: (request) =>
          userInfo(service, realmOf(request), {
            bearer: /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1],
            form: formOf(request.body).access_token,
          }),
      })
    },
    { prefix: '/realms/:realm/protocol/openid-connect' },
  )
}

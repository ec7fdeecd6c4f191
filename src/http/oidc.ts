// The routes of what realms offer to applications; oidc/ decides what they answer.
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { discoveryDocument, publicKeys, publicRealm } from '../oidc/discovery.ts'
import { issueTokens } from '../oidc/token-endpoint.ts'
import type { Service } from '../service/service.ts'
import { methodNotAllowed } from './errors.ts'

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

  app.get('/realms/:realm', (request) => publicRealm(service, baseOf(request), realmOf(request)))
  app.get('/realms/:realm/.well-known/openid-configuration', (request) =>
    discoveryDocument(service, baseOf(request), realmOf(request)),
  )
  app.get('/realms/:realm/protocol/openid-connect/certs', (request) => publicKeys(service, realmOf(request)))
  app.get('/realms/:realm/protocol/openid-connect/token', async () => Promise.reject(methodNotAllowed()))
  app.post('/realms/:realm/protocol/openid-connect/token', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    return issueTokens(service, baseOf(request), realmOf(request), {
      form: formOf(request.body),
      authorization: request.headers.authorization,
      address: request.ip,
    })
  })
}

/** The fields of a form; of several values of a field the first counts. */
function formOf(body: unknown): Record<string, string> {
  const fields = Object.entries((body ?? {}) as Record<string, string | string[]>)
  return Object.fromEntries(fields.map(([name, value]) => [name, Array.isArray(value) ? value[0]! : value]))
}

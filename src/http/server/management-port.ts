// The management port, as Keycloak calls it: the metrics and health endpoints on a port of their own, which clients need not reach.
import type { IncomingMessage, Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { notFound } from '../errors.ts'
import { SERVER_OPTIONS } from './bounded-response.ts'

const MANAGEMENT_PATH = /^\/(?:metrics|health\/[a-z]+)\/?(?:\?|$)/

/** The requests that came in on the management port. */
const managementRequests = new WeakSet<IncomingMessage>()

/** Makes a server return 404 for management endpoints on its main port, and for all others on its management port. */
export function separateManagement(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    if (MANAGEMENT_PATH.test(raw.url ?? '') !== managementRequests.has(raw)) throw notFound()
  })
}

/** Creates the server of the management port, which closes together with the main server. */
export function createManagementServer(app: FastifyInstance): Server {
  // As an ES module it would load undici, and the server would start more slowly.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    managementRequests.add(request)
    app.routing(request, response)
  })
  app.addHook('onClose', async () => {
    server.close()
    server.closeIdleConnections()
  })
  return server
}

// Starts listening, over HTTP or, with a certificate, over HTTPS, and ends connections while other processes serve the same port.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { waitAtMost } from '../../lib/timing/deadline.ts'
import { createManagementServer } from './management-port.ts'
import { type CertificateOptions, createSecureServer } from './secure-server.ts'

/** The address to listen on, and the certificate for HTTPS. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly https?: (CertificateOptions & { readonly port: number }) | undefined
  /** The port of the metrics and health endpoints; absent: that of clients. */
  readonly managementPort?: number | undefined
}

/** A server that listens. */
export interface ListeningServer {
  /** The URL for clients. */
  readonly publicUrl: string
  /** The URL for commands on this machine. */
  readonly localUrl: string
  /**
   * Closes each connection with the next response on it. Resolves when none is left, or after two seconds.
   *
   * @param stopAccepting makes the servers accept no further connections
   */
  drain(stopAccepting: () => void): Promise<void>
}

/** Listens until the server is closed. With a certificate, HTTP is served to this machine only. */
export async function listen(app: FastifyInstance, options: ListenOptions): Promise<ListeningServer> {
  const { host, managementPort } = options
  const management = managementPort === undefined ? undefined : createManagementServer(app)
  const listening = await listenForClients(app, options)
  if (management) {
    management.listen(managementPort, host)
    await once(management, 'listening')
  }
  return listening
}

async function listenForClients(app: FastifyInstance, { host, port, https }: ListenOptions): Promise<ListeningServer> {
  if (!https) {
    const drain = prepareDrain([app.server])
    const address = await app.listen({ host, port })
    return { publicUrl: address, localUrl: address, drain }
  }
  const server = await createSecureServer(https, app.routing, (error) => app.log.error(error))
  const drain = prepareDrain([app.server, server])
  app.addHook('onClose', async () => {
    server.close()
    server.closeIdleConnections()
  })
  const localUrl = await app.listen({ host: '127.0.0.1', port })
  server.listen(https.port, host)
  await once(server, 'listening')
  const { port: httpsPort } = server.address() as AddressInfo
  const publicUrl = `https://${host.includes(':') ? `[${host}]` : host}:${httpsPort}`
  return { publicUrl, localUrl, drain }
}

/** Milliseconds for the clients of open connections to send their next request, after which idle connections are closed. */
const DRAIN_TIME = 2_000

type HttpServer = Pick<Server, 'prependListener' | 'closeIdleConnections'>

/** Tracks the connections of the servers, and returns the function `drain`. */
function prepareDrain(servers: readonly HttpServer[]): ListeningServer['drain'] {
  const sockets = new Set<Socket>()
  const drained = Promise.withResolvers<void>()
  let isDraining = false
  for (const server of servers) {
    server.prependListener('request', ({ socket }, response) => {
      // Node then adds `Connection: close`.
      if (isDraining) response.shouldKeepAlive = false
      if (sockets.has(socket)) return
      sockets.add(socket)
      socket.once('close', () => {
        sockets.delete(socket)
        if (isDraining && !sockets.size) drained.resolve()
      })
    })
  }
  return async (stopAccepting) => {
    isDraining = true
    // A server that accepts no connections any more would close the idle ones, on which clients may be about to send.
    for (const server of servers) server.closeIdleConnections = () => {}
    stopAccepting()
    if (sockets.size) await waitAtMost(DRAIN_TIME, drained.promise)
    for (const server of servers) Reflect.deleteProperty(server, 'closeIdleConnections')
  }
}

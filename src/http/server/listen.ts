// Starts listening: over HTTP or, with a certificate, over HTTPS.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type CertificateFiles, createSecureServer } from './secure-server.ts'

/** The address to listen on, and the certificate for HTTPS. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly https?: (CertificateFiles & { readonly port: number }) | undefined
}

/** The URLs of the server: for clients, and for commands on this machine. */
export interface ServerAddresses {
  readonly public: string
  readonly local: string
}

/** Listens until the server is closed. With a certificate, HTTP is served to this machine only. */
export async function listen(app: FastifyInstance, { host, port, https }: ListenOptions): Promise<ServerAddresses> {
  if (!https) {
    const address = await app.listen({ host, port })
    return { public: address, local: address }
  }
  const server = await createSecureServer(https, app.routing, (error) => app.log.error(error))
  app.addHook('onClose', async () => {
    server.close()
    server.closeIdleConnections()
  })
  const local = await app.listen({ host: '127.0.0.1', port })
  server.listen(https.port, host)
  await once(server, 'listening')
  const { port: httpsPort } = server.address() as AddressInfo
  return { public: `https://${host.includes(':') ? `[${host}]` : host}:${httpsPort}`, local: local }
}

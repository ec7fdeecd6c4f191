// Where the server listens: for everybody over plain HTTP or, with a certificate, over HTTPS.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type CertificateFiles, createSecureServer } from './secure-server.ts'

/** Where to listen, and with which certificate. */
export interface Listening {
  readonly host: string
  readonly port: number
  readonly https?: (CertificateFiles & { readonly port: number }) | undefined
}

/** Where the server answers: to everybody, and to commands on this machine. */
export interface Addresses {
  readonly public: string
  readonly own: string
}

/** Listens until the server is closed. With a certificate, plain HTTP is for this machine only. */
export async function listen(app: FastifyInstance, { host, port, https }: Listening): Promise<Addresses> {
  if (!https) {
    const address = await app.listen({ host, port })
    return { public: address, own: address }
  }
  const server = await createSecureServer(https, app.routing, (error) => app.log.error(error))
  app.addHook('onClose', async () => {
    server.close()
    server.closeIdleConnections()
  })
  const own = await app.listen({ host: '127.0.0.1', port })
  server.listen(https.port, host)
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return { public: `https://${host.includes(':') ? `[${host}]` : host}:${taken}`, own }
}

// Where the server listens: for everybody over plain HTTP or, with a certificate, over HTTPS.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Where to listen, and with which certificate. */
export interface Listening {
  readonly host: string
  readonly port: number
  readonly https?: { readonly port: number; readonly certificateFile: string; readonly keyFile: string } | undefined
}

/** Where the server answers: to everybody, and to commands on this machine. */
export interface Addresses {
  readonly public: string
  readonly own: string
}

/** What a connection may take of the server: bytes of headers, and milliseconds for a whole request. */
export const LIMITS = { maxHeaderSize: 32 * 1024, requestTimeout: 5 * 60 * 1000 }

/** How often the files are read anew: whoever renews a certificate replaces them. */
const REREAD_EVERY = 60 * 60 * 1000

/** Listens until the server is closed. With a certificate, plain HTTP is for this machine only. */
export async function listen(app: FastifyInstance, { host, port, https }: Listening): Promise<Addresses> {
  if (!https) {
    const address = await app.listen({ host, port })
    return { public: address, own: address }
  }
  const read = async () => ({ cert: await readFile(https.certificateFile), key: await readFile(https.keyFile) })
  const server = createServer({ ...(await read()), ...LIMITS }, app.routing)
  const rereading = setInterval(
    () =>
      read().then(
        (pair) => server.setSecureContext(pair),
        (error: unknown) => app.log.error(error),
      ),
    REREAD_EVERY,
  )
  app.addHook('onClose', async () => {
    clearInterval(rereading)
    server.close()
    server.closeIdleConnections()
  })
  const own = await app.listen({ host: '127.0.0.1', port })
  server.listen(https.port, host)
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return { public: `https://${host.includes(':') ? `[${host}]` : host}:${taken}`, own }
}

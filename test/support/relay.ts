// A relay of TCP connections, which can be cut: whoever is behind it cannot be reached then.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A running relay. */
export interface Relay {
  readonly port: number
  /** Breaks all connections, and refuses new ones. */
  cut(): void
  /** Lets new ones through again. */
  restore(): void
  close(): Promise<void>
}

/** Relays connections to the address of the URL. */
export async function startRelay({ hostname, port }: URL): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    isCut = true
    for (const one of sockets) one.destroy()
  }
  return {
    port: (server.address() as { port: number }).port,
    cut,
    restore: () => {
      isCut = false
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

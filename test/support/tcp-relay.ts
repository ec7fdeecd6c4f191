// A relay of TCP connections that can be cut, so that the server behind it is unreachable.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A running relay. */
export interface Relay {
  readonly port: number
  /** Breaks all connections, and refuses new ones. */
  cut(): void
  /** Stops forwarding on all connections, without breaking them. */
  freeze(): void
  /** Accepts new connections again. */
  restore(): void
  close(): Promise<void>
}

/** Starts a relay to host and port of a URL. */
export async function startRelay({ hostname, port }: URL): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(Number(port), hostname)
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          peer.destroy()
        })
      socket.pipe(peer)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  const freeze = () => {
    for (const socket of sockets) socket.unpipe().pause()
  }
  return {
    port: (server.address() as { port: number }).port,
    cut,
    freeze,
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

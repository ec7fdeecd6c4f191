// The connection that receives notifications, without a database.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { ListeningConnection } from '../../src/store/database/listening-connection.ts'

test('a listening connection can be closed while it is being opened', async () => {
  // The server accepts connections, and does not respond.
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connection = new ListeningConnection(`postgres://regent@127.0.0.1:${port}/regent`, async () => {})
  connection.open(() => {})
  await vi.waitUntil(() => sockets.size > 0)
  const closed = connection.close()
  for (const socket of sockets) socket.destroy()
  await expect(closed).resolves.toBeUndefined()
  server.close()
})

// Reads of one client through a listening server, against a bare server that gives the same text by one look-up.
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import fastify, { type FastifyInstance } from 'fastify'
import { createServer } from '../src/http/server.ts'
import { bootstrap } from '../src/service/bootstrap.ts'
import type { Load } from './load.ts'
import type { Bench, Case } from './measure.ts'

/** How many clients are read in turn. */
const CLIENTS = 200
const PASSWORD = 'admin'

/** Reads that are measured. */
export interface PointReads {
  readonly cases: Case[]
  /** How long each of many reads took, one after the other, in milliseconds. */
  times(): Promise<readonly number[]>
  /** Ends the servers. */
  close(): Promise<void>
}

/** The reads, on a realm with clients. */
export async function pointReads(bench: Bench, realm: string): Promise<PointReads> {
  await bootstrap(bench.service, { user: 'admin', password: PASSWORD })
  const server = await createServer(bench.service)
  const bare: FastifyInstance = fastify()
  bare.get('/admin/realms/:realm/clients/:id', async (request, reply) => {
    const { realm, id } = request.params as Record<string, string>
    const [row] = await bench.rows<{ body: string }>('select body from answer where realm = $1 and id = $2', [
      realm,
      id,
    ])
    return reply.type('application/json;charset=UTF-8').send(row!.body)
  })
  for (const app of [server, bare]) await app.listen({ host: '127.0.0.1', port: 0 })
  const portOf = ({ server }: FastifyInstance) => (server.address() as AddressInfo).port

  const found = await bench.rows<{ id: string }>(
    'select c.id from client c join realm r on r.number = c.realm where r.name = $1 limit $2',
    [realm, CLIENTS],
  )
  const paths = found.map(({ id }) => `/admin/realms/${realm}/clients/${id}`)
  const authorization = await logIn(portOf(server))
  await bench.rows('create table answer (realm text, id text, body text not null, primary key (realm, id))')
  for (const [at, { id }] of found.entries()) {
    const { body } = await server.inject({ url: paths[at]!, headers: { authorization } })
    await bench.rows('insert into answer values ($1, $2, $3)', [realm, id, body])
  }

  const worker = new Worker(new URL('./load.ts', import.meta.url))
  const send = (load: Load) =>
    new Promise<readonly number[]>((resolve, reject) => {
      worker.once('message', (sent: string | number[]) =>
        typeof sent === 'string' ? reject(new Error(sent)) : resolve(sent),
      )
      worker.postMessage(load)
    })
  const reads = (connections: number): Case => ({
    name: `read a client, ${connections} at once`,
    rounds: 30,
    seconds: 6,
    times: CLIENTS,
    floor: () => () => send({ port: portOf(bare), authorization, paths, connections }),
    operation: async () => {
      // An administrator's token is valid for a minute.
      const authorization = await logIn(portOf(server))
      return () => send({ port: portOf(server), authorization, paths, connections })
    },
  })
  return {
    cases: [reads(1), reads(16)],
    times: async () => {
      const authorization = await logIn(portOf(server))
      return send({ port: portOf(server), authorization, paths: [...paths, ...paths, ...paths], connections: 1 })
    },
    async close() {
      await worker.terminate()
      await Promise.all([server.close(), bare.close()])
    },
  }
}

async function logIn(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: 'admin',
      password: PASSWORD,
    }),
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  return `Bearer ${access_token}`
}

// The server under measurement, a bare one that answers the same by one statement, and a thread that calls either of them.
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import fastify, { type FastifyInstance } from 'fastify'
import { createServer } from '../src/http/server.ts'
import { bootstrap } from '../src/service/operations/bootstrap.ts'
import type { Load } from './load.ts'
import type { Bench, Case, Statement } from './measure.ts'

const PASSWORD = 'admin'
/** An administrator's token is valid for a minute. */
const TOKEN_AGE = 30_000

/** A request, and the statement whose only row holds the text of its answer. */
export interface Reading {
  readonly path: string
  readonly floor: Statement
}

/** Two servers that give the same answers. */
export interface Servers {
  /** What reads cost that are sent one after the other, or so many at once. */
  reads(name: string, readings: readonly Reading[], connections?: number): Case
  /** How long each of the reads took, one after the other, in milliseconds. */
  times(readings: readonly Reading[]): Promise<readonly number[]>
  /** What the server under measurement answers. */
  answer(path: string): Promise<string>
  /** What the bare one answers. */
  bareAnswer(reading: Reading): Promise<string>
  /** Ends both. */
  close(): Promise<void>
}

/** Starts both, and makes an administrator. */
export async function openServers(bench: Bench): Promise<Servers> {
  await bootstrap(bench.service, { user: 'admin', password: PASSWORD })
  const server = await createServer(bench.service)
  const floors = new Map<string, Statement>()
  const bareAnswer = async (...statement: Statement) => (await bench.rows<{ body: string }>(...statement))[0]!.body
  const bare = fastify()
  bare.get('*', async (request, reply) =>
    reply.type('application/json;charset=UTF-8').send(await bareAnswer(...floors.get(request.url)!)),
  )
  for (const app of [server, bare]) await app.listen({ host: '127.0.0.1', port: 0 })
  const portOf = ({ server }: FastifyInstance) => (server.address() as AddressInfo).port

  let token = { text: '', at: Number.NEGATIVE_INFINITY }
  const authorization = async () => {
    const now = performance.now()
    if (now - token.at > TOKEN_AGE) token = { text: await logIn(portOf(server)), at: now }
    return token.text
  }
  const worker = new Worker(new URL('./load.ts', import.meta.url))
  const send = (app: FastifyInstance, authorization: string, readings: readonly Reading[], connections: number) =>
    new Promise<readonly number[]>((resolve, reject) => {
      worker.once('message', (sent: string | number[]) =>
        typeof sent === 'string' ? reject(new Error(sent)) : resolve(sent),
      )
      const load: Load = { port: portOf(app), authorization, connections, paths: readings.map(({ path }) => path) }
      worker.postMessage(load)
    })
  return {
    reads(name, readings, connections = 1) {
      for (const { path, floor } of readings) floors.set(path, floor)
      return {
        name,
        rounds: 30,
        seconds: 6,
        times: readings.length,
        floor: () => () => send(bare, '', readings, connections),
        operation: async () => {
          const text = await authorization()
          return () => send(server, text, readings, connections)
        },
      }
    },
    times: async (readings) => send(server, await authorization(), readings, 1),
    answer: async (path) =>
      (await server.inject({ url: path, headers: { authorization: await authorization() } })).body,
    bareAnswer: ({ floor }) => bareAnswer(...floor),
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

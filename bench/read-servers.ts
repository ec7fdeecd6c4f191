// Two servers with the same responses: Regent, and a minimal one that runs one SQL statement per request. And their client.
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import fastify, { type FastifyInstance } from 'fastify'
import { createServer } from '../src/http/server.ts'
import { bootstrap } from '../src/service/operations/bootstrap.ts'
import type { Bench, Case, Statement } from './measure.ts'
import type { RequestBatch } from './request-worker.ts'

const PASSWORD = 'admin'
/** Milliseconds after which a new token is requested. Tokens of administrators are valid for a minute. */
const MAX_TOKEN_AGE = 30_000

/** A GET request, and the statement whose only row contains the text of the response. */
export interface MeasuredRead {
  readonly path: string
  readonly baseline: Statement
}

/** The two servers. */
export interface ReadServers {
  /** Returns the case that sends the reads over this many connections, by default one. */
  createCase(name: string, reads: readonly MeasuredRead[], connections?: number): Case
  /** Sends the reads to Regent one after the other, and returns the time of each in milliseconds. */
  measureTimes(reads: readonly MeasuredRead[]): Promise<readonly number[]>
  /** Returns Regent's response. */
  getResponse(path: string): Promise<string>
  /** Returns the response of the minimal server. */
  getStatementResponse(read: MeasuredRead): Promise<string>
  /** Stops both servers. */
  close(): Promise<void>
}

/** Starts both servers and creates an administrator. */
export async function startReadServers(bench: Bench): Promise<ReadServers> {
  await bootstrap(bench.service, { user: 'admin', password: PASSWORD })
  const server = await createServer(bench.service)
  const baselines = new Map<string, Statement>()
  const queryResponse = async (...statement: Statement) => (await bench.query<{ body: string }>(...statement))[0]!.body
  const minimalServer = fastify()
  minimalServer.get('*', async (request, reply) =>
    reply.type('application/json;charset=UTF-8').send(await queryResponse(...baselines.get(request.url)!)),
  )
  for (const app of [server, minimalServer]) await app.listen({ host: '127.0.0.1', port: 0 })
  const getPort = ({ server }: FastifyInstance) => (server.address() as AddressInfo).port

  let token = { text: '', at: Number.NEGATIVE_INFINITY }
  const getAuthorization = async () => {
    const now = performance.now()
    if (now - token.at > MAX_TOKEN_AGE) token = { text: await logIn(getPort(server)), at: now }
    return token.text
  }
  const worker = new Worker(new URL('./request-worker.ts', import.meta.url))
  const send = (app: FastifyInstance, authorization: string, reads: readonly MeasuredRead[], connections: number) =>
    new Promise<readonly number[]>((resolve, reject) => {
      worker.once('message', (result: string | number[]) =>
        typeof result === 'string' ? reject(new Error(result)) : resolve(result),
      )
      const batch: RequestBatch = {
        port: getPort(app),
        authorization,
        connections,
        paths: reads.map(({ path }) => path),
      }
      worker.postMessage(batch)
    })
  return {
    createCase(name, reads, connections = 1) {
      for (const { path, baseline } of reads) baselines.set(path, baseline)
      return {
        name,
        rounds: 100,
        seconds: 6,
        repetitions: reads.length,
        baseline: () => () => send(minimalServer, '', reads, connections),
        operation: async () => {
          const text = await getAuthorization()
          return () => send(server, text, reads, connections)
        },
      }
    },
    measureTimes: async (reads) => send(server, await getAuthorization(), reads, 1),
    getResponse: async (path) =>
      (await server.inject({ url: path, headers: { authorization: await getAuthorization() } })).body,
    getStatementResponse: ({ baseline }) => queryResponse(...baseline),
    async close() {
      await worker.terminate()
      await Promise.all([server.close(), minimalServer.close()])
    },
  }
}

async function logIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: 'admin',
      password: PASSWORD,
    }),
  })
  const { access_token } = (await response.json()) as { access_token: string }
  return `Bearer ${access_token}`
}

// A proxy of the API server that injects the faults of networks and busy servers.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { KubeConfig } from '@kubernetes/client-node'

/** When a fault can be injected: into a list, write or watch request, or an event of a watch. */
export type FaultMoment = 'list' | 'write' | 'watch' | 'event'

/** The faults, with the moments at which they can be injected. */
export const FAULTS = {
  /** The connection of a watch breaks: between two lines, or within a line; or the response ends within a line. */
  dropped: ['event'],
  halved: ['event'],
  ended: ['event'],
  /** A watch ends before the first event, or sends no events. */
  over: ['watch'],
  silent: ['watch'],
  /** The resource version of a watch is too old: 410 as status, or as an event. */
  historyExpired: ['watch'],
  expired: ['watch'],
  /** 409. */
  conflict: ['write'],
  /** The write is done, but the response is lost. */
  responseLost: ['write'],
  /** 429, with Retry-After. */
  busy: ['list', 'write', 'watch'],
  /** 500. */
  broken: ['list', 'write', 'watch'],
  refused: ['list', 'write', 'watch'],
  slow: ['list', 'write', 'watch', 'event'],
} as const satisfies Record<string, readonly FaultMoment[]>

export type Fault = keyof typeof FAULTS

/** Returns the fault to inject now, if any. */
export type FaultChoice = (moment: FaultMoment) => Fault | undefined

/** A running proxy. */
export interface FaultProxy {
  /** Path of a kubeconfig file for the proxy. */
  readonly config: string
  /** Number of injections so far, by fault. */
  readonly injected: ReadonlyMap<Fault, number>
  /** Sets the faults to inject from now on. */
  inject(choice: FaultChoice): void
  close(): Promise<void>
}

/** Delay in milliseconds. */
const SLOW = 400

/** Starts a proxy of the API server of a kubeconfig file, or of KUBECONFIG. Its requests have the credentials of that file. */
export async function openFaultProxy(file: string | undefined): Promise<FaultProxy> {
  const config = new KubeConfig()
  if (file === undefined) config.loadFromDefault()
  else config.loadFromFile(file)
  const upstream = config.getCurrentCluster()!.server
  const { namespace } = config.getContextObject(config.getCurrentContext())!
  const injected = new Map<Fault, number>()
  let choice: FaultChoice = () => undefined
  const faultAt = (moment: FaultMoment): Fault | undefined => {
    const fault = choice(moment)
    if (fault) injected.set(fault, (injected.get(fault) ?? 0) + 1)
    return fault
  }

  const forward = async (incoming: IncomingMessage, body: Buffer, signal: AbortSignal): Promise<IncomingMessage> => {
    const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = incoming.headers
    const options: RequestOptions = {
      method: incoming.method!,
      headers: headers as OutgoingHttpHeaders,
      signal: signal,
    }
    await config.applyToHTTPSOptions(options)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request(new URL(incoming.url!, upstream), options, resolve).on('error', reject).end(body)
    return promise
  }
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const abandoned = new AbortController()
    response.on('close', () => abandoned.abort())
    const moment = incoming.method === 'GET' ? (incoming.url!.includes('watch=true') ? 'watch' : 'list') : 'write'
    const body = Buffer.concat(await incoming.toArray())
    const fault = faultAt(moment)
    if (fault === 'slow') await after(SLOW)
    if (fault === 'refused') return void incoming.socket.destroy()
    if (fault === 'over') return void response.writeHead(200).end()
    if (fault === 'silent') return void response.writeHead(200).flushHeaders()
    const refused = fault && refusals[fault]
    if (refused) return refuse(response, refused, fault === 'expired')
    const upstreamResponse = await forward(incoming, body, abandoned.signal)
    if (fault === 'responseLost') return void incoming.socket.destroy()
    response.writeHead(upstreamResponse.statusCode!, upstreamResponse.headers)
    response.flushHeaders()
    for await (const chunk of upstreamResponse) {
      const broken = moment === 'watch' ? faultAt('event') : undefined
      if (broken === 'slow') await after(SLOW)
      const isHalf = broken === 'halved' || broken === 'ended'
      response.write(isHalf ? (chunk as Buffer).subarray(0, (chunk as Buffer).length / 2) : chunk)
      if (broken === 'ended') break
      // Sends the written part first.
      if (broken === 'dropped' || broken === 'halved') return void incoming.socket.destroySoon()
    }
    response.end()
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => incoming.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const folder = await mkdtemp(join(tmpdir(), 'regent-proxy-'))
  const path = join(folder, 'config.json')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const text = {
    clusters: [{ name: 'proxy', cluster: { server: address, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'proxy', user: {} }],
    contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'proxy', namespace } }],
    'current-context': 'proxy',
  }
  await writeFile(path, JSON.stringify(text))
  return {
    config: path,
    injected,
    inject(next) {
      choice = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** The responses of the API server. */
const refusals: { readonly [fault in Fault]?: readonly [code: number, reason: string] } = {
  historyExpired: [410, 'Expired'],
  expired: [410, 'Expired'],
  conflict: [409, 'Conflict'],
  busy: [429, 'TooManyRequests'],
  broken: [500, 'InternalError'],
}

function refuse(response: ServerResponse, [code, reason]: readonly [number, string], asEvent: boolean): void {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'injected',
    reason,
    code,
  }
  if (asEvent) return void response.writeHead(200).end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
  response.writeHead(code, { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) })
  response.end(JSON.stringify(status))
}

/** Injects a fault the next few times that it is possible. */
export function injectTimes(fault: Fault, times: number): FaultChoice {
  let remaining = times
  const moments: readonly FaultMoment[] = FAULTS[fault]
  return (moment) => (moments.includes(moment) && remaining-- > 0 ? fault : undefined)
}

/** Creates a generator of random numbers from 0 to 1, which are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Injects one of the faults into a share of requests and events. */
export function injectRandomly(random: () => number, share: number, faults: readonly Fault[]): FaultChoice {
  return (moment) => {
    if (random() >= share) return undefined
    const possible = faults.filter((fault) => (FAULTS[fault] as readonly FaultMoment[]).includes(moment))
    return possible[Math.floor(random() * possible.length)]
  }
}

// A proxy before the API server that does to requests what networks and busy servers do to them.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { KubeConfig } from '@kubernetes/client-node'

/** When something can go wrong: as a list, a write or a watch is asked for, and as a watch tells something. */
export type FaultMoment = 'list' | 'write' | 'watch' | 'event'

/** What can go wrong, and when. */
export const FAULTS = {
  /** A watch breaks off, between two lines, in the midst of one, or as if that were its end. */
  dropped: ['event'],
  halved: ['event'],
  ended: ['event'],
  /** A watch is over before it has told anything, or tells nothing and stays. */
  over: ['watch'],
  silent: ['watch'],
  /** What a watch is to go on from is forgotten: 410, and as an event. */
  gone: ['watch'],
  expired: ['watch'],
  /** 409: somebody else was faster. */
  conflict: ['write'],
  /** It is done, and the answer does not arrive. */
  lost: ['write'],
  /** 429, with Retry-After. */
  busy: ['list', 'write', 'watch'],
  /** 500. */
  broken: ['list', 'write', 'watch'],
  refused: ['list', 'write', 'watch'],
  slow: ['list', 'write', 'watch', 'event'],
} as const satisfies Record<string, readonly FaultMoment[]>

export type Fault = keyof typeof FAULTS

/** Says what goes wrong now, if anything. */
export type FaultChoice = (moment: FaultMoment) => Fault | undefined

/** A running proxy. */
export interface FaultProxy {
  /** File with the configuration by which it is asked. */
  readonly config: string
  /** How often each fault was injected so far. */
  readonly injected: ReadonlyMap<Fault, number>
  /** From now on these go wrong. */
  inject(choice: FaultChoice): void
  close(): Promise<void>
}

/** Milliseconds. */
const SLOW = 400

/** Starts it before the API server that the configuration names, or KUBECONFIG; whoever asks it asks as that does. */
export async function openFaultProxy(file: string | undefined): Promise<FaultProxy> {
  const config = new KubeConfig()
  if (file === undefined) config.loadFromDefault()
  else config.loadFromFile(file)
  const upstream = config.getCurrentCluster()!.server
  const injected = new Map<Fault, number>()
  let choice: FaultChoice = () => undefined
  const faultAt = (moment: FaultMoment): Fault | undefined => {
    const fault = choice(moment)
    if (fault) injected.set(fault, (injected.get(fault) ?? 0) + 1)
    return fault
  }

  const forward = async (asked: IncomingMessage, body: Buffer, left: AbortSignal): Promise<IncomingMessage> => {
    const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = asked.headers
    const options: RequestOptions = { method: asked.method!, headers: headers as OutgoingHttpHeaders, signal: left }
    await config.applyToHTTPSOptions(options)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request(new URL(asked.url!, upstream), options, resolve).on('error', reject).end(body)
    return promise
  }
  const handle = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const left = new AbortController()
    answer.on('close', () => left.abort())
    const moment = asked.method === 'GET' ? (asked.url!.includes('watch=true') ? 'watch' : 'list') : 'write'
    const body = Buffer.concat(await asked.toArray())
    const fault = faultAt(moment)
    if (fault === 'slow') await after(SLOW)
    if (fault === 'refused') return void asked.socket.destroy()
    if (fault === 'over') return void answer.writeHead(200).end()
    if (fault === 'silent') return void answer.writeHead(200).flushHeaders()
    const refused = fault && refusals[fault]
    if (refused) return refuse(answer, refused, fault === 'expired')
    const found = await forward(asked, body, left.signal)
    if (fault === 'lost') return void asked.socket.destroy()
    answer.writeHead(found.statusCode!, found.headers)
    answer.flushHeaders()
    for await (const chunk of found) {
      const broken = moment === 'watch' ? faultAt('event') : undefined
      if (broken === 'slow') await after(SLOW)
      const isHalf = broken === 'halved' || broken === 'ended'
      answer.write(isHalf ? (chunk as Buffer).subarray(0, (chunk as Buffer).length / 2) : chunk)
      if (broken === 'ended') break
      // What was written is to arrive.
      if (broken === 'dropped' || broken === 'halved') return void asked.socket.destroySoon()
    }
    answer.end()
  }
  const server = createServer((asked, answer) => {
    handle(asked, answer).catch(() => asked.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const folder = await mkdtemp(join(tmpdir(), 'regent-proxy-'))
  const path = join(folder, 'config.json')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const text = {
    clusters: [{ name: 'proxy', cluster: { server: address, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'proxy', user: {} }],
    contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'proxy' } }],
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

/** What the API server would say. */
const refusals: { readonly [fault in Fault]?: readonly [code: number, reason: string] } = {
  gone: [410, 'Expired'],
  expired: [410, 'Expired'],
  conflict: [409, 'Conflict'],
  busy: [429, 'TooManyRequests'],
  broken: [500, 'InternalError'],
}

function refuse(answer: ServerResponse, [code, reason]: readonly [number, string], asEvent: boolean): void {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'injected',
    reason,
    code,
  }
  if (asEvent) return void answer.writeHead(200).end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
  answer.writeHead(code, { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) })
  answer.end(JSON.stringify(status))
}

/** The next few times that it can, this goes wrong. */
export function injectTimes(fault: Fault, times: number): FaultChoice {
  let left = times
  const moments: readonly FaultMoment[] = FAULTS[fault]
  return (moment) => (moments.includes(moment) && left-- > 0 ? fault : undefined)
}

/** Numbers from 0 to 1, the same ones for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One of these goes wrong with that share of what is asked, and of what watches tell. */
export function injectRandomly(random: () => number, share: number, faults: readonly Fault[]): FaultChoice {
  return (moment) => {
    if (random() >= share) return undefined
    const possible = faults.filter((one) => (FAULTS[one] as readonly FaultMoment[]).includes(moment))
    return possible[Math.floor(random() * possible.length)]
  }
}

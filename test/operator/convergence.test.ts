// Two servers, one API server behind a network that fails, and somebody who changes resources all the time, while servers are
// killed and stopped: it all ends as the resources say, and nothing was applied twice, or by who had lost the lease.
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { type CommandFolder, createCommandFolder, type RunningServer } from '../support/cli.ts'
import {
  createRandom,
  FAULTS,
  type Fault,
  type FaultProxy,
  injectRandomly,
  openFaultProxy,
} from '../support/fault-proxy.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { hasOwnCluster, type OwnCluster, onOwnCluster, startOwnCluster } from '../support/own-cluster.ts'
import { createResourceChurn, type ResourceChurn, retryUntilSuccess } from '../support/resource-churn.ts'

const SECONDS = Number(process.env.REGENT_FAULT_SECONDS ?? 15)
const isCampaign = process.env.REGENT_FAULT_SECONDS !== undefined
const SEED = Number(process.env.REGENT_FAULT_SEED ?? 1)
/** Seconds. */
const LEASE = 3
/** Of what is asked, and of what watches tell, so much goes wrong. */
const SHARE = 0.1
const REALMS = 3
/** Milliseconds for everything to be as it should be; a watch may be silent for the longest part of it. */
const CONVERGES = 180_000

const isOwn = isCampaign && hasOwnCluster

describe.skipIf(!(hasKubernetes || isOwn) || !inject('databaseUrl'))(isOwn ? onOwnCluster : onKubernetes, () => {
  let own: OwnCluster | undefined
  let kubernetes: Kubernetes
  let proxy: FaultProxy
  let at: CommandFolder
  let database: pg.Client
  let world: ResourceChurn
  const random = createRandom(SEED)
  beforeAll(async () => {
    own = isOwn ? await startOwnCluster() : undefined
    kubernetes = await openKubernetes(own?.config)
    proxy = await openFaultProxy(own?.config ?? inject('operatorConfig'))
    at = await createCommandFolder({ KUBECONFIG: proxy.config, REGENT_SOURCE: '' })
    world = await createResourceChurn(kubernetes, REALMS, random)
  })
  afterAll(async () => {
    await kubernetes?.removeNamespaces()
    await database?.end()
    await at?.remove()
    await proxy?.close()
    await own?.remove()
  })

  /** Names of the processes as the database knows them. */
  let started = 0
  const serve = () => {
    const url = Object.assign(new URL(at.database!), { search: `application_name=server-${++started}` }).href
    const namespaces = world.namespaces.join(',')
    const more = ['--operator', '--operator-namespaces', namespaces, '--source-lease', String(LEASE)]
    return at.serve('--source', '', '--database', url, ...more)
  }
  const seconds = (least: number, most: number) => after((least + random() * (most - least)) * 1000)

  test('it converges to the resources', { timeout: (SECONDS + 600) * 1000 }, async () => {
    const counts = { changes: 0, kills: 0, pauses: 0, restarts: 0 }
    const servers: RunningServer[] = [await serve()]
    database = new pg.Client(at.database)
    await database.connect()
    await database.query(noting)
    servers.push(await serve())

    const names = (Object.keys(FAULTS) as Fault[]).filter((fault) => isCampaign || fault !== 'silent')
    proxy.inject(injectRandomly(random, SHARE, names))
    const until = performance.now() + SECONDS * 1000
    const isOver = () => performance.now() >= until
    const changes = async () => {
      while (!isOver()) {
        if (await world.change()) counts.changes++
        await seconds(0, 0.2)
      }
    }
    const disturbs = async (which: number) => {
      while (!isOver()) {
        await seconds(1, isCampaign ? 15 : 6)
        if (random() < 0.5) {
          await servers[which]!.kill()
          counts.kills++
          await seconds(0, 3)
          servers[which] = await serve()
        } else {
          servers[which]!.pause()
          counts.pauses++
          await seconds(LEASE, 2 * LEASE)
          servers[which]!.resume()
        }
      }
    }
    const restarts = async () => {
      while (own && !isOver()) {
        await seconds(20, 60)
        await own.stop()
        await seconds(0, 3)
        await own.start()
        counts.restarts++
      }
    }
    await Promise.all([changes(), changes(), disturbs(0), disturbs(1), restarts()])
    proxy.inject(() => undefined)

    const calm = performance.now()
    let faults: string[] = []
    const converges = async () => {
      faults = await retryUntilSuccess(() => world.faults(servers[0]!.url))
      return !faults.length
    }
    await vi.waitUntil(converges, { timeout: CONVERGES, interval: 200 }).catch(() => expect(faults).toEqual([]))
    const took = performance.now() - calm

    await world.end()
    await vi.waitUntil(async () => (await world.countRemaining()) === 0, { timeout: CONVERGES, interval: 200 })
    const { rows: realms } = await database.query('select name from realm where name = any($1)', [world.realms])
    expect(realms).toEqual([])

    const { rows } = await database.query<Noted>('select * from noted order by number')
    expect(rows.length).toBeGreaterThan(REALMS)
    // Who commits has the lease, so that each process is seen with one holder and each holder with one process.
    const pairs = [...new Set(rows.map(({ app, holder }) => JSON.stringify([app, holder])))].map((one) =>
      JSON.parse(one),
    )
    expect(new Set(pairs.map(([app]) => app)).size).toBe(pairs.length)
    expect(new Set(pairs.map(([, holder]) => holder)).size).toBe(pairs.length)
    const twice = [...Map.groupBy(rows, ({ realm }) => realm).values()].flatMap((own) =>
      own.filter(({ sources }, index) => JSON.stringify(sources) === JSON.stringify(own[index - 1]?.sources)),
    )
    expect(twice).toEqual([])
    expect(rows.filter(({ actions }) => actions === 0)).toEqual([])
    if (isCampaign) {
      const told = { seed: SEED, seconds: SECONDS, ...counts, runs: rows.length, tenures: Number(rows.at(-1)!.token) }
      console.log({ ...told, faults: Object.fromEntries(proxy.injected), convergedMs: Math.round(took) })
    }
  })
})

/** A line of history as the database saw it written. */
interface Noted {
  readonly number: string
  readonly realm: number
  readonly sources: unknown
  /** With the making of the realm itself. */
  readonly actions: number
  /** The process that wrote it, and who had the lease then. */
  readonly app: string
  readonly holder: string
  readonly token: string
}

const noting = `
  create table noted (
    number bigint generated always as identity, realm integer, sources jsonb, actions integer, app text, holder text, token bigint
  );
  create function note() returns trigger language plpgsql as $$ begin
    insert into noted (realm, sources, actions, app, holder, token)
    select new.realm, new.sources, jsonb_array_length(new.plan -> 'actions') + (new.plan ->> 'creates')::boolean::integer,
      current_setting('application_name'), l.holder, l.token
    from lease l where l.name = 'operate';
    return new;
  end $$;
  create trigger noting after insert on history for each row execute function note();`

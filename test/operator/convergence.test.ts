// Two servers and an API server behind a failing network, with continuous changes of resources, while servers are killed and
// paused: the realms converge to the resources, and nothing is applied twice or without the lease.
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
import { newName } from '../support/service.ts'

const SECONDS = Number(process.env.REGENT_FAULT_SECONDS ?? 15)
const isCampaign = process.env.REGENT_FAULT_SECONDS !== undefined
const SEED = Number(process.env.REGENT_FAULT_SEED ?? 1)
/** Seconds. */
const LEASE = 3
/** The share of requests and watch events with a fault. */
const SHARE = 0.1
const REALMS = 3
/** Maximum time to converge, in milliseconds. A watch may be silent for most of it. */
const MAX_CONVERGENCE_TIME = 180_000

const usesOwnCluster = isCampaign && hasOwnCluster

const isAvailable = (hasKubernetes || usesOwnCluster) && inject('databaseUrl')

describe.skipIf(!isAvailable)(usesOwnCluster ? onOwnCluster : onKubernetes, () => {
  let ownCluster: OwnCluster | undefined
  let kubernetes: Kubernetes
  let proxy: FaultProxy
  let cli: CommandFolder
  let database: pg.Client
  let churn: ResourceChurn
  const random = createRandom(SEED)
  beforeAll(async () => {
    ownCluster = usesOwnCluster ? await startOwnCluster() : undefined
    kubernetes = await openKubernetes(ownCluster?.config)
    proxy = await openFaultProxy(ownCluster?.config ?? inject('operatorConfig'))
    cli = await createCommandFolder({ KUBECONFIG: proxy.config, REGENT_SOURCE: '' })
    churn = await createResourceChurn(kubernetes, REALMS, random)
  })
  afterAll(async () => {
    await kubernetes?.removeNamespaces()
    await database?.end()
    await cli?.remove()
    await proxy?.close()
    await ownCluster?.remove()
  })

  /** The number of started processes, for their names in the database. */
  let started = 0
  const lease = newName('lease')
  const serve = () => {
    const url = Object.assign(new URL(cli.database!), { search: `application_name=server-${++started}` }).href
    const namespaces = churn.namespaces.join(',')
    const more = [
      '--operator',
      '--operator-namespaces',
      namespaces,
      '--source-lease',
      String(LEASE),
      '--operator-lease',
      lease,
    ]
    return cli.serve('--source', '', '--database', url, ...more)
  }
  const seconds = (least: number, most: number) => after((least + random() * (most - least)) * 1000)

  test('realms converge despite faults, kills, pauses and restarts', { timeout: (SECONDS + 600) * 1000 }, async () => {
    const counts = { changes: 0, kills: 0, pauses: 0, restarts: 0 }
    const servers: RunningServer[] = [await serve()]
    database = new pg.Client(cli.database)
    await database.connect()
    await database.query(createTrigger)
    servers.push(await serve())

    const names = (Object.keys(FAULTS) as Fault[]).filter((fault) => isCampaign || fault !== 'silent')
    proxy.inject(injectRandomly(random, SHARE, names))
    const until = performance.now() + SECONDS * 1000
    const isOver = () => performance.now() >= until
    const changes = async () => {
      while (!isOver()) {
        if (await churn.change()) counts.changes++
        await seconds(0, 0.2)
      }
    }
    const disturb = async (index: number) => {
      while (!isOver()) {
        await seconds(1, isCampaign ? 15 : 6)
        if (random() < 0.5) {
          await servers[index]!.kill()
          counts.kills++
          await seconds(0, 3)
          servers[index] = await serve()
        } else {
          servers[index]!.pause()
          counts.pauses++
          await seconds(LEASE, 2 * LEASE)
          servers[index]!.resume()
        }
      }
    }
    const restarts = async () => {
      while (ownCluster && !isOver()) {
        await seconds(20, 60)
        await ownCluster.stop()
        await seconds(0, 3)
        await ownCluster.start()
        counts.restarts++
      }
    }
    await Promise.all([changes(), changes(), disturb(0), disturb(1), restarts()])
    proxy.inject(() => undefined)

    const calm = performance.now()
    let faults: string[] = []
    const converges = async () => {
      faults = await retryUntilSuccess(() => churn.faults(servers[0]!.url))
      return !faults.length
    }
    await vi
      .waitUntil(converges, { timeout: MAX_CONVERGENCE_TIME, interval: 200 })
      .catch(() => expect(faults).toEqual([]))
    const duration = performance.now() - calm

    await churn.end()
    await vi.waitUntil(async () => (await churn.countRemaining()) === 0, {
      timeout: MAX_CONVERGENCE_TIME,
      interval: 200,
    })
    const { rows: realms } = await database.query('select name from realm where name = any($1)', [churn.realms])
    expect(realms).toEqual([])

    const { rows } = await database.query<RecordedRun>('select * from recorded_run order by number')
    expect(rows.length).toBeGreaterThan(REALMS)
    // Only the holder of the lease commits, so each process has one holder id, and each holder id one process.
    const pairs = [...new Set(rows.map(({ app, holder }) => JSON.stringify([app, holder])))].map((pair) =>
      JSON.parse(pair),
    )
    expect(new Set(pairs.map(([app]) => app)).size).toBe(pairs.length)
    expect(new Set(pairs.map(([, holder]) => holder)).size).toBe(pairs.length)
    const repeated = [...Map.groupBy(rows, ({ realm }) => realm).values()].flatMap((runs) =>
      runs.filter(({ sources }, index) => JSON.stringify(sources) === JSON.stringify(runs[index - 1]?.sources)),
    )
    expect(repeated).toEqual([])
    expect(rows.filter(({ actions }) => actions === 0)).toEqual([])
    if (isCampaign) {
      const summary = {
        seed: SEED,
        seconds: SECONDS,
        ...counts,
        runs: rows.length,
        tenures: Number(rows.at(-1)!.token),
      }
      console.log({ ...summary, faults: Object.fromEntries(proxy.injected), convergedMs: Math.round(duration) })
    }
  })
})

/** A row of the history, as a trigger recorded it. */
interface RecordedRun {
  readonly number: string
  readonly realm: number
  readonly sources: unknown
  /** Number of actions, including the creation of the realm. */
  readonly actions: number
  /** The process that wrote the row, and the holder of the lease at that time. */
  readonly app: string
  readonly holder: string
  readonly token: string
}

const createTrigger = `
  create table recorded_run (
    number bigint generated always as identity, realm integer, sources jsonb, actions integer, app text, holder text, token bigint
  );
  create function record_run() returns trigger language plpgsql as $$ begin
    insert into recorded_run (realm, sources, actions, app, holder, token)
    select new.realm, new.sources, jsonb_array_length(new.plan -> 'actions') + (new.plan ->> 'creates')::boolean::integer,
      current_setting('application_name'), l.holder, l.token
    from lease l where l.name = 'operate';
    return new;
  end $$;
  create trigger record_run after insert on history for each row execute function record_run();`

// The loop: what there is in the cluster becomes live, realm by realm, and each resource says how it stands.

import { secondsOf } from '../realm-file/duration.ts'
import type { Drift } from '../reconcile/drift.ts'
import { driftWatch } from '../reconcile/drift-watch.ts'
import { ServiceError } from '../service/errors.ts'
import type { Candidate, Lease, Tenure } from '../service/leases.ts'
import { approve } from '../service/plans.ts'
import type { Ceiling } from '../service/power.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import { appliedBy, listSources } from '../service/sources.ts'
import { approverOf } from './approver.ts'
import type { Cluster } from './cluster.ts'
import { type Standing, statusOf, statusOfOther } from './conditions.ts'
import { type Desired, desired, type Member, type RealmOf, sourceOf } from './desired.ts'
import { eventsBetween } from './events.ts'
import { fingerprint } from './fingerprint.ts'
import { watchCluster } from './picture.ts'
import { type Next, queue, waitAfter } from './queue.ts'
import { APPROVED, type Resource, type Status } from './resource.ts'
import { runRealm } from './run.ts'
import { writer } from './write.ts'

/** Which of several servers applies resources: whoever has this lease. */
export const OPERATE = 'operate'

/** What the operator works with. */
export interface OperatorOptions {
  readonly cluster: Cluster
  /** What a source may touch and give, as the server's settings limit it. */
  readonly limitOf: (source: string) => Ceiling | undefined
  /** Whether resources of the namespace count. */
  readonly counts: (namespace: string) => boolean
  /** Tells people, on the terminal. */
  readonly say: (line: string) => void
  /** Something cannot be done now, and is tried again. */
  readonly failed: (error: unknown) => void
}

/** Events that come together are looked at together: milliseconds. */
const GATHER = 20
/** How often a realm is looked at although nothing has changed, in seconds. */
const INTERVAL = 600

/** Applies resources while this process has the lease. */
export function operator(service: Service, options: OperatorOptions): Candidate {
  return {
    begin: (lease) => operate(service, options, lease),
    waits: (holder) => options.say(`The server ${holder} applies the resources of ${options.cluster.server}.`),
    failed: options.failed,
  }
}

function operate(service: Service, options: OperatorOptions, lease: Lease): Tenure {
  const { cluster, limitOf, counts, say, failed } = options
  const ending = new AbortController()
  const { signal } = ending
  const seen = new Map<string, string>()
  const holders = new Map<string, string>()
  const standings = new Map<string, Standing>()
  const drifts = new Map<string, Drift>()
  let before = new Map<string, ReadonlySet<string>>()
  let now: Desired = { realms: new Map(), others: [] }
  let astray = new Map<string, string[]>()
  let gathering: NodeJS.Timeout | undefined
  let ready = false

  const gather = () => {
    if (ready && !signal.aborted) gathering ??= setTimeout(look, GATHER)
  }
  const picture = watchCluster(cluster, { changed: gather, failed }, signal)
  const write = writer(cluster, picture.put)

  /** What there is now, and which realms are to be looked at because of that. */
  const look = () => {
    gathering = undefined
    const there = picture.now()
    now = desired({
      ...there,
      resources: there.resources.filter(({ metadata }) => counts(metadata.namespace!)),
      holderOf: (realm) => holders.get(realm),
    })
    const strays = Map.groupBy(now.others, ({ namespace }) => namespace)
    astray = new Map([...strays].map(([namespace, members]) => [namespace, members.map(({ file }) => file)]))
    for (const name of new Set([...now.realms.keys(), ...before.keys()])) {
      const realm = realmOf(name)
      const print = fingerprint(realm, astray, dependenciesOf(realm).map(isReady))
      if (seen.get(name) === print) continue
      seen.set(name, print)
      work.add(name)
    }
    void Promise.all(now.others.map(sayOther)).catch(failed)
  }
  const realmOf = (name: string): RealmOf =>
    now.realms.get(name) ?? { name, holder: undefined, members: [], ceilings: new Map(), settings: {} }
  const dependenciesOf = ({ holder }: RealmOf): (Resource | string)[] => {
    const names = (holder?.resource.spec?.dependsOn ?? []) as string[]
    const own = [...now.realms.values()].flatMap((one) => (one.holder ? [one.holder] : []))
    return names.map(
      (name) =>
        own.find(({ resource, namespace }) => namespace === holder!.namespace && resource.metadata.name === name)
          ?.resource ?? name,
    )
  }

  /** A turn of a realm. */
  const turn = async (name: string, failures: number): Promise<Next> => {
    const realm = realmOf(name)
    const { interval, retryInterval } = (realm.holder?.resource.spec ?? {}) as Record<string, string | undefined>
    let isFailed = false
    try {
      standings.set(name, { at: service.clock(), ...(await stand(realm)) })
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'fenced') return { wait: INTERVAL * 1000, failed: false }
      isFailed = true
      failed(error)
      standings.set(name, { at: service.clock(), failure: error instanceof Error ? error.message : String(error) })
    }
    await sayAll(name, realm).catch((error: unknown) => {
      isFailed = true
      failed(error)
    })
    const spread = 0.9 + Math.random() / 5
    const every = interval ? secondsOf(interval) : INTERVAL
    const retry = retryInterval ? secondsOf(retryInterval) * 1000 : waitAfter(failures)
    return { wait: isFailed ? retry : every * 1000 * spread, failed: isFailed }
  }
  type Stood = Standing extends infer S ? (S extends unknown ? Omit<S, 'at'> : never) : never
  const stand = async (realm: RealmOf): Promise<Stood> => {
    const { holder, name } = realm
    if (holder?.resource.spec?.suspend === true)
      return { waits: { reason: 'Suspended', message: `${holder.file} is suspended: nothing is applied to the realm` } }
    const missing = holder?.leaves ? [] : dependenciesOf(realm).filter((one) => !isReady(one))
    if (missing.length) {
      const names = missing.map((one) => (typeof one === 'string' ? one : one.metadata.name))
      return { waits: { reason: 'DependencyNotReady', message: `it waits until ready: ${names.join(', ')}` } }
    }
    const isHolder = holder !== undefined && holders.get(name) === holder.namespace
    const known = { lease, limitOf, isHolder, before: before.get(name) ?? new Set<string>(), astray }
    const run = () => runRealm(service, realm, known)
    let result = await run()
    const { guarded } = result
    if (guarded && holder && holder.resource.metadata.annotations?.[APPROVED] === guarded.plan) {
      await approve(service, { actor: approverOf(holder.resource) }, guarded.plan, false)
      result = await run()
    }
    if (result.guarded && !holder)
      say(`No resource states the realm ${name} any more; the plan ${result.guarded.plan} waits for an approval.`)
    if (result.namespaces.size) before.set(name, result.namespaces)
    else before.delete(name)
    if (!result.namespaces.size) holders.delete(name)
    else if (holder && result.how === 'applied' && !result.faults.has(holder.file)) holders.set(name, holder.namespace)
    return { result }
  }

  const sayAll = async (name: string, realm: RealmOf) => {
    const standing = standings.get(name)
    if (!standing) return
    const own = [...drifts.values()].filter((drift) => drift.realm === name)
    const isDone = ({ file }: Member) =>
      'result' in standing && standing.result.how === 'applied' && !standing.result.faults.has(file)
    await Promise.all(
      realm.members.map(async (member) => {
        if (member.leaves && isDone(member)) return release(member)
        await sayOf(member, (current) =>
          statusOf({ ...member, resource: current }, realm, standing, own, service.clock()),
        )
      }),
    )
  }
  const release = async ({ resource }: Member) => {
    const current = picture.latest(resource)
    if (current) await write.release(current)
  }
  /** What was found out is of that generation, and what is written is compared with what is there by now. */
  const sayOf = async ({ resource }: Member, of: (current: Resource) => Status) => {
    const latest = picture.latest(resource)
    if (!latest) return
    const { generation } = resource.metadata
    const current = { ...latest, metadata: { ...latest.metadata, ...(generation !== undefined && { generation }) } }
    const status = of(current)
    await write.say(current, status)
    for (const event of eventsBetween(current, status)) await write.tell(current, event)
  }
  const sayOther = async (member: Desired['others'][number]) => {
    // There is nothing that it could leave behind.
    if (member.leaves) return release(member)
    await sayOf(member, (current) => statusOfOther({ ...member, resource: current }, member.fault, service.clock()))
  }

  const work = queue(turn)
  let stopDrift = () => {}
  const begin = async () => {
    const sources = await listSources(service, SYSTEM)
    const namespace = ({ source }: { source: string }) => source.slice(sourceOf('').length)
    const own = sources.filter((one) => one.source.startsWith(sourceOf('')) && counts(namespace(one)))
    before = new Map(
      [...Map.groupBy(own, ({ realm }) => realm)].map(([realm, all]) => [realm, new Set(all.map(namespace))]),
    )
    const { applied } = await appliedBy(service, [...new Set(own.map(({ source }) => source))])
    for (const { source, realm, stated } of applied) if (stated !== null) holders.set(realm, namespace({ source }))
    await picture.seen
    if (signal.aborted) return
    const keyOf = ({ realm, source, kind, key, path = '' }: Drift) => JSON.stringify([realm, source, kind, key, path])
    const watching = await driftWatch(service).subscribe(({ events }) => {
      for (const { event, drift } of events) {
        if (event === 'drift') drifts.set(keyOf(drift), drift)
        else drifts.delete(keyOf(drift))
        if (drift.policy === 'selfHeal' && event === 'drift') work.add(drift.realm)
      }
      for (const name of new Set(events.map(({ drift }) => drift.realm))) void sayAll(name, realmOf(name)).catch(failed)
    })
    stopDrift = watching.stop
    for (const drift of [...watching.now.values()].flat()) drifts.set(keyOf(drift), drift)
    ready = true
    look()
  }
  const beginning = begin().catch(failed)
  return {
    async end() {
      ending.abort()
      clearTimeout(gathering)
      await beginning
      stopDrift()
      await work.close()
    },
  }
}

function isReady(one: Resource | string): boolean {
  if (typeof one === 'string') return false
  const { status, metadata } = one
  return (
    status?.observedGeneration === metadata.generation &&
    status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  )
}

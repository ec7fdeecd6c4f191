// The loop: what there is in the cluster becomes live, realm by realm, and each resource says how it stands.
import { setTimeout as after } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../lib/message-of.ts'
import { orAborted } from '../lib/or-aborted.ts'
import { secondsOf } from '../realm-file/duration.ts'
import { ServiceError } from '../service/errors.ts'
import { type Candidate, confirmLease, type Lease, type Tenure } from '../service/leases.ts'
import type { Ceiling } from '../service/power.ts'
import type { Service } from '../service/service.ts'
import { clientSecrets } from './client-secrets.ts'
import type { Cluster } from './cluster.ts'
import { type Standing, together } from './conditions.ts'
import { waitsFor } from './dependencies.ts'
import { astrayIn, type Desired, desired, type RealmOf } from './desired.ts'
import { type Drifts, followDrift } from './drifts.ts'
import { fingerprint } from './fingerprint.ts'
import type { Usual } from './git/entry.ts'
import { followGit, type GitFollowing } from './git/following.ts'
import { gitSources } from './git/stated.ts'
import { type Known, readKnown } from './known.ts'
import { watchCluster } from './picture.ts'
import { type Next, queue, retried, waitAfter } from './queue.ts'
import { type Result, withLimits } from './run.ts'
import { secretKeeper } from './secret-keeper.ts'
import { type Stood, teller } from './telling.ts'
import { turnOf } from './turn.ts'
import { isOvertaken, writer } from './write.ts'

/** Which of several servers applies resources: whoever has this lease. */
export const OPERATE = 'operate'

/** What the operator works with. */
export interface OperatorOptions {
  readonly cluster: Cluster
  /** What a source may touch and give, as the server's settings limit it. */
  readonly limitOf: (source: string) => Ceiling | undefined
  /** Whether resources of the namespace count. */
  readonly counts: (namespace: string) => boolean
  /** How sources in git are followed where they do not say it. */
  readonly git: Usual
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
  const stood = new Map<string, Stood>()
  const told = new WeakSet<Stood>()
  let now: Desired = { realms: new Map(), others: [] }
  let astray = new Map<string, string[]>()
  let gathering: NodeJS.Timeout | undefined
  let begun: { readonly known: Known; readonly drifts: Drifts; readonly git: GitFollowing } | undefined

  const gather = () => {
    if (begun && !signal.aborted) gathering ??= setTimeout(look, GATHER)
  }
  const picture = watchCluster(cluster, { changed: gather, failed }, signal)
  const secrets = clientSecrets(service, picture, secretKeeper(cluster, picture), (realm) => secretTurns.add(realm))
  const tell = teller(picture, writer(cluster, picture.put), service.clock)

  /** What there is now, which realms are to be looked at because of that, and of which something else is said than there was. */
  const look = () => {
    gathering = undefined
    const { known, git } = begun!
    const there = picture.now()
    const resources = there.resources.filter(({ metadata }) => counts(metadata.namespace!))
    now = desired({ ...there, resources, holderOf: known.holderOf })
    astray = astrayIn(now)
    for (const name of new Set([...now.realms.keys(), ...known.realms()])) {
      const realm = realmOf(name)
      const print = fingerprint(realm, astray, waitsFor(realm, now.realms))
      if (seen.get(name) !== print) {
        seen.set(name, print)
        runs.add(name)
        continue
      }
      if (secrets.isMoved(realm)) secretTurns.add(name)
      if (!realm.members.every(({ resource }) => tell.knows(resource))) tellings.add(name)
    }
    strayTellings.add('')
    const sources = there.gitSources.filter(({ metadata }) => counts(metadata.namespace!))
    git.look(gitSources(sources, there.secrets))
  }
  const realmOf = (name: string): RealmOf =>
    now.realms.get(name) ?? { name, holder: undefined, members: [], ceilings: new Map(), settings: {} }

  const turn = async (name: string, failures: number): Promise<Next> => {
    const { known } = begun!
    const realm = realmOf(name)
    const { interval, retryInterval } = (realm.holder?.resource.spec ?? {}) as Record<string, string | undefined>
    const stand = (standing: Omit<Standing, 'at'>) => {
      const last = stood.get(name)
      const now = { at: service.clock(), ...standing } as Standing
      stood.set(name, { realm, standing: last && !told.has(last) ? together(last.standing, now) : now })
      tellings.add(name)
    }
    const retry = () => (retryInterval ? secondsOf(retryInterval) * 1000 : waitAfter(failures))
    try {
      const isHolder = realm.holder !== undefined && known.holderOf(name) === realm.holder.namespace
      const gitSources = isHolder ? known.goingWith(name, realm.holder!.namespace) : []
      const unheld = await tell.hold(realm)
      const options = { lease, limitOf, isHolder, unheld, before: known.namespacesIn(name), astray, gitSources }
      const turned = await turnOf(service, realm, waitsFor(realm, now.realms), options)
      if ('result' in turned) known.put(realm, turned.result)
      const standing = 'result' in turned ? { result: await withSecrets(realm, turned.result) } : turned
      await confirmLease(service, lease)
      stand(standing)
      if ('result' in standing) {
        const { guarded, unwritten, how, plan } = standing.result
        if (how === 'applied' && plan.create + plan.update + plan.delete > 0) begun!.git.changed(name)
        if (guarded && !realm.holder)
          say(`No resource states the realm ${name} any more; the plan ${guarded.plan} waits for an approval.`)
        if (unheld.size || unwritten?.size) return { wait: retry(), failed: true }
      }
      const spread = 0.9 + Math.random() / 5
      return { wait: (interval ? secondsOf(interval) : INTERVAL) * 1000 * spread, failed: false }
    } catch (error) {
      // Somebody else has the lease, and says how it stands.
      if (error instanceof ServiceError && error.code === 'fenced') return { failed: false }
      failed(error)
      stand({ failure: messageOf(error) })
      return { wait: retry(), failed: true }
    }
  }
  const withSecrets = async (realm: RealmOf, result: Result): Promise<Result> => ({
    ...result,
    unwritten: await secrets.write(withLimits(realm, limitOf), result.faults),
  })
  const notTold = (error: unknown) => {
    if (!isOvertaken(error)) failed(error)
  }
  const runs = queue(turn)
  const tellings = queue(
    retried(async (name) => {
      const last = stood.get(name)
      if (!last) return
      await tell.realm(last, begun!.drifts.of(name))
      told.add(last)
    }, notTold),
  )
  /** Only the secrets of clients: a run would put back what others have changed besides. */
  const secretTurns = queue(
    retried(async (name) => {
      const last = stood.get(name)
      if (!last || !('result' in last.standing)) return
      const { at, result } = last.standing
      const now = await withSecrets(last.realm, result)
      if (isDeepStrictEqual(now, result)) return
      // A run that came in between has looked at them itself.
      if (stood.get(name) === last) stood.set(name, { ...last, standing: { at, result: now } })
      tellings.add(name)
    }, notTold),
  )
  const strayTellings = queue(retried(() => tell.others(now.others), notTold))

  const begin = async () => {
    const known = await readKnown(service, counts)
    await orAborted(picture.seen, signal).catch(() => undefined)
    if (signal.aborted) return
    const drifts = await followDrift(service, (realm, heals) => {
      ;(heals ? runs : tellings).add(realm)
      begun?.git.drifted(realm)
    })
    const { labels } = picture.now()
    const grounds = () => ({ realms: now.realms, labels, holderOf: known.holderOf, limitOf })
    const applied = (realm: string) => {
      if (now.realms.has(realm)) runs.add(realm)
      gather()
    }
    const git = followGit(service, { usual: options.git, lease, known, drifts, tell, grounds, applied, say, failed })
    begun = { known, drifts, git }
    look()
  }
  const begins = async () => {
    for (let failures = 0; !signal.aborted && !begun; failures++)
      await begin().catch(async (error: unknown) => {
        failed(error)
        await after(waitAfter(failures), undefined, { signal }).catch(() => undefined)
      })
  }
  const beginning = begins()
  return {
    async end() {
      ending.abort()
      clearTimeout(gathering)
      await beginning
      begun?.drifts.stop()
      await begun?.git.end()
      secrets.stop()
      await Promise.all([runs, secretTurns, tellings, strayTellings].map((one) => one.close()))
    },
  }
}

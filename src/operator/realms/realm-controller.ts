// Reconciles the realms that resources declare: applies each, writes the secrets of its clients, and the status of its resources.
import { isDeepStrictEqual } from 'node:util'
import { getErrorMessage } from '../lib/error-message.ts'
import type { ReconcileResult, WorkQueue } from '../lib/timing/work-queue.ts'
import { parseDuration } from '../realm-file/resources/duration.ts'
import { isLeaseLost } from '../reconcile/following/failures.ts'
import type { SourcePermissions } from '../service/context/admin-permissions.ts'
import type { Service } from '../service/context/service.ts'
import type { Lease } from '../service/context/store-types.ts'
import { confirmLease } from '../service/operations/leases.ts'
import { waitsFor } from './dependencies.ts'
import { astrayIn, type Desired, type Fault, type RealmOf } from './desired.ts'
import type { Drifts } from './drifts.ts'
import { fingerprint } from './fingerprint.ts'
import type { Known } from './known.ts'
import type { LivePicture } from './picture.ts'
import { operatorQueue } from './queue.ts'
import { isOvertaken } from './resource-writer.ts'
import { withLimits } from './run.ts'
import { type ClientSecrets, clientSecrets } from './secrets/client-secrets.ts'
import type { Keeper } from './secrets/secret-keeper.ts'
import { type Standing, together } from './status/conditions.ts'
import type { Result } from './status/result.ts'
import type { StatusWriter, Stood } from './status/status-writer.ts'
import { type Turned, turnOf } from './turn.ts'

/** How often a realm is reconciled although nothing has changed, in seconds. */
const INTERVAL = 600

/** What a controller of realms works with. */
export interface RealmControllerOptions {
  readonly lease: Lease
  readonly picture: LivePicture
  readonly keeper: Keeper
  readonly statuses: StatusWriter
  readonly known: Known
  readonly drifts: Drifts
  /** Returns what a source may touch and grant, as the server's settings limit it. */
  readonly limitOf: (source: string) => SourcePermissions | undefined
  /** A run has changed something in the realm. */
  readonly changed: (realm: string) => void
  readonly say: (line: string) => void
  /** Reports what cannot be done now, and is retried. */
  readonly failed: (error: unknown) => void
}

/** A controller of the realms that resources declare, while the lease is this process's. */
export class RealmController {
  readonly #service: Service
  readonly #options: RealmControllerOptions
  readonly #secrets: ClientSecrets
  /** Of what each realm was reconciled for last. */
  readonly #fingerprints = new Map<string, string>()
  /** How the last reconciliation of each realm ended. */
  readonly #stood = new Map<string, Stood>()
  /** Those that statuses were written of. */
  readonly #written = new WeakSet<Stood>()
  readonly #queue: WorkQueue<string>
  /** Realms whose client secrets are written to Secrets again, without an apply, which would correct drift too. */
  readonly #secretQueue: WorkQueue<string>
  readonly #statusQueue: WorkQueue<string>
  /** Statuses of resources that belong to no realm; its only key is the empty text. */
  readonly #otherStatusQueue: WorkQueue<string>
  #desired: Desired = { realms: new Map(), others: [] }
  /** The realms that resources of a namespace name in vain. */
  #astray: ReadonlyMap<string, readonly string[]> = new Map()

  constructor(service: Service, options: RealmControllerOptions) {
    const { picture, keeper, statuses, failed } = options
    const notWritten = (error: unknown) => {
      if (!isOvertaken(error)) failed(error)
    }
    this.#service = service
    this.#options = options
    this.#queue = operatorQueue((name) => this.#reconcile(name), failed)
    this.#secretQueue = operatorQueue((name) => this.#writeSecretsAgain(name), notWritten)
    this.#statusQueue = operatorQueue((name) => this.#writeStatuses(name), notWritten)
    this.#otherStatusQueue = operatorQueue(() => statuses.writeOthers(this.#desired.others), notWritten)
    const changed = (realm: string) => this.#secretQueue.add(realm)
    this.#secrets = clientSecrets(service, { picture, keeper, changed })
  }

  /** The realms that resources declare now. */
  get realms(): ReadonlyMap<string, RealmOf> {
    return this.#desired.realms
  }

  /** Takes this as desired: reconciles the realms for which it is new, and writes statuses of resources that are new. */
  update(desired: Desired): void {
    this.#desired = desired
    this.#astray = astrayIn(desired)
    for (const name of new Set([...desired.realms.keys(), ...this.#options.known.realms()])) this.#compare(name)
    this.#otherStatusQueue.add('')
  }

  /** Reconciles a realm that resources declare: its desired state is as it was, its live state may not be. */
  reconcile(name: string): void {
    if (this.#desired.realms.has(name)) this.#queue.add(name)
  }

  /** Reacts to new or settled drift of a realm. `heals`: some of it is to be corrected at once. */
  drifted(name: string, heals: boolean): void {
    const queue = heals ? this.#queue : this.#statusQueue
    queue.add(name)
  }

  /** Begins nothing more, and lets what runs end. */
  async close(): Promise<void> {
    this.#secrets.stop()
    const queues = [this.#queue, this.#secretQueue, this.#statusQueue, this.#otherStatusQueue]
    await Promise.all(queues.map((queue) => queue.close()))
  }

  #realmOf(name: string): RealmOf {
    const none = { name, holder: undefined, members: [], ceilings: new Map(), settings: {} }
    return this.#desired.realms.get(name) ?? none
  }

  /** Adds a realm to the queues that it is due in now. */
  #compare(name: string): void {
    const realm = this.#realmOf(name)
    const print = fingerprint(realm, this.#astray, waitsFor(realm, this.#desired.realms))
    if (this.#fingerprints.get(name) !== print) {
      this.#fingerprints.set(name, print)
      this.#queue.add(name)
      return
    }
    if (this.#secrets.isMoved(realm)) this.#secretQueue.add(name)
    if (!realm.members.every(({ resource }) => this.#options.statuses.isCompared(resource))) this.#statusQueue.add(name)
  }

  async #reconcile(name: string): Promise<ReconcileResult> {
    const realm = this.#realmOf(name)
    try {
      const unheld = await this.#options.statuses.hold(realm)
      const turned = await this.#apply(realm, unheld)
      const standing = await this.#withSecrets(realm, turned)
      await confirmLease(this.#service, this.#options.lease)
      this.#stand(realm, standing)
      this.#report(realm, standing)
      const isPartial = 'result' in standing && Boolean(unheld.size || standing.result.unwritten?.size)
      return isPartial ? retryOf(realm) : { requeueAfter: intervalOf(realm) }
    } catch (error) {
      return this.#fail(realm, error)
    }
  }

  /** Applies the realm, unless it waits. `unheld`: resources that do not count, since they could not be kept from vanishing. */
  async #apply(realm: RealmOf, unheld: ReadonlyMap<string, Fault>): Promise<Turned> {
    const { lease, limitOf, known } = this.#options
    const { name, holder } = realm
    const isHolder = holder !== undefined && known.holderOf(name) === holder.namespace
    const turned = await turnOf(this.#service, realm, {
      waits: waitsFor(realm, this.#desired.realms),
      ...{ lease, limitOf, isHolder, unheld, astray: this.#astray },
      before: known.namespacesIn(name),
      gitSources: isHolder ? known.goingWith(name, holder.namespace) : [],
    })
    if ('result' in turned) known.put(realm, turned.result)
    return turned
  }

  async #withSecrets(realm: RealmOf, turned: Turned): Promise<Turned> {
    return 'result' in turned ? { result: await this.#writeSecrets(realm, turned.result) } : turned
  }

  async #writeSecrets(realm: RealmOf, result: Result): Promise<Result> {
    const unwritten = await this.#secrets.write(withLimits(realm, this.#options.limitOf), result.faults)
    return { ...result, unwritten }
  }

  /** Keeps how a reconciliation has ended, and writes statuses of that. */
  #stand(realm: RealmOf, ended: Turned | { readonly failure: string }): void {
    const last = this.#stood.get(realm.name)
    const now: Standing = { at: this.#service.clock(), ...ended }
    const standing = last && !this.#written.has(last) ? together(last.standing, now) : now
    this.#stood.set(realm.name, { realm, standing })
    this.#statusQueue.add(realm.name)
  }

  #report({ name, holder }: RealmOf, turned: Turned): void {
    if (!('result' in turned)) return
    const { pendingApproval, how, plan } = turned.result
    if (how === 'applied' && plan.create + plan.update + plan.delete > 0) this.#options.changed(name)
    if (!pendingApproval || holder) return
    const approval = `the plan ${pendingApproval.plan} is pending approval`
    this.#options.say(`No resource declares the realm ${name} any more; ${approval}.`)
  }

  #fail(realm: RealmOf, error: unknown): ReconcileResult {
    // Another process has the lease, and reports the status.
    if (isLeaseLost(error)) return {}
    this.#options.failed(error)
    this.#stand(realm, { failure: getErrorMessage(error) })
    return retryOf(realm)
  }

  async #writeStatuses(name: string): Promise<void> {
    const last = this.#stood.get(name)
    if (!last) return
    await this.#options.statuses.writeRealm(last, this.#options.drifts.of(name))
    this.#written.add(last)
  }

  async #writeSecretsAgain(name: string): Promise<void> {
    const last = this.#stood.get(name)
    if (!last || !('result' in last.standing)) return
    const { at, result } = last.standing
    // A reconciliation may write them meanwhile: both write what is desired now.
    const realm = this.#realmOf(name)
    const now = await this.#writeSecrets(realm, result)
    if (this.#realmOf(name) !== realm) this.#secretQueue.add(name)
    if (isDeepStrictEqual(now, result)) return
    // A reconciliation that came in between has written them itself.
    if (this.#stood.get(name) === last) this.#stood.set(name, { ...last, standing: { at, result: now } })
    this.#statusQueue.add(name)
  }
}

/** Returns when a realm is reconciled although nothing has changed: not together with all others. */
function intervalOf({ holder }: RealmOf): number {
  const interval = holder?.resource.spec?.interval as string | undefined
  return (interval ? parseDuration(interval) : INTERVAL) * 1000 * (0.9 + Math.random() / 5)
}

/** Returns when a realm is retried: after its own interval, or after the back-off. */
function retryOf({ holder }: RealmOf): ReconcileResult {
  const interval = holder?.resource.spec?.retryInterval as string | undefined
  return { failed: true, requeueAfter: interval ? parseDuration(interval) * 1000 : undefined }
}

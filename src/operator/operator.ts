// The operator: reads what resources declare, and hands it to the controllers that make it live.
import { raceAbort } from '../lib/timing/race-abort.ts'
import type { WorkQueue } from '../lib/timing/work-queue.ts'
import type { SourcePermissions } from '../service/context/admin-permissions.ts'
import type { Service } from '../service/context/service.ts'
import type { Lease } from '../service/context/store-types.ts'
import type { LeaseCandidate, LeaseWork } from '../service/operations/leases.ts'
import type { Cluster } from './cluster.ts'
import { desired } from './desired.ts'
import { type Drifts, followDrift } from './drifts.ts'
import type { Usual } from './git/entry.ts'
import { GitSourceController } from './git/git-source-controller.ts'
import { gitSources } from './git/stated.ts'
import { type Known, readKnown } from './known.ts'
import { type LivePicture, watchCluster } from './picture.ts'
import { operatorQueue } from './queue.ts'
import { RealmController } from './realm-controller.ts'
import type { Resource } from './resource.ts'
import { ResourceWriter } from './resource-writer.ts'
import { secretKeeper } from './secrets/secret-keeper.ts'
import { StatusWriter } from './status/status-writer.ts'

/** Which of several servers applies resources: whoever has this lease. */
export const OPERATE = 'operate'

/** What the operator works with. */
export interface OperatorOptions {
  readonly cluster: Cluster
  /** What a source may touch and give, as the server's settings limit it. */
  readonly limitOf: (source: string) => SourcePermissions | undefined
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
/** The only key of the operator's queue. */
const RESOURCES = 'resources'

/** Applies resources while this process has the lease. */
export function operator(service: Service, options: OperatorOptions): LeaseCandidate {
  return {
    start: (lease) => new Operator(service, options, lease),
    onNewHolder: (holder) => options.say(`The server ${holder} applies the resources of ${options.cluster.server}.`),
    onError: options.failed,
  }
}

/** What the operator hands resources to, once everything in the cluster was seen. */
interface Controllers {
  readonly known: Known
  readonly drifts: Drifts
  readonly realms: RealmController
  readonly git: GitSourceController
}

class Operator implements LeaseWork {
  readonly #service: Service
  readonly #options: OperatorOptions
  readonly #lease: Lease
  readonly #ending = new AbortController()
  readonly #picture: LivePicture
  readonly #statuses: StatusWriter
  readonly #queue: WorkQueue<string>
  #controllers: Controllers | undefined

  constructor(service: Service, options: OperatorOptions, lease: Lease) {
    const { cluster, failed } = options
    this.#service = service
    this.#options = options
    this.#lease = lease
    this.#picture = watchCluster(cluster, { changed: () => this.#changed(), failed }, this.#ending.signal)
    this.#statuses = new StatusWriter(this.#picture, new ResourceWriter(cluster, this.#picture.put), service.clock)
    this.#queue = operatorQueue(() => this.#reconcile(), failed)
    this.#queue.add(RESOURCES)
  }

  async end(): Promise<void> {
    this.#ending.abort()
    await this.#queue.close()
    this.#controllers?.drifts.stop()
    await this.#controllers?.git.close()
    await this.#controllers?.realms.close()
  }

  /** Schedules a read of the resources. Nothing before the first complete list of them. */
  #changed(): void {
    if (this.#controllers) this.#queue.addAfter(RESOURCES, GATHER)
  }

  /** Hands what resources declare now to the controllers. */
  async #reconcile(): Promise<void> {
    this.#controllers ??= await this.#begin()
    if (!this.#controllers) return
    const { known, realms, git } = this.#controllers
    const now = this.#picture.now()
    const counts = ({ metadata }: Resource) => this.#options.counts(metadata.namespace!)
    realms.update(desired({ ...now, resources: now.resources.filter(counts), holderOf: known.holderOf }))
    git.update(gitSources(now.gitSources.filter(counts), now.secrets))
  }

  /** Begins the controllers once everything in the cluster was seen; undefined: the operator has ended before. */
  async #begin(): Promise<Controllers | undefined> {
    const { signal } = this.#ending
    const known = await readKnown(this.#service, this.#options.counts)
    await raceAbort(this.#picture.seen, signal).catch(() => undefined)
    if (signal.aborted) return undefined
    // Of drift from before, the first reconciliation of each realm takes note.
    const drifts = await followDrift(this.#service, (realm, heals) => this.#drifted(realm, heals))
    const realms = this.#beginRealms(known, drifts)
    return { known, drifts, realms, git: this.#beginGit(known, drifts, realms) }
  }

  #beginRealms(known: Known, drifts: Drifts): RealmController {
    const { cluster, limitOf, say, failed } = this.#options
    return new RealmController(this.#service, {
      ...{ lease: this.#lease, picture: this.#picture, statuses: this.#statuses, known, drifts, limitOf, say, failed },
      keeper: secretKeeper(cluster, this.#picture),
      changed: (realm) => this.#controllers?.git.changed(realm),
    })
  }

  #beginGit(known: Known, drifts: Drifts, realms: RealmController): GitSourceController {
    const { git, limitOf, say, failed } = this.#options
    const { labels } = this.#picture.now()
    return new GitSourceController(this.#service, {
      ...{ usual: git, lease: this.#lease, known, drifts, statuses: this.#statuses, say, failed },
      grounds: () => ({ realms: realms.realms, labels, holderOf: known.holderOf, limitOf }),
      applied: (realm) => {
        realms.reconcile(realm)
        this.#changed()
      },
    })
  }

  #drifted(realm: string, heals: boolean): void {
    this.#controllers?.realms.drifted(realm, heals)
    this.#controllers?.git.drifted(realm)
  }
}

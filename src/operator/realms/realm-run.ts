// One run for one realm: what counts is applied, and what is wrong is found, set aside, and told.

import type { Deadline } from '../lib/timing/deadline.ts'
import { DocumentError, type DocumentProblem } from '../realm-file/yaml/problem.ts'
import { ActionError } from '../reconcile/execute/action-error.ts'
import type { SourceContent } from '../reconcile/read/source-content.ts'
import { applyRun, planRun, type RunOutcome } from '../reconcile/run/run.ts'
import type { SourcePermissions } from '../service/context/admin-permissions.ts'
import { type Caller, type Service, SYSTEM } from '../service/context/service.ts'
import type { Lease } from '../service/context/store-types.ts'
import { forgetSourceInRealm, listRealmSources } from '../service/sources/source-records.ts'
import { underBoth } from './admission/admission.ts'
import { type Fault, faultOf, ownerOf, type RealmOf, sourceOf } from './desired.ts'
import { readKnown } from './known.ts'
import type { Result } from './status/result.ts'
import { type Beside, revisionOf, statesOf } from './status/states.ts'

/** What a run is tried with. */
export interface TrialOptions extends Pick<Beside, 'before' | 'astray' | 'gitSources'> {
  /** The namespace of the resource that states the realm is known to have stated it before. */
  readonly isHolder: boolean
  /** What a source may touch, as the server's settings limit it. */
  readonly limitOf: (source: string) => SourcePermissions | undefined
  /** What is not done by then is not done at all. */
  readonly deadline?: Deadline | undefined
}

/** What a run is made with. */
export interface RunOptions extends TrialOptions {
  readonly lease: Lease
  /** Resources that could not be kept from vanishing, by what they are called: what they state must not become live. */
  readonly unheld: ReadonlyMap<string, Fault>
}

/** Applies the realm, or plans it. Throws what is nobody's fault, such as that the store does not answer. */
export async function runRealm(service: Service, realm: RealmOf, options: RunOptions): Promise<Result> {
  if (realm.holder?.leaves === 'released') return letGo(service, realm, options)
  const isPlan = realm.holder?.resource.spec?.mode === 'plan' && !realm.holder.leaves
  const only = new Set([realm.name])
  const { outcome, faults } = await settingAside(service, realm, options, (states) => {
    const caller = { ...callerOf(states, options), lease: options.lease }
    const run = { service, caller, sources: states, only }
    return isPlan ? planRun(run) : applyRun(run)
  })
  return resultOf(service, realm, { outcome, faults, isPlan })
}

/** A run, and what could not count in it, by what it is called. */
export interface Made {
  readonly outcome: RunOutcome
  readonly faults: ReadonlyMap<string, Fault>
}

/** What a run of the realm would do and set aside. Nothing is kept. Throws what is nobody's fault. */
export function tryRealm(service: Service, realm: RealmOf, options: TrialOptions): Promise<Made> {
  const only = new Set([realm.name])
  return settingAside(service, realm, { ...options, unheld: new Map() }, (states) =>
    planRun({ service, caller: callerOf(states, options), sources: states, only }),
  )
}

/** Makes a run, and makes it again without what was found to be wrong, until nothing is. */
async function settingAside(
  service: Service,
  realm: RealmOf,
  options: Omit<RunOptions, 'lease'>,
  run: (states: readonly SourceContent[]) => Promise<RunOutcome>,
): Promise<Made> {
  const faults = new Map([...options.unheld, ...ownFaults(realm)])
  const limited = withLimits(realm, options.limitOf)
  const taken = await takenFrom(service, limited, options)
  if (taken) for (const { file, leaves } of realm.members) if (!leaves) faults.set(file, taken)
  for (;;) {
    const states = taken ? [] : statesOf(limited, { ...options, faults })
    try {
      return { outcome: await run(states), faults }
    } catch (error) {
      const found = faultsIn(error).filter(([file]) => !faults.has(file))
      if (!found.length) throw error
      const leaving = new Set(realm.members.flatMap(({ leaves, file }) => (leaves ? [file] : [])))
      for (const [file, fault] of found)
        faults.set(file, leaving.has(file) ? { ...fault, reason: 'StillNeeded' } : fault)
    }
  }
}

/** What could not even be read. */
const ownFaults = ({ members }: RealmOf) =>
  new Map(members.flatMap(({ file, fault }) => (fault ? [[file, fault] as const] : [])))

function callerOf(states: readonly SourceContent[], { deadline }: TrialOptions): Caller {
  return { actor: { kind: 'source', source: states.map(({ name }) => name).join(', ') }, deadline }
}

/** Within what the server's settings say of each namespace. */
export function withLimits(realm: RealmOf, limitOf: TrialOptions['limitOf']): RealmOf {
  const ceilings = [...realm.ceilings].map(
    ([namespace, own]) => [namespace, underBoth(own, limitOf(sourceOf(namespace)))] as const,
  )
  return { ...realm, ceilings: new Map(ceilings) }
}

/** A realm that is there, and that this namespace has not made: whoever runs the server says whose it is. */
async function takenFrom(
  service: Service,
  { name, holder }: RealmOf,
  options: TrialOptions,
): Promise<Fault | undefined> {
  if (!holder || holder.leaves || options.isHolder) return undefined
  const source = sourceOf(holder.namespace)
  if (options.limitOf(source)?.realms?.includes(name)) return undefined
  if (!(await service.findRealms([name])).length) return undefined
  // It may have been made since that was looked up.
  const { holderOf } = await readKnown(service, () => true)
  if (holderOf(name) === holder.namespace) return undefined
  const message = `there is a realm ${name} that ${holder.namespace} has not made: whoever runs the server lets it be taken over with --source-permissions ${source}=${name}:*`
  return { reason: 'RealmTaken', message }
}

/** The realm stays, with all that stands in it, and nobody's. */
async function letGo(service: Service, realm: RealmOf, { before, lease, deadline }: RunOptions): Promise<Result> {
  const [there] = await service.findRealms([realm.name])
  const caller = { ...SYSTEM, lease, deadline }
  if (there && before.size)
    await service.write(caller, realm.name, async (context) => {
      for (const namespace of before) await forgetSourceInRealm(context, sourceOf(namespace))
    })
  return { how: 'applied', faults: ownFaults(realm), revision: '', plan: NOTHING, objects: 0, namespaces: new Set() }
}

const NOTHING = { create: 0, update: 0, delete: 0 }

async function resultOf(
  service: Service,
  realm: RealmOf,
  { outcome, faults, isPlan }: Made & { readonly isPlan: boolean },
): Promise<Result> {
  const one = outcome.realms.find(({ plan }) => plan.realm === realm.name)
  const count = (wanted: string) => one?.plan.actions.filter(({ operation }) => operation === wanted).length ?? 0
  const plan = { create: count('create'), update: count('update'), delete: count('delete') }
  const [there] = await service.findRealms([realm.name])
  const sources = there ? await service.read(SYSTEM, there, listRealmSources) : []
  const own = sources.flatMap((each) => {
    const owner = ownerOf(each.source)
    return owner && !owner.isGit ? [{ ...each, ...owner }] : []
  })
  return {
    how: one?.pendingApproval ? 'pendingApproval' : one?.suspended ? 'suspended' : isPlan ? 'planned' : 'applied',
    faults,
    revision: revisionOf(realm.members.filter(({ file, stated }) => stated && !faults.has(file))),
    plan: one?.plan.creates ? { ...plan, create: plan.create + 1 } : plan,
    ...(one?.pendingApproval && { pendingApproval: one.pendingApproval }),
    objects: own.reduce((sum, { objects }) => sum + objects, 0),
    namespaces: new Set(own.map(({ namespace }) => namespace)),
  }
}

/** What of a failure is due to resources, by what they are called. */
function faultsIn(error: unknown): [file: string, fault: Fault][] {
  if (!(error instanceof DocumentError) && !(error instanceof ActionError)) return []
  const told = error.problems.flatMap((problem): [string, DocumentProblem][] => [
    [fileOf(problem.position.file), problem],
    // Neither of two that contradict each other counts.
    ...(problem.otherPosition
      ? [[fileOf(problem.otherPosition.file), mirrored(problem)] as [string, DocumentProblem]]
      : []),
  ])
  return [...Map.groupBy(told, ([file]) => file)].map(([file, all]) => {
    const unique = new Map(all.map(([, problem]) => [problem.message, problem]))
    return [file, faultOf(file, [...unique.values()])]
  })
}

function mirrored({ position, message, otherPosition: other }: DocumentProblem): DocumentProblem {
  return { position: other!, message: message.replace(other!.file, position.file), otherPosition: position }
}

/** A place in a resource begins with what the resource is called: `RealmClient namespace/name`. */
function fileOf(place: string): string {
  return place.split('/').slice(0, 2).join('/')
}

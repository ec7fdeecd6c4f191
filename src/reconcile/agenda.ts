// What a run has to do: what is stated, against what its sources have applied before.
import { adminClientObjects, MASTER } from '../kinds/built-in/index.ts'
import { byPlace, DocumentError } from '../realm-file/problem.ts'
import { holdsText } from '../realm-file/substitute.ts'
import { GENERATED } from '../realm-file/variables.ts'
import { generatedSecrets } from '../service/generated-secrets.ts'
import type { Caller, Service } from '../service/service.ts'
import { appliedBy, type WaitingPlan } from '../service/sources.ts'
import type { Note } from './action.ts'
import { observe } from './observe.ts'
import { type Obstacle, obstacles } from './obstacles.ts'
import { plan } from './plan.ts'
import type { LiveState } from './plan-input.ts'
import { withRenames } from './renames.ts'
import {
  digestsOf,
  documentsIn,
  realmOf,
  refuseBeyond,
  renamedRealms,
  type SourceState,
  statedTogether,
  type Wanted,
} from './wanted.ts'

/** What a run has to do. */
export interface Agenda {
  /** Realms with something to look at, in order; each is wanted so. */
  readonly open: readonly Wanted[]
  /** Realms of which nothing is new. */
  readonly settled: ReadonlySet<string>
  /** What the realms that are made bring into master. */
  readonly coming: readonly LiveState[]
  /** About realms that are stated no more, and stay. */
  readonly notes: readonly Note[]
  /** Plans that earlier runs of the sources left waiting. */
  readonly waiting: readonly WaitingPlan[]
}

/**
 * What the sources want to have done, in all realms or only these. One statement where nothing is new. Throws DocumentError,
 * forbidden.
 */
export async function agendaOf(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  only: ReadonlySet<string> | undefined,
): Promise<Agenda> {
  const found = await appliedBy(
    service,
    sources.map(({ name }) => name),
  )
  const isMeant = (realm: string) => !only || only.has(realm)
  const applied = found.applied.filter((one) => isMeant(one.stated ?? one.realm))
  refuseBeyond(sources)
  const all = sources.map((source) => ({ source, digests: digestsOf(service, source) }))
  const digests = all.map(({ source, digests }) => ({
    source,
    digests: new Map([...digests].filter(([realm]) => isMeant(realm))),
  }))
  const stated = new Set(digests.flatMap(({ digests }) => [...digests.keys()]))
  // The inventory binds to the realm itself: it is found also where somebody renamed it.
  const calledNow = new Map(applied.map((one) => [one.stated ?? one.realm, one.realm]))
  const before = Map.groupBy(applied, (one) => one.stated ?? one.realm)
  // A run drops what its sources left waiting, so it is about those realms, too.
  const waiting = found.waiting.filter(({ realm }) => isMeant(realm))
  const others = waiting.flatMap(({ realm }) => (before.has(realm) ? [] : realm))
  await service.demand(caller, 'administer-realm', [...stated, ...applied.map(({ realm }) => realm), ...others])
  // What was applied had been checked: where nothing is new, the documents are not even taken apart.
  const isSettled = (realm: string) => {
    const known = new Map(before.get(realm)?.map((one) => [one.source, one]))
    return digests.every(({ source, digests }) => {
      const one = known.get(source.name)
      return one ? !one.marked && one.digest === digests.get(realm) : !digests.has(realm)
    })
  }
  const settled = new Set([...stated].filter(isSettled))
  const naming = sources.filter(({ documents }) =>
    documents.some((one) => !settled.has(realmOf(one)) && holdsText(one.value, GENERATED)),
  )
  const secret = await generatedSecrets(
    service,
    naming.map(({ name }) => name),
    calledNow,
  )
  const gone = [...before.keys()].filter((realm) => !stated.has(realm))
  const left = new Set(gone.filter((realm) => staysAsItIs(realm, before.get(realm)!, sources)))
  const wanted = statedTogether(
    service,
    digests,
    before,
    settled,
    secret,
    gone.filter((realm) => !left.has(realm)),
  )
  const renamed = await renamedRealms(service, caller, sources, wanted)
  const open = wanted.map((one) => ({
    ...one,
    calledNow: calledNow.get(one.desired.name) ?? renamed.get(one.desired.name) ?? one.desired.name,
    held: before.get(one.desired.name)?.find(({ held }) => held)?.held ?? undefined,
  }))
  const coming = open.length > 1 ? await lookAhead(service, caller, sources, open) : []
  const notes = [...left].map((realm) => ({
    message: `realm ${calledNow.get(realm)!} is stated no more; it is left as it is`,
  }))
  return { open, settled, coming, notes, waiting }
}

/** Whether a realm stays that the sources state no more: one of them deletes nothing, or may not touch it. */
function staysAsItIs(
  realm: string,
  before: readonly { readonly source: string }[],
  sources: readonly SourceState[],
): boolean {
  const own = new Set(before.map(({ source }) => source))
  return sources.some(
    ({ name, settings, ceiling }) =>
      own.has(name) && (settings?.prune === 'none' || ceiling?.realms?.includes(realm) === false),
  )
}

/**
 * What is wrong with a later realm must not come out when an earlier one is applied already. Gives what the new realms
 * bring into master.
 */
async function lookAhead(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  all: readonly Wanted[],
): Promise<LiveState[]> {
  const found: Obstacle[] = []
  const coming: LiveState[] = []
  for (const { desired: realm, parts, calledNow } of all) {
    const seen = await service.snapshot(caller, calledNow, (context) => observe(context, parts, realm))
    const input = realm.name === MASTER ? { ...seen, live: [...seen.live, ...coming] } : seen
    const renamed = withRenames(input).input
    found.push(...obstacles(renamed, plan(renamed)))
    if (!input.exists && realm.objects.size)
      coming.push(...adminClientObjects(realm.name).map(({ kind, key }) => ({ kind, key, fields: {} })))
  }
  if (found.length) throw new DocumentError(byPlace(found, documentsIn(sources)))
  return coming
}

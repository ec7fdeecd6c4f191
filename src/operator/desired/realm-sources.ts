// A realm of resources as sources: each namespace is one.
import { createHash } from 'node:crypto'
import type { Removals } from '../../reconcile/read/removals.ts'
import type { SerializedSource, SourceContent } from '../../reconcile/read/source-content.ts'
import { type Fault, type Member, type RealmOf, sourceOf } from '../desired.ts'

/** What is known besides the realm itself. */
export interface Beside {
  /** Namespaces that have applied to the realm before. */
  readonly before: ReadonlySet<string>
  /** Resources that cannot count, by what they are called. */
  readonly faults: ReadonlyMap<string, Fault>
  /** By namespace, resources that belong to no realm now: what they stated before stays. */
  readonly astray: ReadonlyMap<string, readonly string[]>
  /** Sources in git whose objects go with the realm. */
  readonly gitSources: readonly string[]
}

/** The sources of the realm, by name. */
export function statesOf(realm: RealmOf, beside: Beside): SourceContent[] {
  const byNamespace = Map.groupBy(realm.members, ({ namespace }) => namespace)
  const namespaces = [...new Set([...byNamespace.keys(), ...beside.before])].sort()
  const own = namespaces.flatMap(
    (namespace) => stateOf(realm, namespace, byNamespace.get(namespace) ?? [], beside) ?? [],
  )
  // With a realm that is deleted goes what sources in git state there; in other runs they count with their inventory.
  const { holder } = realm
  if (holder?.leaves !== 'deleted') return own
  return [...own, ...beside.gitSources.map((name) => ({ ...NOTHING, name, removals: { rest: 'deleted' as const } }))]
}

const NOTHING = { revision: '', documents: [], files: [] }

function stateOf(realm: RealmOf, namespace: string, own: readonly Member[], beside: Beside): SourceContent | undefined {
  const { holder } = realm
  // With the realm all goes that stands in it, and it goes as a guard lets it where nobody deleted it.
  const ends = !holder || holder.leaves !== undefined
  const counting = ends ? [] : own.filter(({ stated, file }) => stated && !beside.faults.has(file))
  const unstated: UnstatedHere = ends
    ? { retained: [], released: [], deleted: holder ? [holder.file] : [], ...(!holder && { existing: [] }) }
    : unstatedBy(own, counting, beside.astray.get(namespace) ?? [], beside.faults)
  const { retained: kept, released, deleted } = unstated
  // Who is not read keeps what there is.
  const onlyKeeps = kept.length > 0 && !released.length && !deleted.length
  if (!counting.length && (onlyKeeps || !beside.before.has(namespace))) return undefined
  return {
    name: sourceOf(namespace),
    revision: revisionOf(counting),
    documents: counting.map(({ stated }) => stated!.document),
    settings: realm.settings,
    files: counting.map(textOf),
    sourcePermissions: realm.ceilings.get(namespace),
    removals: unstated,
  }
}

/** A resource that was not seen to be deleted has vanished: finalizers see to that. */
type UnstatedHere = Removals & Required<Pick<Removals, 'retained' | 'released' | 'deleted'>>

function unstatedBy(
  own: readonly Member[],
  counting: readonly Member[],
  astray: readonly string[],
  faults: Beside['faults'],
): UnstatedHere {
  const counts = new Set(counting)
  const files = (which: (member: Member) => boolean) => own.filter(which).map(({ file }) => file)
  // What could never be held was never applied: that it comes makes no other state of what is there.
  const isNew = ({ file, resource }: Member) =>
    faults.get(file)?.unheld && resource.status?.lastAppliedRevision === undefined
  const isKept = (one: Member) => (one.leaves ? faults.has(one.file) : !counts.has(one) && !isNew(one))
  return {
    retained: [...files(isKept), ...astray].sort(),
    released: files((one) => one.leaves === 'released' && !faults.has(one.file)),
    deleted: files((one) => one.leaves === 'deleted' && !faults.has(one.file)),
    existing: counting.map(({ file }) => file),
  }
}

/** What resources state, in a word. */
export function revisionOf(members: readonly Member[]): string {
  const hash = createHash('sha256')
  for (const { file, stated } of members) hash.update(`${file}\0${stated?.document.digest}\0`)
  return `sha256:${hash.digest('hex').slice(0, 12)}`
}

/** As a plan that waits keeps it; few do. */
function textOf({ file, stated }: Member): SerializedSource['files'][number] {
  return {
    file,
    get text() {
      return JSON.stringify(stated!.value)
    },
    values: [],
  }
}

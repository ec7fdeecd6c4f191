// The live state that matters for a plan, in a constant number of statements: what is stated, referred to, or owned.
import { builtInObjects } from '../kinds/built-in/index.ts'
import { type FlatFields, flatten, missing, resolve } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { creationOrder } from '../kinds/order.ts'
import { address } from '../kinds/tree.ts'
import {
  type Context,
  entriesOf,
  type InventoryRow,
  inventoryOf,
  ownedOf,
  type StoredEntry,
} from '../service/context.ts'
import { writers } from '../service/index.ts'
import { digested } from '../service/secrets.ts'
import type { Attribution } from './action.ts'
import type { DesiredObject, DesiredRealm } from './desired.ts'
import { statedDigest } from './inventory.ts'
import { isStatedAgain, references } from './obstacles.ts'
import type { Part } from './parts.ts'
import type { LiveState, Owned, PlanInput } from './plan-input.ts'
import { calledBefore } from './renames.ts'

/** What was observed, as a plan is made of it, and the rows of the inventory as they are kept, source by source. */
export interface Observed extends PlanInput {
  readonly rows: readonly InventoryRow[]
}

/**
 * What a plan for the realm is made of: `desired` is what the parts state together. No context: the realm does not exist
 * yet.
 */
export async function observe(
  context: Context | undefined,
  parts: readonly Stating[],
  desired: DesiredRealm,
): Promise<Observed> {
  const builtIn = new Map(builtInObjects(desired.name).map((one) => [address(one.kind, one.key), one]))
  const base = {
    realm: desired.name,
    stated: desired.objects,
    notices: desired.notices,
    named: desired.named,
    builtIn: new Map([...builtIn].map(([id, { kind, representation }]) => [id, flatten(kinds[kind], representation)])),
  }
  if (!context) {
    // A new realm will have its built-in objects: the plan says what is to change on them.
    const live = [...builtIn.values()].map(({ kind, key, representation }) => ({
      kind,
      key,
      fields: flatten(kinds[kind], representation),
    }))
    return {
      ...base,
      calledNow: desired.name,
      exists: false,
      live,
      names: new Map(),
      isSettled: () => false,
      owned: [],
      others: [],
      marked: new Map(),
      rows: [],
      changedBy: () => undefined,
    }
  }
  const { rows, open } = await inventoryAgainst(context, parts)
  const isSettled = (id: string) => desired.objects.has(id) && !open.has(id)
  const read = new Set(parts.map(({ source }) => source))
  const own = rows.filter(({ source }) => read.has(source))
  const owned = ownedTogether(own)
  const settled = settledRows(desired, owned)
  const keys = wantedKeys(desired, owned, (id) => isSettled(id) || settled.has(id))
  const unsettled = await readLive(
    context,
    keys,
    owned.filter(({ kind, key }) => !settled.has(address(kind, key))),
  )
  const live = [
    ...[...settled.values()].map(({ kind, key, object, fields }) => ({
      kind,
      key,
      id: object,
      settled: true as const,
      fields,
    })),
    ...unsettled,
  ]
  const entries = await entriesOf(
    context,
    owned.filter(({ marked }) => marked),
  )
  const marked = Map.groupBy(
    own.filter((row) => row.marked),
    ({ source }) => source,
  )
  return {
    ...base,
    calledNow: context.realm.name,
    exists: true,
    live,
    names: await readNames(context, keys, desired, live),
    isSettled,
    owned,
    others: rows.filter(({ source }) => !read.has(source)),
    marked: new Map([...marked].map(([source, { length }]) => [source, length])),
    rows: own,
    changedBy: blame(entries),
  }
}

/** A source, and what it states of the realm. */
type Stating = Pick<Part, 'source' | 'desired'>

/**
 * The inventory without what a source states as it did before and nobody has changed since, and the addresses of what one
 * states otherwise, or where somebody did. Whoever changes an object marks its rows.
 */
async function inventoryAgainst(
  context: Context,
  parts: readonly Stating[],
): Promise<{ rows: InventoryRow[]; open: ReadonlySet<string> }> {
  const stating = parts.map(({ source, desired }) => ({ source, ...digestsIn(desired) }))
  const { rows, fresh } = await inventoryOf(
    context,
    stating.map(({ source, byDigest }) => ({ source, digests: [...byDigest.keys()] })),
  )
  const digestsOf = new Map(stating.map(({ source, byDigest }) => [source, byDigest]))
  const open = new Set([
    ...stating.flatMap(({ masked }) => masked),
    ...fresh.flatMap(({ source, digests }) => digests.map((digest) => digestsOf.get(source)!.get(digest)!)),
    ...rows.filter(({ source }) => digestsOf.has(source)).map(({ kind, key }) => address(kind, key)),
  ])
  return { rows: [...rows, ...(await rowsBeside(context, parts, rows, open))], open }
}

/** Of objects that one source states otherwise, what the others state as they did: what was applied is known whole then. */
async function rowsBeside(
  context: Context,
  parts: readonly Stating[],
  rows: readonly InventoryRow[],
  open: ReadonlySet<string>,
): Promise<InventoryRow[]> {
  if (parts.length < 2) return []
  const read = new Set(rows.map(({ source, kind, key }) => `${source} ${address(kind, key)}`))
  const beside = parts.flatMap(({ source, desired }) =>
    [...open].flatMap((id) => (read.has(`${source} ${id}`) ? [] : (desired.objects.get(id) ?? []))),
  )
  if (!beside.length) return []
  const objects = new Map(beside.map(({ kind, key }) => [address(kind, key), { kind, key }]))
  const found = await ownedOf(
    context,
    parts.map(({ source }) => source),
    [...objects.values()],
  )
  return found.filter(({ source, kind, key }) => !read.has(`${source} ${address(kind, key)}`))
}

function digestsIn({ objects }: DesiredRealm): { masked: string[]; byDigest: Map<string, string> } {
  // A mask says that what is there stays: that has to be looked at.
  const masked = [...objects].filter(([, stated]) => stated.masked.length).map(([id]) => id)
  const byDigest = new Map<string, string>()
  for (const [id, stated] of objects) if (!stated.masked.length) byDigest.set(statedDigest(stated), id)
  return { masked, byDigest }
}

/** What the sources own together of each object: the same values, where several state one. */
function ownedTogether(rows: readonly InventoryRow[]): Owned[] {
  const together = new Map<string, Owned>()
  for (const { source: _, stated: __, lines: ___, ...row } of rows) {
    const id = `${row.object} ${address(row.kind, row.key)}`
    const known = together.get(id)
    together.set(
      id,
      known
        ? {
            ...known,
            fields: unitedFields(row, known),
            marked: known.marked || row.marked,
            drifted: row.drifted || known.drifted ? { ...row.drifted, ...known.drifted } : null,
          }
        : row,
    )
  }
  return [...together.values()]
}

/** Of a relation, each source owns elements. */
function unitedFields(one: Owned, other: Owned): FlatFields {
  const fields: Record<string, Json> = { ...one.fields }
  for (const [path, value] of Object.entries(other.fields)) {
    const more = resolve(kinds[one.kind], path).field.relation ? missing(keysIn(one.fields[path]), keysIn(value)) : []
    fields[path] = more.length ? ([...keysIn(value), ...more] as unknown as Json) : value
  }
  return fields
}

function keysIn(value: Json | undefined): Key[] {
  return (value ?? []) as unknown as Key[]
}

/** What of the rows that were read is stated as it was applied after all, by address: it only stands elsewhere. */
function settledRows(desired: DesiredRealm, owned: readonly Owned[]): ReadonlyMap<string, Owned> {
  const settled = new Map<string, Owned>()
  for (const row of owned) {
    const id = address(row.kind, row.key)
    const stated = desired.objects.get(id)
    if (!row.marked && stated && !stated.masked.length && statesAgain(stated.fields, row.fields)) settled.set(id, row)
  }
  return settled
}

function statesAgain(stated: DesiredObject['fields'], applied: FlatFields): boolean {
  return (
    stated.size === Object.keys(applied).length &&
    [...stated].every(([path, { value }]) => isStatedAgain(applied, path, value))
  )
}

async function readLive(
  context: Context,
  keys: WantedKeys,
  owned: readonly { kind: KindName; object: string }[],
): Promise<LiveState[]> {
  const live: LiveState[] = []
  for (const kind of creationOrder) {
    const ids = owned.filter((one) => one.kind === kind).map(({ object }) => object)
    const wanted = [...(keys.get(kind)?.values() ?? [])]
    if (!ids.length && !wanted.length) continue
    const found = await writers[kind].list(context, { ids, keys: wanted })
    live.push(
      ...found.map(({ key, id, version, representation }) => ({
        kind,
        key,
        id,
        version,
        fields: digested(context.vault, kinds[kind], representation),
      })),
    )
  }
  return live
}

/** The keys of all live objects of the kinds that miss one which is referred to. No statement where none is missed. */
async function readNames(
  context: Context,
  keys: WantedKeys,
  desired: DesiredRealm,
  live: readonly LiveState[],
): Promise<Map<KindName, Key[]>> {
  const there = new Set([...desired.objects.keys(), ...live.map(({ kind, key }) => address(kind, key))])
  const names = new Map<KindName, Key[]>()
  for (const [kind, wanted] of keys) {
    if ([...wanted.values()].every((key) => there.has(address(kind, key)))) continue
    names.set(
      kind,
      (await writers[kind].list(context, {})).map(({ key }) => key),
    )
  }
  return names
}

type WantedKeys = ReadonlyMap<KindName, ReadonlyMap<string, Key>>

/** Natural keys by kind of everything that is stated or referred to, parents included, but for what is settled. */
function wantedKeys(
  desired: DesiredRealm,
  owned: readonly Owned[],
  isSettled: (address: string) => boolean,
): WantedKeys {
  const unmarked = new Map(owned.filter(({ marked }) => !marked).map((row) => [address(row.kind, row.key), row.fields]))
  const keys = new Map<KindName, Map<string, Key>>()
  const want = (kind: KindName, key: Key) => {
    if (isSettled(address(kind, key))) return
    if (!keys.has(kind)) keys.set(kind, new Map())
    keys.get(kind)!.set(JSON.stringify(key), key)
    if (key.length > 1) want(key[0] as KindName, key.slice(1, -1))
  }
  const before = calledBefore(desired.objects.values())
  for (const [id, { kind, key, fields }] of desired.objects) {
    if (isSettled(id)) continue
    want(kind, key)
    if (before) want(kind, before(kind, key))
    for (const [path, { value }] of fields) {
      if (isStatedAgain(unmarked.get(id), path, value)) continue
      for (const to of references(kinds[kind], key, path, value)) want(to.to, to.key)
    }
  }
  return keys
}

/** Who last changed a path of an object, from its journal entries, newest first. */
export function blame(entries: readonly StoredEntry[]): PlanInput['changedBy'] {
  const byObject = Map.groupBy(entries, ({ kind, object }) => `${kind} ${object}`)
  return (kind, id, path) => {
    const own = byObject.get(`${kind} ${id}`) ?? []
    const entry =
      own.find(({ operation, fields }) => path === undefined || (operation === 'update' && path in fields)) ?? own[0]
    return entry && attribution(entry)
  }
}

function attribution({ actor, at }: StoredEntry): Attribution {
  return {
    who: actor.user ?? actor.source ?? actor.kind,
    kind: actor.kind,
    ...(actor.client !== undefined && { client: actor.client }),
    ...(actor.address !== undefined && { address: actor.address }),
    at: at.toISOString(),
    ...(actor.revision !== undefined && { revision: actor.revision }),
  }
}

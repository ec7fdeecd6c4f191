// What every kind does alike: read, create, update, delete, always lists; one object is a list of one. What is special
// about a kind is in the file of its name.
import { randomUUID } from 'node:crypto'
import {
  assemble,
  creation,
  differences,
  type FlatFields,
  flatten,
  isSecret,
  missing,
  resolve,
} from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { type Key, type Kind, type KindName, type Representation, relationFields } from '../kinds/kind.ts'
import { relationValue } from '../kinds/relations.ts'
import {
  deleteObjects,
  deleteRelation,
  insertObjects,
  insertRelation,
  type ObjectFilter,
  type ObjectRow,
  type RelationElement,
  type StoredObject,
  selectEveryRealm,
  selectKeys,
  selectObjects,
  updateObjects,
} from '../store/objects.ts'
import { type Context, journal, type WriteContext } from './context.ts'
import { journalDependants } from './dependants.ts'
import { failure } from './errors.ts'
import type { Vault } from './vault.ts'

/** An object as it is. */
export interface LiveObject {
  readonly kind: KindName
  readonly id: string
  /** Number of the journal entry that last changed it. */
  readonly version: number
  readonly key: Key
  readonly parent?: { readonly kind: KindName; readonly id: string }
  /** Nested; references by natural key, relations as on the wire, secrets sealed. */
  readonly representation: Representation
  /** Ids of what it refers to, by path. */
  readonly references: Readonly<Record<string, string>>
}

/** An object to make. */
export interface NewObject {
  /** A wished id; absent: a new UUID. */
  readonly id?: string | undefined
  readonly parent?: { readonly kind: KindName; readonly id: string; readonly key: Key } | undefined
  /** What is stated; the rest is what creation gives. */
  readonly representation: Representation
}

/** A change of an object. */
export interface Update {
  readonly live: LiveObject
  /** New values by path; null: none. Not for relations. */
  readonly set: FlatFields
  /** Elements to add to relations and to remove from them, by field. */
  readonly relations?: Readonly<Record<string, { readonly add?: readonly Key[]; readonly remove?: readonly Key[] }>>
}

/** The writers of a kind. Each takes a list and costs a number of statements that does not depend on its length. */
export interface Writers {
  list(context: Context, filter: ObjectFilter): Promise<LiveObject[]>
  create(context: WriteContext, objects: readonly NewObject[]): Promise<LiveObject[]>
  /** Gives the objects as they are then, in the same order. */
  update(context: WriteContext, updates: readonly Update[]): Promise<LiveObject[]>
  delete(context: WriteContext, objects: readonly LiveObject[]): Promise<void>
}

/** The writers of a kind that nothing is special about. */
export const plain = (kind: KindName): Writers => ({
  list: (context, filter) => listObjects(context, kind, filter),
  create: (context, objects) => createObjects(context, kind, objects),
  update: (context, updates) => updateAll(context, kind, updates),
  delete: (context, objects) => deleteAll(context, kind, objects),
})

/** The objects of a kind, by natural key. */
export async function listObjects(context: Context, kind: KindName, filter: ObjectFilter): Promise<LiveObject[]> {
  return (await selectObjects(context.tx, context.realm.number, kind, filter)).map((stored) =>
    alive(kinds[kind], stored),
  )
}

/** Every realm of the store, by name: for lists of realms only. One statement. */
export async function listEveryRealm({ tx }: Context): Promise<LiveObject[]> {
  return (await selectEveryRealm(tx)).map((stored) => alive(kinds.realm, stored))
}

/** Makes objects. Throws conflict where a natural key or an id is taken, invalid where a reference leads nowhere. */
export async function createObjects(
  context: WriteContext,
  name: KindName,
  objects: readonly NewObject[],
): Promise<LiveObject[]> {
  const kind = kinds[name]
  const prepared = objects.map(({ id, parent, representation }) => {
    const flat = sealed(context.vault, kind, creation(kind, flatten(kind, representation)))
    const own = String(flat[kind.naturalKey])
    const key: Key = parent ? [parent.kind, ...parent.key, own] : [own]
    return { id: id ?? randomUUID(), parent, key, flat }
  })
  const ids = await resolveReferences(
    context,
    kind,
    prepared.map(({ flat }) => flat),
    new Map(prepared.map(({ id, key }) => [JSON.stringify(key), id])),
  )
  const rows = prepared.map((one) => ({
    ...toRow(kind, one.id, one.flat, ids),
    ...(one.parent && { parent: one.parent }),
  }))
  await naming(kind, 'create', () => insertObjects(context.tx, context.realm.number, name, context.version, rows))
  for (const [field] of relationFields(kind)) {
    const elements = prepared.flatMap(({ id, flat }) =>
      elementsOf(id, flat[field] as unknown as Key[] | undefined, targetIds(kind, field, ids)),
    )
    if (elements.length) await insertRelation(context.tx, context.realm.number, name, field, elements)
  }
  for (const one of prepared) journal(context, 'create', name, one, {})
  return prepared.map(({ id, key, parent, flat }) => ({
    kind: name,
    id,
    version: context.version,
    key,
    ...(parent && { parent }),
    representation: assemble(kind, flat),
    references: referenceIds(kind, flat, ids),
  }))
}

/** Changes objects; those that already say so stay untouched. Gives them as they are then. Throws as `createObjects` does. */
export async function updateAll(
  context: WriteContext,
  name: KindName,
  updates: readonly Update[],
): Promise<LiveObject[]> {
  const kind = kinds[name]
  const changes = updates.map((update) => changeOf(context, kind, update))
  const touched = changes.filter((change) => change.touched)
  if (!touched.length) return changes.map(({ live }) => live)
  const ids = await resolveReferences(
    context,
    kind,
    touched.map(({ flat }) => flat),
  )
  const rows = touched.map(({ live, flat }) => toRow(kind, live.id, flat, ids))
  await naming(kind, 'update', () => updateObjects(context.tx, context.realm.number, name, context.version, rows))
  await writeRelations(context, kind, touched, ids)
  for (const { live, before } of touched) journal(context, 'update', name, live, before)
  return changes.map((change) => (change.touched ? afterwards(context, kind, change, ids) : change.live))
}

/** Deletes objects; what hangs on them is deleted with them, and journaled too. */
export async function deleteAll(context: WriteContext, kind: KindName, objects: readonly LiveObject[]): Promise<void> {
  if (!objects.length) return
  await journalDependants(context, kind, objects)
  await deleteObjects(
    context.tx,
    context.realm.number,
    kind,
    objects.map(({ id }) => id),
  )
  for (const object of objects)
    journal(context, 'delete', kind, object, digested(context.vault, kinds[kind], object.representation))
}

/** The flat fields of a live object with its secrets as keyed digests: what may be compared, shown and kept. */
export function digested(vault: Vault, kind: Kind, representation: Representation): FlatFields {
  return mapSecrets(kind, flatten(kind, representation), (secret) => vault.digest(vault.open(secret)))
}

/** The representation with its secrets in the clear. */
export function revealed(vault: Vault, kind: Kind, representation: Representation): Representation {
  return assemble(
    kind,
    mapSecrets(kind, flatten(kind, representation), (secret) => vault.open(secret)),
  )
}

/** The ids of the natural keys. Throws invalid when one does not exist. One statement. */
export async function idsOf(
  context: Context,
  kind: KindName,
  keys: readonly Key[],
): Promise<ReadonlyMap<string, string>> {
  const found = keys.length ? await selectKeys(context.tx, context.realm.number, kind, { keys }) : []
  const ids = new Map(found.map(({ id, key }) => [JSON.stringify(key), id]))
  for (const key of keys) {
    if (!ids.has(JSON.stringify(key))) throw failure('invalid', `There is no ${kinds[kind].title} ${key.at(-1)}`)
  }
  return ids
}

type ReferenceIds = ReadonlyMap<KindName, ReadonlyMap<string, string>>

/**
 * Ids of everything that the objects refer to; `own`: ids of objects of the kind that are made together, by key, which
 * may refer to each other. One statement per kind that is referred to.
 */
async function resolveReferences(
  context: Context,
  kind: Kind,
  objects: readonly FlatFields[],
  own: ReadonlyMap<string, string> = new Map(),
): Promise<ReferenceIds> {
  const wanted = new Map<KindName, Map<string, Key>>()
  const want = (to: KindName, key: Key) => {
    if (!wanted.has(to)) wanted.set(to, new Map())
    wanted.get(to)!.set(JSON.stringify(key), key)
  }
  for (const flat of objects) {
    for (const [path, value] of Object.entries(flat)) {
      const { field } = resolve(kind, path)
      if (value === null || !field.refersTo || field.computed) continue
      if (field.relation) for (const key of value as unknown as Key[]) want(field.refersTo, key)
      else want(field.refersTo, [value as string])
    }
  }
  const ids = new Map<KindName, ReadonlyMap<string, string>>()
  for (const [to, keys] of wanted) {
    const together = to === kind.name ? own : new Map<string, string>()
    const found = await idsOf(
      context,
      to,
      [...keys].filter(([key]) => !together.has(key)).map(([, key]) => key),
    )
    ids.set(to, new Map([...found, ...together]))
  }
  return ids
}

function toRow(kind: Kind, id: string, flat: FlatFields, ids: ReferenceIds): ObjectRow {
  const body = Object.fromEntries(
    Object.entries(flat).filter(([path, value]) => {
      const { field } = resolve(kind, path)
      return value !== null && path !== kind.naturalKey && !field.refersTo && !field.apart
    }),
  )
  return {
    id,
    name: String(flat[kind.naturalKey]),
    body: assemble(kind, body),
    references: referenceIds(kind, flat, ids),
  }
}

function referenceIds(kind: Kind, flat: FlatFields, ids: ReferenceIds): Record<string, string> {
  return Object.fromEntries(
    Object.entries(flat).flatMap(([path, value]) => {
      const { field } = resolve(kind, path)
      if (value === null || !field.refersTo || field.relation) return []
      return [[path, ids.get(field.refersTo)!.get(JSON.stringify([value]))!]]
    }),
  )
}

function alive(kind: Kind, { id, version, key, parent, body, references, relations }: StoredObject): LiveObject {
  const named: Representation = {}
  for (const [path, to] of Object.entries(references)) {
    const { name, key: member } = resolve(kind, path)
    if (member === undefined) named[name] = to.key.at(-1)!
    else named[name] = { ...(named[name] as Representation | undefined), [member]: to.key.at(-1)! }
  }
  for (const [name, keys] of Object.entries(relations)) {
    const field = kind.fields[name]!
    // Keycloak: a role that contains nothing says nothing of it, where a client without client scopes has an empty list.
    if (keys.length || field.type === 'set') named[name] = relationValue(field, keys)
  }
  return {
    kind: kind.name,
    id,
    version,
    key,
    ...(parent && { parent }),
    representation: { [kind.naturalKey]: key.at(-1)!, ...body, ...named },
    references: Object.fromEntries(Object.entries(references).map(([path, to]) => [path, to.id])),
  }
}

interface Change {
  readonly live: LiveObject
  /** The whole new state, secrets sealed. */
  readonly flat: FlatFields
  readonly before: FlatFields
  readonly relations: readonly { field: string; add: readonly Key[]; remove: readonly Key[] }[]
  readonly touched: boolean
}

/** What an update changes: the whole new state, and the values before of what differs. */
function changeOf({ vault }: Context, kind: Kind, { live, set, relations = {} }: Update): Change {
  const current = mapSecrets(kind, flatten(kind, live.representation), (secret) => vault.open(secret))
  const different = differences(kind, current, set)
  const flat: Record<string, Json> = { ...current, ...Object.fromEntries(different.map(({ path, to }) => [path, to])) }
  const before: Record<string, Json> = {}
  for (const { path, from } of different)
    before[path] = from !== null && isSecret(kind, path) ? vault.digest(String(from)) : from
  const moved = Object.entries(relations).map(([field, { add = [], remove = [] }]) => {
    const present = (current[field] ?? []) as unknown as Key[]
    return {
      field,
      present,
      add: missing(add, present),
      remove: remove.filter((key) => missing([key], present).length === 0),
    }
  })
  const real = moved.filter(({ add, remove }) => add.length || remove.length)
  for (const { field, present, add, remove } of real) {
    before[field] = present as unknown as Json
    flat[field] = [...missing(present, remove), ...add] as unknown as Json
  }
  return { live, flat: sealed(vault, kind, flat), before, relations: real, touched: different.length + real.length > 0 }
}

function afterwards(context: WriteContext, kind: Kind, { live, flat }: Change, ids: ReferenceIds): LiveObject {
  const key = [...live.key.slice(0, -1), String(flat[kind.naturalKey])]
  const references = referenceIds(kind, flat, ids)
  return { ...live, version: context.version, key, representation: assemble(kind, flat), references }
}

async function writeRelations(
  context: WriteContext,
  kind: Kind,
  changes: readonly Change[],
  ids: ReferenceIds,
): Promise<void> {
  for (const [field, { refersTo }] of relationFields(kind)) {
    const moved = changes.flatMap(({ live, relations }) =>
      relations.filter((one) => one.field === field).map((one) => ({ ...one, live })),
    )
    const gone = await idsOf(
      context,
      refersTo!,
      moved.flatMap(({ remove }) => remove),
    )
    const remove = moved.flatMap((one) => elementsOf(one.live.id, one.remove, gone))
    const add = moved.flatMap((one) => elementsOf(one.live.id, one.add, targetIds(kind, field, ids)))
    if (remove.length) await deleteRelation(context.tx, context.realm.number, kind.name, field, remove)
    if (add.length) await insertRelation(context.tx, context.realm.number, kind.name, field, add)
  }
}

function targetIds(kind: Kind, field: string, ids: ReferenceIds): ReadonlyMap<string, string> {
  return ids.get(kind.fields[field]!.refersTo!) ?? new Map()
}

function elementsOf(
  owner: string,
  keys: readonly Key[] | undefined,
  ids: ReadonlyMap<string, string>,
): RelationElement[] {
  return (keys ?? []).map((key) => ({ owner, target: ids.get(JSON.stringify(key))! }))
}

function sealed(vault: Vault, kind: Kind, flat: FlatFields): FlatFields {
  return mapSecrets(kind, flat, (secret) => vault.seal(secret))
}

function mapSecrets(kind: Kind, flat: FlatFields, change: (secret: string) => string): FlatFields {
  return Object.fromEntries(
    Object.entries(flat).map(([path, value]) => [
      path,
      typeof value === 'string' && isSecret(kind, path) ? change(value) : value,
    ]),
  )
}

/** SQLSTATE unique_violation, told in words: the natural key or the id is taken. */
async function naming(kind: Kind, operation: 'create' | 'update', write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    const { code, constraint, detail } = error as { code?: string; constraint?: string; detail?: string }
    if (code !== '23505') throw error
    const name = /=\((?:.*, )?(.*)\) already exists/.exec(detail ?? '')?.[1] ?? ''
    const message = kind.conflict[operation]
    if (message === undefined || constraint?.endsWith('_pkey')) {
      throw failure('duplicate', 'Duplicate resource error', { detail: `${kind.title} ${name}`, cause: error })
    }
    throw failure('conflict', message.replace('{name}', name), { cause: error })
  }
}

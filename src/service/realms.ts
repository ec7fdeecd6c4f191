// Realms: a new one with everything that every realm has, its administration client in master, renaming, the end of one.
import { randomUUID } from 'node:crypto'
import { adminClientObjects, adminClientOf, builtInObjects, MASTER } from '../kinds/built-in/index.ts'
import { type FlatFields, flatten, resolve } from '../kinds/compare.ts'
import type { Field, Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { type KindName, type Representation, relationFields } from '../kinds/kind.ts'
import { masked } from '../kinds/masked.ts'
import { creationOrder } from '../kinds/order.ts'
import { relationKeys } from '../kinds/relations.ts'
import { address, type TreeObject } from '../kinds/tree.ts'
import { insertRealm, lockRealms, type RealmRow } from '../store/realms.ts'
import { setDefaultRole } from '../store/role-mappings.ts'
import { tellOwnRealm } from './admin-events.ts'
import { authenticationFlows } from './authentication-flows.ts'
import { type Context, flush, journal, type WriteContext, writable } from './context.ts'
import { deleteAll } from './deletion.ts'
import { failure } from './errors.ts'
import { type LiveObject, listObjects } from './live.ts'
import { changed, createObjects, type NewObject, plain, type Update, updateAll, type Writers } from './objects.ts'
import { checkSettings } from './realm-checks.ts'
import { idsOf } from './references.ts'
import { digested } from './secrets.ts'

const writers = plain('realm')

/** The writers of the realm that the context is about. A realm is made by `createRealm`. */
export const realms: Writers = {
  ...writers,
  /** There is no other, and whoever looks for it by its name may know an old one: the filter counts for nothing. */
  list: (context) => writers.list(context, {}),
  async create() {
    throw new Error('a realm is made by createRealm')
  },
  async update(context, updates) {
    for (const update of updates) {
      const { set } = update
      refuseLockout(context, set)
      if ('realm' in set) checkName(set.realm)
      checkSettings(changed(update), new Set(Object.keys(set).map((path) => resolve(kinds.realm, path).name)))
    }
    const updated = await writers.update(context, updates)
    for (const { set } of updates) if ('realm' in set) await rename(context, String(set.realm))
    return updated
  },
  async delete(context, objects) {
    if (context.realm.name === MASTER) throw failure('invalid', "Can't remove master realm")
    await inMaster(context, async (master) => {
      const admin = await listObjects(master, 'client', { keys: [[adminClientOf(context.realm.name)]] })
      await deleteAll(master, 'client', admin)
    })
    for (const realm of objects)
      journal(context, 'delete', 'realm', realm, digested(context.vault, kinds.realm, realm.representation))
    await flush(context)
    await writers.delete({ ...context, entries: [] }, objects)
    const gone = { operationType: 'DELETE', resourceType: 'REALM', resourcePath: context.realm.name } as const
    await tellOwnRealm(context, gone)
  },
}

/**
 * Makes a realm with everything that every realm has, and its administration client in master; `ids` wishes ids for
 * built-in objects, by address. The number of statements is constant. Throws conflict when the name or the id is taken.
 */
export async function createRealm(
  context: Context,
  stated: Representation,
  options: { readonly id?: string | undefined; readonly ids?: ReadonlyMap<string, string> } = {},
): Promise<WriteContext> {
  const name = checkName(stated.realm)
  const [tree, ...builtIn] = builtInObjects(name)
  checkSettings(stated, new Set(Object.keys(stated)))
  const there = new Set(builtIn.map(({ kind, key }) => address(kind, key)))
  const full = filledUp(settableNow(stated, there), tree!.representation)
  const id = options.id ?? randomUUID()
  const number = await unlessTaken(name, () => insertRealm(context.tx, { id, name, version: 1, body: {} }))
  const realm: RealmRow = {
    number,
    id,
    name,
    enabled: full.enabled === true,
    notBefore: Number(full.notBefore ?? 0),
    adminEventsEnabled: full.adminEventsEnabled === true,
  }
  const fresh: WriteContext = {
    ...context,
    realm,
    version: 1,
    entries: [],
    people: [],
    events: [],
    event: {},
    flushed: 0,
  }
  // The creation of the realm is one entry of the journal: what it contains follows from the product's version.
  const quiet: WriteContext = { ...fresh, entries: [] }
  await createTree(quiet, builtIn, options.ids ?? new Map())
  await updateAll(quiet, 'realm', [settingsOf(fresh, full)])
  const byDefault = await idsOf(quiet, 'role', [[`default-roles-${name}`]])
  for (const role of byDefault.values()) await setDefaultRole(context.tx, number, role)
  if (name !== MASTER) await inMaster(context, (master) => createTree(master, adminClientObjects(name), new Map()))
  journal(fresh, 'create', 'realm', { id, key: [name] }, {})
  await tellOwnRealm(context, {
    operationType: 'CREATE',
    resourceType: 'REALM',
    resourcePath: name,
    representation: masked(kinds.realm, { ...full, id }),
  })
  return fresh
}

/** Runs the work in the master realm, which must be locked or is locked here: it comes first in the numeric order. */
async function inMaster(context: Context, work: (master: WriteContext) => Promise<void>): Promise<void> {
  const [realm] = await lockRealms(context.tx, [MASTER])
  if (!realm) return
  const master = await writable({ ...context, realm })
  await work(master)
  await flush(master)
}

/**
 * Makes objects of a tree as they are stated, without what the kinds' services add to a new object of a person. Relations
 * to what comes later in the order follow when everything is there.
 */
async function createTree(
  context: WriteContext,
  objects: readonly TreeObject[],
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  const made = new Map<string, LiveObject>()
  const follows: Update[] = []
  const byKind = Map.groupBy(objects, ({ kind }) => kind)
  for (const kind of creationOrder) {
    const wanted = (byKind.get(kind) ?? []).map((one): NewObject => {
      const parent = one.key.length > 1 ? made.get(address(one.key[0] as KindName, one.key.slice(1, -1))) : undefined
      return {
        id: ids.get(address(kind, one.key)),
        representation: withoutFollowing(kind, one.representation),
        ...(parent && { parent: { kind: parent.kind, id: parent.id, key: parent.key } }),
      }
    })
    if (!wanted.length) continue
    const create =
      kind === 'authenticationFlow'
        ? authenticationFlows.create
        : (c: WriteContext, o: readonly NewObject[]) => createObjects(c, kind, o)
    const stated = new Map((byKind.get(kind) ?? []).map((one) => [address(kind, one.key), one.representation]))
    for (const live of await create(context, wanted)) {
      const id = address(kind, live.key)
      made.set(id, live)
      follows.push(...followingOf(live, stated.get(id)!))
    }
  }
  for (const [kind, updates] of Map.groupBy(follows, ({ live }) => live.kind)) await updateAll(context, kind, updates)
}

/** The relations of a kind that name what comes later in the order of kinds. */
function following(kind: KindName): [name: string, field: Field][] {
  const place = (one: KindName) => creationOrder.indexOf(one)
  return relationFields(kinds[kind]).filter(([, { refersTo }]) => place(refersTo!) > place(kind))
}

function withoutFollowing(kind: KindName, representation: Representation): Representation {
  const names = following(kind).map(([name]) => name)
  return Object.fromEntries(Object.entries(representation).filter(([name]) => !names.includes(name)))
}

function followingOf(live: LiveObject, stated: Representation): Update[] {
  const relations = following(live.kind).flatMap(([name, field]) =>
    stated[name] == null ? [] : [[name, { add: relationKeys(field, stated[name]) }]],
  )
  return relations.length ? [{ live, set: {}, relations: Object.fromEntries(relations) }] : []
}

/** The settings with what they leave out, maps key by key. */
function filledUp(stated: Representation, defaults: Representation): Representation {
  const full = { ...defaults, ...stated }
  for (const [name, { type }] of Object.entries(kinds.realm.fields)) {
    const [own, usual] = [stated[name], defaults[name]]
    if (type === 'map' && own && usual) full[name] = { ...(usual as Representation), ...(own as Representation) }
  }
  return full
}

/** The settings without what refers to objects that the realm does not have yet: whoever makes these sets it with them. */
function settableNow(stated: Representation, there: ReadonlySet<string>): Representation {
  const exists = (to: KindName, name: Json) => there.has(address(to, [String(name)]))
  return Object.fromEntries(
    Object.entries(stated).flatMap(([name, value]): [string, Json][] => {
      const { refersTo, relation, computed } = kinds.realm.fields[name] ?? {}
      if (!refersTo || computed) return [[name, value]]
      if (relation) return [[name, ((value ?? []) as string[]).filter((one) => exists(refersTo, one))]]
      return exists(refersTo, value) ? [[name, value]] : []
    }),
  )
}

function settingsOf(context: WriteContext, full: Representation) {
  const live: LiveObject = {
    kind: 'realm',
    id: context.realm.id,
    version: 1,
    key: [context.realm.name],
    representation: { realm: context.realm.name },
    references: {},
  }
  const flat = flatten(kinds.realm, full)
  const relations = Object.fromEntries(
    relationFields(kinds.realm).map(([name, field]) => [name, { add: relationKeys(field, full[name] ?? []) }]),
  )
  const set = Object.fromEntries(Object.entries(flat).filter(([path]) => !(path in relations)))
  return { live, set, relations }
}

/** Without master, by that name and enabled, nobody administers anything any more. */
function refuseLockout({ realm }: WriteContext, set: FlatFields): void {
  if (realm.name !== MASTER) return
  if ('realm' in set && set.realm !== MASTER) throw failure('invalid', "Can't rename master realm")
  if (set.enabled === false || set.enabled === null) throw failure('invalid', "Can't disable master realm")
}

async function rename(context: WriteContext, name: string): Promise<void> {
  const old = context.realm.name
  if (name === old) return
  // Keycloak: the administration client and the pages of built-in clients carry the realm's name.
  await inMaster(context, async (master) => {
    const admin = await listObjects(master, 'client', { keys: [[adminClientOf(old)]] })
    await updateAll(
      master,
      'client',
      admin.map((live) => ({ live, set: { clientId: adminClientOf(name) } })),
    )
  })
  const moved = await listObjects(context, 'client', {
    keys: [['account'], ['account-console'], ['security-admin-console']],
  })
  await updateAll(
    context,
    'client',
    moved.map((live) => ({ live, set: movedUris(live, old, name) })),
  )
}

function movedUris({ representation }: LiveObject, old: string, name: string): Representation {
  const move = (uri: unknown) =>
    String(uri).replace(`/realms/${old}/`, `/realms/${name}/`).replace(`/admin/${old}/`, `/admin/${name}/`)
  return {
    ...(representation.baseUrl !== undefined && { baseUrl: move(representation.baseUrl) }),
    redirectUris: ((representation.redirectUris ?? []) as string[]).map(move),
  }
}

/** A realm's name is part of its address. Keycloak: these characters are refused. */
function checkName(name: unknown): string {
  if (typeof name !== 'string' || name === '') throw failure('invalid', 'Realm name cannot be empty')
  const reserved = /[:/?#[\]@!$&'()*+,;=%\s"<>\\^`{|}]/.exec(name)
  if (reserved) throw failure('malformed', `Character '${reserved[0]}' not allowed.`)
  return name
}

async function unlessTaken<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const { code, constraint } = error as { code?: string; constraint?: string }
    if (code !== '23505') throw error
    throw failure(
      'conflict',
      constraint === 'realm_id_key' ? 'Duplicate resource error' : `Realm ${name} already exists`,
      { cause: error },
    )
  }
}

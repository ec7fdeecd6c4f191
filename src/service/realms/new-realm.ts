// A new realm, with everything that every realm has.
import { randomUUID } from 'node:crypto'
import {
  ANY_REALM,
  adminClientObjects,
  builtInObjects,
  defaultRoleOf,
  filled,
  MASTER,
} from '../../kinds/built-in/index.ts'
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { type KindName, relationFields } from '../../kinds/kind.ts'
import { masked } from '../../kinds/masked.ts'
import { relationKeys } from '../../kinds/relations.ts'
import { address } from '../../kinds/tree.ts'
import { once } from '../../lib/timing/once.ts'
import { insertRealm, rowOf } from '../../store/realms.ts'
import { setDefaultRole } from '../../store/users/role-mappings.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { tellOwnRealm } from '../journal/admin-events.ts'
import { journal } from '../journal/journal.ts'
import type { LiveObject } from '../objects/live.ts'
import { updateAll } from '../objects/objects.ts'
import { inMaster } from './master.ts'
import { checkRealmName, checkSettings } from './realm-checks.ts'
import { grantToCreator, powerOfCreator } from './realm-creator.ts'
import { mirrored } from './realm-mirrors.ts'
import { createInstance, instance, type Template, templateOf } from './template.ts'

const masterContent = once(() => contentOf(MASTER))
const otherContent = once(() => contentOf(ANY_REALM))
const adminClient = once(() => templateOf(adminClientObjects(ANY_REALM)))

/**
 * Makes a realm with everything that every realm has, and its administration client in master; `ids` wishes ids for
 * built-in objects, by address. Who has no power over all realms gets that over it. The number of statements is constant. Throws conflict when the name or the id is taken.
 */
export async function createRealm(
  context: Context,
  stated: Representation,
  options: { readonly id?: string | undefined; readonly ids?: ReadonlyMap<string, string> } = {},
): Promise<WriteContext> {
  const name = checkRealmName(stated.realm)
  checkSettings(stated, new Set(Object.keys(stated)), context.blacklists)
  const { settings, objects } = name === MASTER ? masterContent() : otherContent()
  const content = instance(objects, name, options.ids)
  const made = new Map(content.made.map(({ kind, key, id }) => [address(kind, key), id]))
  const own = { ...stated, ...mirrored(stated) }
  const full = filledUp(settableNow(own, made), JSON.parse(filled(settings, name)) as Representation)
  const id = options.id ?? randomUUID()
  const number = await unlessTaken(name, () => insertRealm(context.tx, { id, name, version: 1, body: {} }))
  const realm = rowOf({ number, id, name }, full)
  const fresh: WriteContext = {
    ...context,
    realm,
    power: powerOfCreator(context.power, name),
    version: 1,
    entries: [],
    people: [],
    became: new Map(),
    events: [],
    event: {},
    flushed: 0,
  }
  await createInstance(fresh, content)
  // The creation of the realm is one entry of the journal: what it contains follows from the product's version.
  await updateAll({ ...fresh, entries: [], made }, 'realm', [settingsOf(fresh, full)])
  await setDefaultRole(context.tx, number, made.get(address('role', [defaultRoleOf(name)]))!)
  if (name !== MASTER)
    await inMaster(context, async (master) => {
      const client = instance(adminClient(), name)
      await createInstance(master, client)
      for (const one of client.made) journal(master, 'create', one.kind, one, {})
      await grantToCreator(master, name)
    })
  journal(fresh, 'create', 'realm', { id, key: [name] }, {})
  await tellOwnRealm(context, {
    operationType: 'CREATE',
    resourceType: 'REALM',
    resourcePath: name,
    representation: masked(kinds.realm, { ...full, id }),
  })
  return fresh
}

/** What a new realm has: its settings, as a text to fill in, and its objects. */
function contentOf(realm: string): { settings: string; objects: Template } {
  const [own, ...objects] = builtInObjects(realm)
  return { settings: JSON.stringify(own!.representation), objects: templateOf(objects) }
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

/** The settings without what is set when there is content: whoever makes this sets them with it. */
function settableNow(stated: Representation, there: Pick<ReadonlyMap<string, string>, 'has'>): Representation {
  const exists = (to: KindName, name: Json) => there.has(address(to, [String(name)]))
  return Object.fromEntries(
    Object.entries(stated).flatMap(([name, value]): [string, Json][] => {
      const { refersTo, relation, computed, late } = kinds.realm.fields[name] ?? {}
      if (!refersTo || computed) return late ? [] : [[name, value]]
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

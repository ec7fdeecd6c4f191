// The creation of realms, with the objects that every realm has.
import { randomUUID } from 'node:crypto'
import {
  ANY_REALM,
  adminClientObjects,
  builtInObjects,
  fillTemplate,
  getDefaultRoleName,
  MASTER,
} from '../../kinds/built-in/index.ts'
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { type KindName, relationFields } from '../../kinds/kind.ts'
import { maskRepresentation } from '../../kinds/mask-representation.ts'
import { toRelationKeys } from '../../kinds/relations.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { getErrorCode } from '../../lib/error-code.ts'
import { memoize } from '../../lib/timing/memoize.ts'
import { insertRealm, toRealmRow } from '../../store/realms.ts'
import { setDefaultRole } from '../../store/users/role-mappings.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { recordEventInOwnRealm } from '../journal/admin-events.ts'
import { recordEntry } from '../journal/journal.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { updateLiveObjects } from '../objects/plain-writers.ts'
import type { ObjectUpdate } from '../objects/writers.ts'
import { syncAttributes } from './attribute-settings.ts'
import { addCreatorPermissions, grantCreatorRoles, runInMaster } from './master-realm.ts'
import { createTemplate, insertInstance, instantiateTemplate, type ObjectTemplate } from './object-template.ts'
import { checkRealmName, checkRealmSettings } from './realm-checks.ts'

const masterTemplate = memoize(() => createRealmTemplate(MASTER))
const realmTemplate = memoize(() => createRealmTemplate(ANY_REALM))
const adminClientTemplate = memoize(() => createTemplate(adminClientObjects(ANY_REALM)))

/**
 * Creates a realm with its built-in objects, and its admin client in master. An actor who does not administer all realms
 * gets admin permissions on it. `ids` are requested ids of built-in objects, by address. The number of statements is
 * constant.
 *
 * @throws conflict where the name or the id is taken.
 */
export async function createRealm(
  context: Context,
  declared: Representation,
  options: { readonly id?: string | undefined; readonly ids?: ReadonlyMap<string, string> } = {},
): Promise<WriteContext> {
  const name = checkRealmName(declared.realm)
  checkRealmSettings(declared, new Set(Object.keys(declared)), context.passwordBlacklists)
  const { settings, objects } = name === MASTER ? masterTemplate() : realmTemplate()
  const content = instantiateTemplate(objects, name, options.ids)
  const createdIds = new Map(content.objects.map(({ kind, key, id }) => [formatAddress(kind, key), id]))
  const settable = withoutLateSettings({ ...declared, ...syncAttributes(declared) }, createdIds)
  const complete = addDefaultSettings(settable, JSON.parse(fillTemplate(settings, name)))
  const id = options.id ?? randomUUID()
  const number = await withRealmConflictErrors(name, () => insertRealm(context.tx, { id, name, version: 1, body: {} }))
  const realm = toRealmRow({ number, id, name }, complete)
  const created: WriteContext = {
    ...context,
    realm,
    permissions: addCreatorPermissions(context.permissions, name),
    version: 1,
    entries: [],
    userEntries: [],
    newValues: new Map(),
    adminEvents: [],
    adminEvent: {},
    flushedEntries: 0,
  }
  await insertInstance(created, content)
  // The creation is one journal entry: the built-in objects follow from the version of the product.
  await updateLiveObjects({ ...created, entries: [], createdIds }, 'realm', [toSettingsUpdate(created, complete)])
  await setDefaultRole(context.tx, number, createdIds.get(formatAddress('role', [getDefaultRoleName(name)]))!)
  if (name !== MASTER) await runInMaster(context, (master) => createAdminClient(master, name))
  recordEntry(created, { operation: 'create', kind: 'realm', object: { id, key: [name] }, fields: {} })
  await recordEventInOwnRealm(context, {
    operationType: 'CREATE',
    resourceType: 'REALM',
    resourcePath: name,
    representation: maskRepresentation(kinds.realm, { ...complete, id }),
  })
  return created
}

async function createAdminClient(master: WriteContext, realm: string): Promise<void> {
  const instance = instantiateTemplate(adminClientTemplate(), realm)
  await insertInstance(master, instance)
  for (const object of instance.objects)
    recordEntry(master, { operation: 'create', kind: object.kind, object, fields: {} })
  await grantCreatorRoles(master, realm)
}

/** Returns the default settings of a realm, as a JSON template, and the template of its built-in objects. */
function createRealmTemplate(name: string): { settings: string; objects: ObjectTemplate } {
  const [realm, ...objects] = builtInObjects(name)
  return { settings: JSON.stringify(realm!.representation), objects: createTemplate(objects) }
}

/** Adds default settings to the declared ones; maps are merged by key. */
function addDefaultSettings(declared: Representation, defaults: Representation): Representation {
  const complete = { ...defaults, ...declared }
  for (const [name, { type }] of Object.entries(kinds.realm.fields)) {
    if (type === 'map' && declared[name] && defaults[name])
      complete[name] = { ...readObject(defaults[name]), ...readObject(declared[name]) }
  }
  return complete
}

/**
 * Returns the settings that can be set on creation. Late fields, and references to objects other than the built-in ones,
 * are set together with those objects.
 */
function withoutLateSettings(
  declared: Representation,
  builtInIds: Pick<ReadonlyMap<string, string>, 'has'>,
): Representation {
  const exists = (kind: KindName, name: Json) => builtInIds.has(formatAddress(kind, [String(name)]))
  return Object.fromEntries(
    Object.entries(declared).flatMap(([name, value]): [string, Json][] => {
      const { refersTo, relation, computed, late } = kinds.realm.fields[name] ?? {}
      if (!refersTo || computed) return late ? [] : [[name, value]]
      if (relation) return [[name, readTexts(value).filter((element) => exists(refersTo, element))]]
      return exists(refersTo, value) ? [[name, value]] : []
    }),
  )
}

function toSettingsUpdate({ realm }: WriteContext, settings: Representation): ObjectUpdate {
  const live: LiveObject = {
    kind: 'realm',
    id: realm.id,
    version: 1,
    key: [realm.name],
    representation: { realm: realm.name },
    references: {},
  }
  const relations = Object.fromEntries(
    relationFields(kinds.realm).map(([name, field]) => [name, { add: toRelationKeys(field, settings[name] ?? []) }]),
  )
  const set = Object.fromEntries(
    Object.entries(flatten(kinds.realm, settings)).filter(([path]) => !(path in relations)),
  )
  return { live, set, relations }
}

async function withRealmConflictErrors<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    // SQLSTATE unique_violation.
    if (getErrorCode(error) !== '23505') throw error
    const constraint = typeof error === 'object' && error !== null && 'constraint' in error && error.constraint
    const message = constraint === 'realm_id_key' ? 'Duplicate resource error' : `Realm ${name} already exists`
    throw failure('conflict', message, { cause: error })
  }
}

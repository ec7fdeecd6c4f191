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
import { memoize } from '../../lib/timing/memoize.ts'
import { insertRealm, toRealmRow } from '../../store/realms.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { recordEventInOwnRealm } from '../journal/admin-events.ts'
import { recordEntry, toWriteContext } from '../journal/journal.ts'
import { withConflictErrors } from '../objects/conflicts.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { listRelationElements, toObjectRow } from '../objects/object-rows.ts'
import { checkPrivilegesOfUpdates } from '../objects/privilege-checks.ts'
import { resolveReferences, toReferenceIds } from '../objects/references.ts'
import { resolveUpdate } from '../objects/resolved-updates.ts'
import type { ObjectUpdate } from '../objects/writers.ts'
import { syncAttributes } from './attribute-settings.ts'
import { addCreatorPermissions, grantCreatorRoles, runInMaster } from './master-realm.ts'
import {
  createTemplate,
  insertInstance,
  instantiateTemplate,
  type ObjectTemplate,
  type TemplateInstance,
} from './object-template.ts'
import { checkRealmName, checkRealmSettings } from './realm-checks.ts'

const masterTemplate = memoize(() => createRealmTemplate(MASTER))
const realmTemplate = memoize(() => createRealmTemplate(ANY_REALM))
const adminClientTemplate = memoize(() => createTemplate(adminClientObjects(ANY_REALM)))

/** The number and the ids of a new realm and its objects. */
interface NewRealmIds {
  /** Reserved by `reserveRealmNumber`. */
  readonly number: number
  readonly id?: string | undefined
  /** Requested ids of built-in objects, by address. */
  readonly ids?: ReadonlyMap<string, string>
}

/**
 * Creates a realm with its built-in objects, and its admin client in master. An actor who does not administer all realms
 * gets admin permissions on it. The number of statements is constant.
 *
 * @throws conflict where the name or the id is taken.
 */
export async function createRealm(
  context: Context,
  declared: Representation,
  { number, id = randomUUID(), ids }: NewRealmIds,
): Promise<WriteContext> {
  const name = checkRealmName(declared.realm)
  checkRealmSettings(declared, new Set(Object.keys(declared)), context.passwordBlacklists)
  const { settings, objects } = name === MASTER ? masterTemplate() : realmTemplate()
  const content = instantiateTemplate(objects, name, ids)
  const createdIds = new Map(content.objects.map(({ kind, key, id }) => [formatAddress(kind, key), id]))
  const settable = withoutLateSettings({ ...declared, ...syncAttributes(declared) }, createdIds)
  const complete = addDefaultSettings(settable, JSON.parse(fillTemplate(settings, name)))
  const realm = toRealmRow({ number, id, name }, complete)
  const permissions = addCreatorPermissions(context.permissions, name)
  const created = toWriteContext({ ...context, realm, permissions })
  // The creation is one journal entry: the built-in objects follow from the version of the product.
  await insertWithContent({ ...created, entries: [], knownIds: createdIds }, complete, content)
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

/** Inserts a realm with its settings and its built-in objects. Throws forbidden, and conflict as `createRealm` does. One statement. */
async function insertWithContent(
  context: WriteContext,
  settings: Representation,
  { rows }: TemplateInstance,
): Promise<void> {
  const { tx, version, knownIds } = context
  const { number, id, name } = context.realm
  const kind = kinds.realm
  const update = resolveUpdate(context, kind, toSettingsUpdate(context, settings))
  const { fields } = update
  const ids = await resolveReferences(context, kind, { objects: [{ key: [name], fields }] })
  const relations = listRelationElements(kind, [{ id, key: [name], fields }], ids)
  const realm = {
    ...toObjectRow(kind, { id, fields, references: toReferenceIds(kind, fields, ids) }),
    defaultRole: knownIds!.get(formatAddress('role', [getDefaultRoleName(name)]))!,
  }
  const added = relations.map(({ field, elements }) => ({ kind: kind.name, field, elements: JSON.stringify(elements) }))
  const content = { version, rows: { ...rows, relations: [...rows.relations, ...added] } }
  await withConflictErrors(kinds.client, 'create', () =>
    withRealmConflictErrors({ id, name }, () => insertRealm(tx, number, { realm, ...content })),
  )
  await checkPrivilegesOfUpdates(context, kind, { updates: [update], added: relations, removed: [] })
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

/**
 * Adds default settings to the declared ones; maps are merged by key. What is declared in one of two exclusive lists is left out of the
 * default of the other.
 */
function addDefaultSettings(declared: Representation, defaults: Representation): Representation {
  const complete = { ...defaults, ...declared }
  for (const [name, { type, exclusiveWith }] of Object.entries(kinds.realm.fields)) {
    if (type === 'map' && declared[name] && defaults[name])
      complete[name] = { ...readObject(defaults[name]), ...readObject(declared[name]) }
    if (exclusiveWith !== undefined && !declared[name]) {
      const exclusive = readTexts(declared[exclusiveWith])
      complete[name] = readTexts(complete[name]).filter((element) => !exclusive.includes(element))
    }
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

async function withRealmConflictErrors<T>(
  { id, name }: { readonly id: string; readonly name: string },
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const constraint = typeof error === 'object' && error !== null && 'constraint' in error && error.constraint
    if (constraint === 'realm_id_key') {
      const reason = `another realm has the id ${id}: remove the id, or declare another one`
      throw failure('conflict', 'Duplicate resource error', { reason, hidesReason: true, cause: error })
    }
    if (constraint === 'realm_name_key') throw failure('conflict', `Realm ${name} already exists`, { cause: error })
    throw error
  }
}

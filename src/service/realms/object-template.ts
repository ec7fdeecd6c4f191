// Templates of the objects that every new realm has. They are prepared once per process as the rows to insert, with
// placeholders for the realm's name and for ids.
import { randomUUID } from 'node:crypto'
import { fillTemplate, idPlaceholder } from '../../kinds/built-in/index.ts'
import { addDefaults, type FlatFields, flatten } from '../../kinds/compare.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { isKindName, kinds } from '../../kinds/index.ts'
import { readObjects } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { formatAddress, type TreeObject } from '../../kinds/tree.ts'
import { toRecordset } from '../../store/objects.ts'
import { insertRealmContent, type RealmContentRows } from '../../store/realms.ts'
import type { WriteContext } from '../context/context.ts'
import { sendWrite } from '../context/send-write.ts'
import { withConflictErrors } from '../objects/conflicts.ts'
import { listRelationElements, toObjectRow } from '../objects/object-rows.ts'
import { type ReferenceIds, toReferenceIds } from '../objects/references.ts'
import { EXECUTIONS, type ExecutionsEdit, toExecutionRows } from './authentication-executions.ts'

/** Objects as the rows to insert, with placeholders for the name of their realm and for ids. */
export interface ObjectTemplate {
  /** The kind and key of each object, as JSON. The index of an object is the number of its id placeholder. */
  readonly keys: string
  /** The number of id placeholders: those of the objects, then those of executions. */
  readonly idCount: number
  readonly rows: RealmContentRows
}

/** A filled-in template: its objects with their ids, and the rows to insert. */
export interface TemplateInstance {
  readonly objects: readonly (ObjectKey & { readonly id: string })[]
  readonly rows: RealmContentRows
}

interface ObjectKey {
  readonly kind: KindName
  readonly key: Key
}

/** An object of a template, with placeholders for its id and that of its parent. */
interface TemplateObject extends ObjectKey {
  readonly id: string
  readonly parent: { readonly kind: KindName; readonly id: string } | undefined
  readonly fields: FlatFields
}

/**
 * Returns the template of objects whose realm is named `ANY_REALM`. The writers of the kinds are not involved: the objects
 * get the defaults of their kinds, but nothing that writers generate. They must not contain secrets, which would be the
 * same in every realm.
 */
export function createTemplate(objects: readonly TreeObject[]): ObjectTemplate {
  const sorted = creationOrder.flatMap((kind) => objects.filter((object) => object.kind === kind))
  const ids = assignPlaceholders(sorted)
  const templateObjects = sorted.map((object) => toTemplateObject(object, ids))
  const byKind = [...Map.groupBy(templateObjects, ({ kind }) => kind)]
  const edits = listExecutionsEdits(templateObjects)
  const idsOf = (kind: KindName) => ids.get(kind) ?? new Map<string, string>()
  const executions = toExecutionRows(edits, idsOf('authenticationFlow'), idsOf('authenticatorConfig'))
  return {
    keys: JSON.stringify(sorted.map(({ kind, key }) => ({ kind, key }))),
    idCount: sorted.length + executions.length,
    rows: {
      objects: byKind.map(([kind, group]) => ({
        kind,
        rows: toRecordset(
          kind,
          group.map((object) => toRow(object, ids)),
        ),
      })),
      ...(executions.length && { executions: JSON.stringify(executions) }),
      relations: byKind.flatMap(([kind, group]) =>
        listRelationElements(kinds[kind], group, ids).map(({ field, elements }) => ({
          kind,
          field,
          elements: JSON.stringify(elements),
        })),
      ),
    },
  }
}

/** Returns the id placeholders of objects, by kind and key as JSON. */
function assignPlaceholders(objects: readonly TreeObject[]): ReferenceIds {
  const byKind = Map.groupBy(
    objects.map(({ kind, key }, index) => ({ kind, key: JSON.stringify(key), id: idPlaceholder(index) })),
    ({ kind }) => kind,
  )
  return new Map([...byKind].map(([kind, group]) => [kind, new Map(group.map(({ key, id }) => [key, id]))]))
}

function toTemplateObject({ kind, key, representation }: TreeObject, ids: ReferenceIds): TemplateObject {
  const idOf = (kind: KindName, key: Key) => ids.get(kind)?.get(JSON.stringify(key)) ?? ''
  const [parentKind = '', ...parentKey] = key.slice(0, -1)
  return {
    kind,
    key,
    id: idOf(kind, key),
    fields: addDefaults(kinds[kind], flatten(kinds[kind], representation)),
    parent: isKindName(parentKind) ? { kind: parentKind, id: idOf(parentKind, parentKey) } : undefined,
  }
}

function toRow({ kind, id, fields, parent }: TemplateObject, ids: ReferenceIds) {
  const references = toReferenceIds(kinds[kind], fields, ids)
  return { ...toObjectRow(kinds[kind], { id, fields, references }), ...(parent && { parent }) }
}

/** Lists the executions of flows. Their id placeholders follow those of the objects. */
function listExecutionsEdits(objects: readonly TemplateObject[]): ExecutionsEdit[] {
  let count = objects.length
  return objects.flatMap(({ id, key, fields }) => {
    const steps = readObjects(fields[EXECUTIONS]).map((step) => ({ ...step, id: idPlaceholder(count++) }))
    return steps.length ? [{ flow: { id, key }, steps, existing: [] }] : []
  })
}

/** Fills in the name of a realm and ids, which are random except for those in `ids`, by address of the object. */
export function instantiateTemplate(
  { keys, idCount, rows }: ObjectTemplate,
  realm: string,
  ids: ReadonlyMap<string, string> = new Map(),
): TemplateInstance {
  const objectKeys: readonly ObjectKey[] = JSON.parse(fillTemplate(keys, realm))
  const objects = objectKeys.map(({ kind, key }) => ({
    kind,
    key,
    id: ids.get(formatAddress(kind, key)) ?? randomUUID(),
  }))
  const executionIds = Array.from({ length: idCount - objects.length }, () => randomUUID())
  const allIds = [...objects.map(({ id }) => id), ...executionIds]
  const fill = (text: string) => fillTemplate(text, realm, allIds)
  return {
    objects,
    rows: {
      objects: rows.objects.map(({ kind, rows }) => ({ kind, rows: fill(rows) })),
      ...(rows.executions !== undefined && { executions: fill(rows.executions) }),
      relations: rows.relations.map(({ kind, field, elements }) => ({ kind, field, elements: fill(elements) })),
    },
  }
}

/** Sends the insert of the objects into the context's realm. Throws conflict or duplicate where a name or an id is taken. One statement. */
export function insertInstance(context: WriteContext, { rows }: TemplateInstance): Promise<void> {
  const { tx, realm, version } = context
  return sendWrite(
    context,
    withConflictErrors(kinds.client, 'create', () => insertRealmContent(tx, realm.number, { version, rows })),
  )
}

// Objects in the form of REST: some references by id, secrets in plain text, children nested.
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readObject } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import { listNestedChildren } from '../../kinds/nested-schema.ts'
import type { Context } from '../context/context.ts'
import { openSecrets } from '../context/secrets.ts'
import type { Vault } from '../context/vault.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { writers } from './index.ts'

/** Converts an object to its representation in REST. */
export type ToWire = (vault: Vault, live: LiveObject) => Representation

/** Representations by object: reads find the same object in the cache until its realm changes. Their values are frozen. */
const wireRepresentations = new WeakMap<LiveObject, Representation>()

/** Returns the id and the fields of an object, secrets in plain text. Kinds that differ have a function of their own. */
export const toWireRepresentation: ToWire = (vault, live) => {
  const representation = wireRepresentations.get(live) ?? createWireRepresentation(vault, live)
  wireRepresentations.set(live, representation)
  return { ...representation }
}

function createWireRepresentation(
  vault: Vault,
  { kind: name, id, representation, references }: LiveObject,
): Representation {
  const kind = kinds[name]
  const fields = openSecrets(vault, kind, representation)
  for (const field of Object.keys(fields)) if (kind.fields[field]?.isSeparate) delete fields[field]
  const values: Representation = { ...getConstantFields(kind), ...withReferenceIds(kind, fields, references) }
  // Responses have the fields in the order of the kind.
  const result: Representation = { [kind.idField]: id }
  for (const name of [...Object.keys(kind.fields), ...Object.keys(values)])
    if (name in values) result[name] = Object.freeze(values[name]!)
  return result
}

/** Converts objects of one kind, with their nested children. Statements: one per kind of children. */
export async function toWireRepresentations(
  context: Context,
  objects: readonly LiveObject[],
  toWire: ToWire,
): Promise<Representation[]> {
  const [first] = objects
  if (!first) return []
  const representations = new Map(objects.map((live) => [live.id, toWire(context.vault, live)]))
  for (const [field, { name }] of listNestedChildren(kinds[first.kind])) {
    const ids = objects.map(({ id }) => id)
    const children = await writers[name].list(context, { parents: { kind: first.kind, ids } })
    for (const [parent, ownChildren] of Map.groupBy(children, (child) => child.parent!.id))
      representations.get(parent)![field] = ownChildren.map((child) => toWireRepresentation(context.vault, child))
  }
  return [...representations.values()]
}

const constantFields = new Map<Kind, Representation>()

/** Returns the fields that are present even if the store has no value: maps with defaults, and computed fields that never change. */
function getConstantFields(kind: Kind): Representation {
  const cached = constantFields.get(kind)
  if (cached) return cached
  const fields: Representation = {}
  for (const [name, value] of Object.entries(kind.defaults({}))) {
    if (kind.fields[name]?.computed) fields[name] = value
    else if (kind.fields[name]?.type === 'map') fields[name] = {}
  }
  constantFields.set(kind, fields)
  return fields
}

function withReferenceIds(
  kind: Kind,
  representation: Representation,
  references: LiveObject['references'],
): Representation {
  const result = { ...representation }
  for (const [path, id] of Object.entries(references)) {
    const { name, key, field } = resolveField(kind, path)
    if (field.wire !== 'id' || !(name in result)) continue
    result[name] = key === undefined ? id : { ...readObject(result[name]), [key]: id }
  }
  return result
}

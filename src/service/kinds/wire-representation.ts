// An object as it shows on the wire: references by id where their field says so, secrets in the clear, children inside.
import { flatten, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'
import { listNestedChildren } from '../../kinds/nested-schema.ts'
import type { Context } from '../context/context.ts'
import { openSecrets } from '../context/secrets.ts'
import type { Vault } from '../context/vault.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { writers } from './index.ts'

/** Shows one object. What is special about a kind stands beside its resource. */
export type ToWire = (vault: Vault, live: LiveObject) => Representation

/** Shows an object: its id and its fields. Secrets stand in the clear. */
export const toWireRepresentation: ToWire = (vault, { kind, id, representation, references }) => ({
  [kinds[kind].idField]: id,
  ...always(kinds[kind]),
  ...withIds(kinds[kind], openSecrets(vault, kinds[kind], onTheWire(kinds[kind], representation)), references),
})

function onTheWire(kind: Kind, representation: Representation): Representation {
  return Object.fromEntries(Object.entries(representation).filter(([name]) => !kind.fields[name]?.isSeparate))
}

/** Shows objects with their children inside. Statements: one per kind of children. */
export async function toWireRepresentations(
  context: Context,
  kind: KindName,
  objects: readonly LiveObject[],
  show: ToWire,
): Promise<Representation[]> {
  const shown = new Map(objects.map((live) => [live.id, show(context.vault, live)]))
  if (!objects.length) return []
  for (const [field, child] of listNestedChildren(kinds[kind])) {
    const ids = objects.map(({ id }) => id)
    const children = await writers[child.name].list(context, { parents: { kind, ids } })
    for (const [owner, own] of Map.groupBy(children, ({ parent }) => parent!.id)) {
      shown.get(owner)![field] = own.map((one) => toWireRepresentation(context.vault, one))
    }
  }
  return [...shown.values()]
}

/** What shows whatever is kept: maps that creation gives, be they empty, and computed fields that are always the same. */
function always(kind: Kind): Representation {
  const shown: Representation = {}
  for (const [name, value] of Object.entries(kind.defaults({}))) {
    if (kind.fields[name]?.computed) shown[name] = value
    else if (kind.fields[name]?.type === 'map') shown[name] = {}
  }
  return shown
}

function withIds(kind: Kind, representation: Representation, references: LiveObject['references']): Representation {
  const flat = flatten(kind, representation)
  const shown = { ...representation }
  for (const path of Object.keys(flat)) {
    const { name, key, field } = resolveField(kind, path)
    const id = references[path]
    if (field.wire !== 'id' || id === undefined) continue
    shown[name] = key === undefined ? id : { ...(shown[name] as Representation), [key]: id }
  }
  return shown
}

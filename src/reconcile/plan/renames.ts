// Resolves `renamedFrom`: the live object under the former name is planned under its new name, so that the plan renames it, and so
// are references to it and its children. Pure.
import type { FlatFields } from '../../kinds/compare.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { describeObject, formatAddress } from '../../kinds/tree.ts'
import type { Note } from '../model/action.ts'
import { toFlatFields } from '../model/declared-digest.ts'
import type { DeclaredFields, ObjectDeclaration, PlanInput } from '../model/plan-input.ts'
import { createKeyLookup, type KeyLookup, listRenames, renameReferences } from '../model/renames.ts'
import { listFields } from './binding.ts'

/**
 * Returns the input with renamed objects under their new keys, and notes about references that still use a former name. A rename
 * has no effect if the former name is not live, or the new one is.
 */
export function resolveRenames<Input extends PlanInput>(input: Input): { input: Input; notes: Note[] } {
  const live = new Set(input.live.map(({ kind, key }) => formatAddress(kind, key)))
  const renames = listRenames(input.declared.values()).filter(
    ({ kind, key, former }) =>
      !live.has(formatAddress(kind, key)) &&
      live.has(formatAddress(kind, former)) &&
      !input.declared.has(formatAddress(kind, former)),
  )
  if (!renames.length) return { input, notes: [] }
  const lookUp = createKeyLookup(renames.map(({ kind, key, former }) => [kind, former, key]))
  const notes: Note[] = []
  const rename = <T extends { kind: KindName; key: Key; fields: FlatFields }>(object: T): T => ({
    ...object,
    key: lookUp(object.kind, object.key),
    fields: renameReferences(object, object.fields, lookUp),
  })
  return {
    input: {
      ...input,
      live: input.live.map(rename),
      managed: input.managed.map(rename),
      otherSources: input.otherSources.map(rename),
      declared: new Map([...input.declared].map(([id, object]) => [id, renameDeclaration(object, lookUp, notes)])),
    },
    notes,
  }
}

function renameDeclaration(declaration: ObjectDeclaration, lookUp: KeyLookup, notes: Note[]): ObjectDeclaration {
  const { kind, key } = declaration
  const before = toFlatFields(declaration)
  const after = renameReferences(declaration, before, lookUp)
  const renamed = new Set(
    Object.keys(before).filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path])),
  )
  if (!renamed.size) return declaration
  for (const { path, origin } of listFields(declaration)) {
    if (!renamed.has(path)) continue
    const message = `${describeObject(kind, key)}: ${path} uses a former name, which is valid for this plan only. Use the new name.`
    notes.push({ message, position: origin.locate(path) })
  }
  return { ...declaration, fields: replaceValues(declaration.fields, after) }
}

function replaceValues(fields: DeclaredFields, values: FlatFields): DeclaredFields {
  const byPath = new Map([...fields].map(([path, { origin }]) => [path, { value: values[path]!, origin }] as const))
  return { size: fields.size, has: (path) => byPath.has(path), [Symbol.iterator]: () => byPath[Symbol.iterator]() }
}

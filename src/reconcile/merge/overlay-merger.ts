// Merges one overlay into a realm: what it declares replaces what the base or an earlier overlay declares, field by field.
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { hasPathKey, type Key, type KindName } from '../../kinds/kind.ts'
import { describeObject, findParent, formatAddress } from '../../kinds/tree.ts'
import { formatPosition } from '../../lib/source-position.ts'
import type { DeclaredObject } from '../../realm-file/parse-realm.ts'
import type { DocumentProblem } from '../../realm-file/yaml/problem.ts'
import type { DesiredObject } from './desired-object.ts'

/** The state of merging the documents of one overlay. Two of them must not contradict each other. */
export class OverlayMerger {
  readonly number: number
  readonly #problems: DocumentProblem[]
  /** The fields that the overlay declares or removes, by object. */
  readonly #changedFields = new Map<string, Set<string>>()
  /** The objects that the overlay declares, and those that it removes, by address. */
  readonly #declared = new Map<string, DeclaredObject>()
  readonly #removed = new Map<string, DeclaredObject>()

  constructor(number: number, problems: DocumentProblem[]) {
    this.number = number
    this.#problems = problems
  }

  /** Returns the objects that are removed with an object: itself and its children. Adds a problem if there are none. */
  remove(object: DeclaredObject, objects: ReadonlyMap<string, DesiredObject>): DesiredObject[] {
    const address = formatAddress(object.kind, object.key)
    this.#removed.set(address, object)
    const declared = this.#declared.get(address)
    const existing = objects.get(address)
    if (declared) this.#refuse(object, `is declared in the same overlay at ${formatPosition(declared.origin.place)}`)
    else if (!existing || existing.isReference) this.#refuse(object, 'is not declared by the base')
    else return [...objects.values()].filter((other) => isInside(other, object))
    return []
  }

  /** Returns the object as declared before, without what the overlay replaces or removes. Adds a problem if it removes nothing. */
  prepare(before: DesiredObject | undefined, object: DeclaredObject): DesiredObject | undefined {
    const address = formatAddress(object.kind, object.key)
    this.#declared.set(address, object)
    const removed = [...this.#removed.values()].find((other) => isInside(object, other))
    if (removed) this.#refuse(removed, `is declared in the same overlay at ${formatPosition(object.origin.place)}`)
    const changed = this.#changedFields.get(address) ?? new Set()
    this.#changedFields.set(address, changed)
    const declaredPaths = [...(before?.fields ?? []), ...(before?.masked ?? [])].map(([path]) => path)
    const omitted = new Set<string>()
    const refuseField = (path: string, reason: string) =>
      this.#problems.push({
        position: object.origin.locate(path),
        message: `${describeObject(object.kind, object.key)}: ${reason}. Correct the name, or remove the line.`,
      })
    for (const path of object.removedFields) {
      const matches = declaredPaths.filter((other) => other === path || other.startsWith(`${path}.`))
      if (!matches.length) refuseField(path, `the base does not declare ${path}, so that it cannot be removed`)
      if (matches.some((match) => changed.has(match)))
        refuseField(path, `the same overlay declares ${path} and removes it`)
      for (const match of matches) omitted.add(match)
    }
    const paths = [...Object.keys(object.fields), ...object.maskedSecrets]
    for (const path of paths) {
      if (changed.has(path) && !declaredPaths.includes(path))
        refuseField(path, `the same overlay declares ${path} and removes it`)
      for (const replaced of declaredPaths)
        if (!changed.has(replaced) && overlaps(object.kind, path, replaced)) omitted.add(replaced)
    }
    for (const path of [...paths, ...object.removedFields]) changed.add(path)
    return (
      before &&
      omitFields(
        { ...before, id: object.id ?? before.id, renamedFrom: object.renamedFrom ?? before.renamedFrom },
        omitted,
      )
    )
  }

  #refuse(object: DeclaredObject, reason: string): void {
    const message = `${describeObject(object.kind, object.key)} ${reason}, so that it cannot be removed. Correct the name, or remove the entry.`
    this.#problems.push({ position: object.origin.place, message })
  }
}

function omitFields(object: DesiredObject, omitted: ReadonlySet<string>): DesiredObject {
  if (!omitted.size) return object
  const isRetained = (path: string) => !omitted.has(path)
  return {
    ...object,
    fields: object.fields.replace(new Map([...omitted].map((path) => [path, undefined]))),
    secrets: object.secrets && Object.fromEntries(Object.entries(object.secrets).filter(([path]) => isRetained(path))),
    masked: new Map([...object.masked].filter(([path]) => isRetained(path))),
    literal: object.literal.filter(isRetained),
    encrypted: object.encrypted && new Map([...object.encrypted].filter(([path]) => isRetained(path))),
  }
}

/** Whether a declared path replaces another one: the same, or one of them is the map that contains the other. */
function overlaps(kind: KindName, path: string, other: string): boolean {
  if (path === other) return true
  const [first, second] = [path, other].map((part) => resolveField(kinds[kind], part))
  return first!.name === second!.name && (first!.key === undefined || second!.key === undefined)
}

/** Whether an object is the other one, or one of its descendants. */
function isInside(
  { kind, key }: Pick<DesiredObject, 'kind' | 'key'>,
  other: { readonly kind: KindName; readonly key: Key },
): boolean {
  if (kind === other.kind) {
    const [name, ancestor] = [key.at(-1)!, other.key.at(-1)!]
    const haveSameParent = formatAddress(kind, key.slice(0, -1)) === formatAddress(kind, other.key.slice(0, -1))
    if (haveSameParent && (name === ancestor || (hasPathKey(kinds[kind]) && name.startsWith(`${ancestor}/`))))
      return true
  }
  const parent = findParent(key)
  return parent !== undefined && isInside(parent, other)
}

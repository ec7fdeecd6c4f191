// A document that states a realm, checked and cut into objects. Nothing is filled in: what is absent is not managed.

import { type FlatFields, flatten, isSecret } from '../kinds/compare.ts'
import { isStorable } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, Kind, KindName, Representation } from '../kinds/kind.ts'
import { MASK } from '../kinds/mask.ts'
import { address, describe, splitTree, type TreeObject } from '../kinds/tree.ts'
import type { Path, Position } from '../lib/position.ts'
import type { Document } from './document.ts'
import { fieldProblems, nameProblems } from './field-problems.ts'
import { type Report, wellFormed } from './form.ts'
import { DocumentError, type Problem, pointerOf } from './problem.ts'
import { ignored, setAside, type Unmanaged } from './unmanaged.ts'
import { nameOf } from './words.ts'

/** An object that a document states. */
export interface StatedObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  /** The stated fields, normalised; null states that there is none. Secrets are in the clear. */
  readonly fields: FlatFields
  /** Secrets that are stated as a mask: they keep what is there. */
  readonly masked: readonly string[]
  readonly position: Position
  /** Where its parent is named; without a parent field, where the object itself stands. */
  readonly parentPosition: Position
  /** The position of a field, or of the place in its value that names an object of that key. */
  readonly locate: (path: string, key?: Key) => Position
}

/** A realm that a document states. */
export interface StatedRealm {
  readonly name: string
  readonly objects: readonly StatedObject[]
  /** Fields of kinds that Regent does not manage yet, or of an earlier form: they are left alone. */
  readonly unmanaged: readonly Unmanaged[]
}

/** The realm that the document states. Throws DocumentError with everything that is wrong. */
export function parseRealm(document: Document): StatedRealm {
  const problems: Problem[] = []
  const report: Report = (path, message) =>
    problems.push({ position: document.locate(path), message, path: pointerOf(path) })
  const { managed, unmanaged } = setAside(document.value as Representation)
  const tree = splitTree(wellFormed(managed, report))
  const objects = tree.map((object) => check(document, object, report))
  refuseTwins(objects, problems)
  if (problems.length) throw new DocumentError(problems)
  return {
    name: objects[0]!.key[0]!,
    objects,
    unmanaged: [
      ...unmanaged.map((field) => ({ field, position: document.locate([field]) })),
      ...ignored(document, tree),
    ],
  }
}

function check(document: Document, object: TreeObject, report: Report): StatedObject {
  const kind = kinds[object.kind]
  const { representation } = object
  const result = kind.schema.safeParse(representation)
  const problems = result.success ? [] : fieldProblems(kind, representation, result.error.issues)
  const fields = result.success ? flatten(kind, withoutUndefined(result.data as Representation)) : {}
  for (const path of Object.keys(fields).filter((one) => !isStorable(one)))
    problems.push({ path: steps(kind, path), message: 'a key must not hold NUL or a lone surrogate' })
  const name = nameOf(object.kind, object.key)
  for (const { path, message } of problems) report([...object.path, ...path], `${name}: ${message}`)
  for (const { path, message } of nameProblems(kind, representation)) report([...object.path, ...path], message)
  const masked = Object.keys(fields).filter((path) => fields[path] === MASK && isSecret(kind, path))
  const locate = (path: Path) => document.locate([...object.path, ...path])
  return {
    kind: object.kind,
    key: object.key,
    id: object.id,
    fields: Object.fromEntries(Object.entries(fields).filter(([path]) => !masked.includes(path))),
    masked,
    position: locate([]),
    parentPosition: locate(kind.parentField === undefined ? [] : [kind.parentField]),
    locate: (path, key) => {
      const own = steps(kind, path)
      return locate(key ? [...own, ...within(kind, own, representation, key)] : own)
    },
  }
}

/** The steps to a flat path in the representation. */
function steps(kind: Kind, path: string): Path {
  const dot = path.indexOf('.')
  return dot < 0 || !kind.fields[path.slice(0, dot)] ? [path] : [path.slice(0, dot), path.slice(dot + 1)]
}

/** The steps from a field to where its value names an object. */
function within(kind: Kind, [name, ...rest]: Path, representation: Representation, key: Key): Path {
  const field = kind.fields[String(name)]
  const group = !field?.relation || field.type === 'set' ? [] : key.length === 1 ? ['realm'] : key.slice(0, -1)
  const value = [name!, ...rest, ...group].reduce<unknown>(
    (node, step) => (node as Representation)?.[step],
    representation,
  )
  return [...group, ...(pathOf(value, key.at(-1)!) ?? [])]
}

function pathOf(value: unknown, text: string): Path | undefined {
  if (value === null || typeof value !== 'object') return String(value) === text ? [] : undefined
  for (const [step, one] of Object.entries(value)) {
    const rest = pathOf(one, text)
    if (rest) return [step, ...rest]
  }
  return undefined
}

/** One object twice in one document is a slip, never a merge. */
function refuseTwins(objects: readonly StatedObject[], problems: Problem[]): void {
  const first = new Map<string, StatedObject>()
  for (const object of objects.filter(({ key }) => !key.includes(''))) {
    const name = address(object.kind, object.key)
    const twin = first.get(name)
    if (!twin) first.set(name, object)
    else {
      const { line, column } = twin.position
      problems.push({
        position: object.position,
        message: `${describe(object.kind, object.key)} is stated twice, first at ${line}:${column}: keep one of them`,
      })
    }
  }
}

function withoutUndefined(value: Representation): Representation {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined))
}

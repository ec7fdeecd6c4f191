// A document that states a realm, checked and cut into objects. Nothing is filled in: what is absent is not managed.

import { type FlatFields, flatten, isMasked, missing } from '../kinds/compare.ts'
import { isStorable } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/json.ts'
import type { Key, Kind, KindName } from '../kinds/kind.ts'
import { address, describe, type TreeObject } from '../kinds/tree.ts'
import type { Path, Position } from '../lib/position.ts'
import { type FieldProblem, fieldProblems, nameProblems } from './field-problems.ts'
import type { Report } from './form.ts'
import { ignoredFields } from './ignored-fields.ts'
import type { StatedList } from './lists.ts'
import { nameOf } from './words.ts'
import type { Document } from './yaml/document.ts'
import { literalSecrets } from './yaml/literals.ts'
import { cutUp, isStated, Origin, steps } from './yaml/origin.ts'
import { DocumentError, type Notice, type Problem, pointerOf } from './yaml/problem.ts'

/** An object that a document states. */
export interface StatedObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  /** What it was called before. */
  readonly renamedFrom: string | undefined
  /** The stated fields, normalised; null states that there is none. Secrets are in the clear. */
  readonly fields: FlatFields
  /** Secrets that are stated as a mask: they keep what is there. */
  readonly masked: readonly string[]
  /** Secrets that stand in the document as they are. */
  readonly literal: readonly string[]
  /** It is only named: stating it does not make it. */
  readonly named: boolean
  readonly origin: Origin
}

/** A realm that a document states. */
export interface StatedRealm {
  readonly name: string
  readonly objects: readonly StatedObject[]
  /** What is left alone: fields of kinds that Regent does not manage yet, of an earlier form, or unknown. */
  readonly notices: readonly Notice[]
  /** Where the realm is named by a document that states only something in it. */
  readonly named: Position | undefined
  /** The lists of objects that it states, also empty ones. */
  readonly lists: readonly StatedList[]
}

/** What becomes of fields that Regent does not know. */
export type UnknownFields = 'error' | 'warn'

/** What is told of an unknown field where it is let pass. */
export function letPass({ position, message }: Problem): Notice {
  return { position, message: `${message} (left alone)` }
}

/** The realm that the document states. Throws DocumentError with everything that is wrong. */
export function parseRealm(document: Document, unknownFields: UnknownFields = 'error'): StatedRealm {
  const problems: Problem[] = []
  const notices: Notice[] = []
  const report: Report = (path, message, unknown) => {
    const position = document.locate(path)
    if (unknown && unknownFields === 'warn') notices.push(letPass({ position, message }))
    else problems.push({ position, message, path: pointerOf(path) })
  }
  const cut = cutUp(document, report)
  const { shaped, tree, stated } = cut
  const there: Report = (path, message, unknown) => report(shaped.originOf(path), message, unknown)
  const objects = stated.map((object, at) => {
    const origin = new Origin(document, at, shaped.locate(object.path))
    const varies = (path: Path) => document.varies(shaped.originOf([...object.path, ...path]))
    return { ...check(object, shaped.isNamed(object.path), there, varies), origin }
  })
  refuseTwins(objects, problems)
  if (problems.length) throw new DocumentError(problems)
  return {
    name: tree[0]!.key[0]!,
    objects,
    notices: [...cut.notices, ...notices, ...ignoredFields(shaped, stated)],
    named: isStated(document, []) ? undefined : document.locate([kinds.realm.naturalKey]),
    lists: cut.lists,
  }
}

function check(
  object: TreeObject,
  named: boolean,
  report: Report,
  varies: (path: Path) => boolean,
): Omit<StatedObject, 'origin'> {
  const kind = kinds[object.kind]
  const { representation } = object
  const result = kind.schema.safeParse(representation)
  const problems = result.success ? [] : fieldProblems(kind, representation, result.error.issues)
  // Where unknown fields are let pass, the others count.
  const unknown = problems.filter((one) => one.unknown).map(({ path }) => path)
  const known = unknown.length ? kind.schema.safeParse(without(representation, unknown)) : result
  const fields = known.success ? flatten(kind, withoutUndefined(known.data as Representation)) : {}
  for (const path of Object.keys(fields).filter((one) => !isStorable(one)))
    problems.push({ path: steps(kind, path), message: 'a key must not hold NUL or a lone surrogate' })
  problems.push(...exclusions(kind, fields))
  const name = nameOf(object.kind, object.key)
  for (const { path, message, unknown } of problems) report([...object.path, ...path], `${name}: ${message}`, unknown)
  for (const { path, message } of nameProblems(kind, representation)) report([...object.path, ...path], message)
  const masked = Object.keys(fields).filter((path) => isMasked(kind, path, fields[path]!))
  // Whoever only names an object owns neither it nor its name.
  const left = masked.concat(named ? kind.naturalKey : [])
  return {
    kind: object.kind,
    key: object.key,
    id: object.id,
    renamedFrom: object.renamedFrom,
    fields: Object.fromEntries(Object.entries(fields).filter(([path]) => !left.includes(path))),
    masked,
    literal: literalSecrets(kind, fields, left, varies),
    named,
  }
}

/** What is stated in two fields of which only one can have it. */
function exclusions(kind: Kind, fields: FlatFields): FieldProblem[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const other = kind.fields[name]?.excludes
    const theirs = other === undefined ? null : (fields[other] ?? null)
    // Of a pair, the first says it.
    if (other === undefined || theirs === null || value === null || name > other) return []
    const own = value as readonly Key[]
    const both = own.filter((key) => missing([key], theirs as readonly Key[]).length === 0)
    return both.map((key) => ({
      path: [name],
      message: `${key.at(-1)} is in ${name} and in ${other}: keep it in one of them`,
    }))
  })
}

/** One object twice in one document is a slip, never a merge. */
function refuseTwins(objects: readonly StatedObject[], problems: Problem[]): void {
  const first = new Map<string, StatedObject>()
  for (const object of objects.filter(({ key }) => !key.includes(''))) {
    const name = address(object.kind, object.key)
    const twin = first.get(name)
    if (!twin) first.set(name, object)
    else {
      const { line, column } = twin.origin.position
      problems.push({
        position: object.origin.position,
        message: `${describe(object.kind, object.key)} is stated twice, first at ${line}:${column}: keep one of them`,
      })
    }
  }
}

function without(value: Representation, paths: readonly Path[]): Representation {
  const rest = structuredClone(value)
  for (const path of paths) {
    const owner = path.slice(0, -1).reduce<unknown>((node, step) => (node as Representation)[step], rest)
    delete (owner as Representation)[path.at(-1)!]
  }
  return rest
}

function withoutUndefined(value: Representation): Representation {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined))
}

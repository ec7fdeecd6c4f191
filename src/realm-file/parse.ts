// A document that states a realm, checked and cut into objects. Nothing is filled in: what is absent is not managed.

import { type FlatFields, flatten, isSecret } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, Kind, KindName, Representation } from '../kinds/kind.ts'
import { MASK } from '../kinds/mask.ts'
import { laterRealmFields } from '../kinds/realm.ts'
import { splitTree, type TreeObject } from '../kinds/tree.ts'
import { nearest } from '../lib/nearest.ts'
import type { Path, Position } from '../lib/position.ts'
import type { Document } from './document.ts'
import { DocumentError, type Problem } from './problem.ts'

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
  /** The position of a field. */
  readonly locate: (path: string) => Position
}

/** A realm that a document states. */
export interface StatedRealm {
  readonly name: string
  readonly objects: readonly StatedObject[]
  /** Fields of the realm whose kinds Regent does not manage yet: they are left alone. */
  readonly unmanaged: readonly { readonly field: string; readonly position: Position }[]
}

/** The realm that the document states. Throws DocumentError with everything that is wrong. */
export function parseRealm(document: Document): StatedRealm {
  const value = document.value as Representation
  const problems: Problem[] = []
  if (typeof value.realm !== 'string' || value.realm === '') {
    throw new DocumentError([{ position: document.start, message: 'a realm needs a name: add "realm: <name>"' }])
  }
  const { managed, unmanaged } = setAside(value)
  const objects = splitTree(managed).map((object) => check(document, object, problems))
  refuseTwins(objects, problems)
  if (problems.length) throw new DocumentError(problems)
  return {
    name: value.realm,
    objects,
    unmanaged: unmanaged.map((field) => ({ field, position: document.locate([field]) })),
  }
}

function setAside(value: Representation): { managed: Representation; unmanaged: string[] } {
  const unmanaged = Object.keys(value).filter((field) => Object.hasOwn(laterRealmFields, field))
  // Keycloak: an export says which version wrote it.
  const managed = Object.fromEntries(Object.entries(value).filter(([field]) => !unmanaged.includes(field)))
  return { managed, unmanaged: unmanaged.filter((field) => !isEmpty(value[field])) }
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value as object).every(isEmpty))
}

function check(document: Document, object: TreeObject, problems: Problem[]): StatedObject {
  const kind = kinds[object.kind]
  const result = kind.schema.safeParse(object.representation)
  const locate = (path: Path) => document.locate([...object.path, ...path])
  if (!result.success) problems.push(...result.error.issues.flatMap((issue) => explain(kind, issue, locate)))
  if (!object.key.at(-1))
    problems.push({ position: locate([]), message: `a ${kind.title} needs a name: add "${kind.naturalKey}"` })
  const fields = result.success ? flatten(kind, withoutUndefined(result.data as Representation)) : {}
  const masked = Object.keys(fields).filter((path) => fields[path] === MASK && isSecret(kind, path))
  return {
    kind: object.kind,
    key: object.key,
    id: object.id,
    fields: Object.fromEntries(Object.entries(fields).filter(([path]) => !masked.includes(path))),
    masked,
    position: locate([]),
    locate: (path) => locate(steps(kind, path)),
  }
}

/** The steps to a flat path in the representation. */
function steps(kind: Kind, path: string): Path {
  const dot = path.indexOf('.')
  return dot < 0 || !kind.fields[path.slice(0, dot)] ? [path] : [path.slice(0, dot), path.slice(dot + 1)]
}

interface Issue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly expected?: string
  readonly errors?: readonly (readonly Issue[])[]
}

function explain(kind: Kind, issue: Issue, locate: (path: Path) => Position): Problem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      position: locate([...path, key]),
      message: unknownField(kind, path, key),
    }))
  }
  const name = path.join('.') || kind.naturalKey
  return [{ position: locate(path), message: `${kind.title}: ${name} ${expectation(issue)}` }]
}

function unknownField(kind: Kind, path: Path, key: string): string {
  const child = kind.children[key]
  if (child && !path.length) return `${kind.title}: ${key} must be a list of ${kinds[child].title}s`
  const members = path.length ? kind.fields[String(path[0])]?.members : { ...kind.fields, ...kind.children }
  const near = nearest(key, Object.keys(members ?? {}))
  return `${kind.title}: unknown field ${key}${near ? `; did you mean ${near}?` : ''}`
}

/** What would be right, in words; a union names all that it takes. */
function expectation({ code, message, expected, errors }: Issue): string {
  if (code === 'invalid_type') return `must be ${article(expected ?? 'something else')}`
  if (code === 'invalid_union') {
    const wanted = (errors ?? []).flatMap((branch) =>
      branch.filter((one) => one.code === 'invalid_type').map(({ expected }) => article(expected ?? '')),
    )
    return wanted.length ? `must be ${[...new Set(wanted)].join(' or ')}` : 'has a value that is not allowed'
  }
  return message.charAt(0).toLowerCase() + message.slice(1)
}

function article(type: string): string {
  const names: Record<string, string> = {
    string: 'a text',
    boolean: 'true or false',
    int: 'a whole number',
    number: 'a number',
    array: 'a list',
    record: 'a mapping',
    object: 'a mapping',
    null: 'null',
  }
  return names[type] ?? type
}

/** One object twice in one document is a slip, never a merge. */
function refuseTwins(objects: readonly StatedObject[], problems: Problem[]): void {
  const first = new Map<string, StatedObject>()
  for (const object of objects) {
    const name = JSON.stringify([object.kind, ...object.key])
    const twin = first.get(name)
    if (!twin) first.set(name, object)
    else {
      const { line, column } = twin.position
      problems.push({
        position: object.position,
        message: `${kinds[object.kind].title} ${object.key.at(-1)} is stated twice; the first is at line ${line}, column ${column}`,
      })
    }
  }
}

function withoutUndefined(value: Representation): Representation {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined))
}

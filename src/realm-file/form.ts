// The form of a realm as a tree, looked at before it is cut into objects: there, what cannot be one gets lost.

import { kinds } from '../kinds/index.ts'
import type { Json, Representation } from '../kinds/json.ts'
import type { Key, Kind } from '../kinds/kind.ts'
import { nameIn, ownerIn, RENAMED_FROM } from '../kinds/tree.ts'
import { nearest } from '../lib/nearest.ts'
import type { Path } from '../lib/position.ts'
import { anyOf, found, nameOf } from './words.ts'

/** Takes note of what is wrong at a path of the document; `unknown`: a field that a document can do without. */
export type Report = (path: Path, message: string, unknown?: true) => void

/** Where children stand. */
interface Place {
  readonly path: Path
  /** What messages call the object that they stand in, and the field. */
  readonly owner: string
  readonly field: string
  /** The key of what they belong to, its kind in front; empty for the realm. */
  readonly under: Key
}

/** The realm as it can be cut into objects: what stands in the place of one and cannot be one is reported and left out. */
export function wellFormed(realm: Representation, report: Report): Representation {
  return formOf(kinds.realm, realm, [], [], report)
}

function formOf(kind: Kind, node: Representation, path: Path, under: Key, report: Report): Representation {
  const key = [...under, nameIn(kind, node)]
  const owner = nameOf(kind.name, key)
  const { idField } = kind
  const id = node[idField]
  if (id !== undefined && id !== null && (typeof id !== 'string' || id === ''))
    report([...path, idField], `${owner}: ${idField} must be a text, not ${found(id)}`)
  const former = node[RENAMED_FROM]
  if (former !== undefined && (typeof former !== 'string' || former === ''))
    report([...path, RENAMED_FROM], `${owner}: ${RENAMED_FROM} must be the name that it had, not ${found(former)}`)
  const form = { ...node }
  for (const [field, name] of Object.entries(kind.children)) {
    const value = node[field]
    if (value === undefined || value === null) continue
    const child = kinds[name]
    const place = { path: [...path, field], owner, field, under: kind.name === 'realm' ? [] : [kind.name, ...key] }
    form[field] = child.parentOptional ? groupsOf(child, value, place, report) : listOf(child, value, place, report)
  }
  return form
}

function listOf(child: Kind, value: Json, { path, owner, field, under }: Place, report: Report): Json {
  const beginning = `"- ${child.naturalKey}: <name>"`
  if (!Array.isArray(value)) {
    report(path, `${owner}: ${field} must be a list, not ${found(value)}: begin each ${child.title} with ${beginning}`)
    return null
  }
  return value.map((one, at) => {
    if (one === null) return null
    if (isObject(one)) return elementOf(child, one, [...path, at], under, report)
    report([...path, at], `${owner}: ${field}[${at}] must be an object, not ${found(one)}: begin it with ${beginning}`)
    return null
  })
}

function elementOf(child: Kind, node: Representation, path: Path, listOwner: Key, report: Report): Json {
  const { parents, parentField } = child
  const under = ownerIn(child, node, listOwner)
  if (parentField !== undefined && (node[parentField] ?? '') === '') {
    const advice = `add "${parentField}: <${kinds[parents[0]!].naturalKey}>"`
    const owner = nameOf(child.name, [...under, nameIn(child, node)])
    report(path, `${owner} does not say which ${kinds[parents[0]!].title} it belongs to: ${advice}`)
  }
  return formOf(child, node, path, under, report)
}

/** Children of the realm or of others: `{realm: [...], client: {<client>: [...]}}`. */
function groupsOf(child: Kind, value: Json, { path, owner, field }: Place, report: Report): Json {
  if (!isObject(value)) {
    const others = child.parents.map((parent) => `those of a ${kinds[parent].title} under "${parent}" and its name`)
    const advice = `put ${child.title}s of the realm under "realm", ${others.join(', ')}`
    report(path, `${owner}: ${field} must be an object, not ${found(value)}: ${advice}`)
    return null
  }
  return mapValues(value, (own, group) => {
    const place = { path: [...path, group], owner, field: `${field}.${group}`, under: [] }
    return group === 'realm' ? listOf(child, own, place, report) : groupOf(child, group, own, place, report)
  })
}

function groupOf(child: Kind, group: string, value: Json, { path, owner, field }: Place, report: Report): Json {
  const parent = child.parents.find((one) => one === group)
  if (!parent) {
    const groups = ['realm', ...child.parents]
    const near = nearest(group, groups)
    const advice = near === undefined ? `: there are ${anyOf(groups, 'and')}` : `; did you mean ${near}?`
    report(path, `${owner}: unknown field ${field}${advice}`, true)
    return null
  }
  if (!isObject(value)) {
    const advice = `put each list under the name of its ${kinds[parent].title}`
    report(path, `${owner}: ${field} must be an object, not ${found(value)}: ${advice}`)
    return null
  }
  return mapValues(value, (list, name) =>
    listOf(child, list, { path: [...path, name], owner, field: `${field}.${name}`, under: [parent, name] }, report),
  )
}

function mapValues(value: Representation, change: (one: Json, key: string) => Json): Representation {
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, one === null ? null : change(one, key)]))
}

/** Whether the value is an object, and no list. */
export function isObject(value: Json): value is Representation {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

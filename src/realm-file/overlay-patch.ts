// The marker by which a document of an overlay removes an object or a field that the base declares: `$patch: delete`, as in a strategic
// merge patch of Kubernetes.

import { kinds } from '../kinds/index.ts'
import { isObject, type Json, type Representation } from '../kinds/json.ts'
import type { TreeObject } from '../kinds/tree.ts'
import type { ReportProblem } from './check-structure.ts'
import { describeDeclaredObject } from './message-words.ts'

const PATCH = '$patch'

/** The parts of the base that an object of an overlay removes. */
export interface ObjectPatch {
  /** Whether the object itself is removed, with its children. */
  readonly removesObject: boolean
  /** The paths of the removed fields, and of whole maps. */
  readonly removedFields: readonly string[]
  /** The object without markers. */
  readonly representation: Representation
}

/** Reads the markers of an object. Reports those that are not valid, and all of them in a document that belongs to no overlay. */
export function readPatch(object: TreeObject, isOverlay: boolean, report: ReportProblem): ObjectPatch {
  const { kind, key, representation } = object
  const removedFields: string[] = []
  const refuse = (path: readonly string[], message: string) =>
    report([...path, PATCH], `${describeDeclaredObject(kind, key)}: ${message}`)

  const check = (node: Representation, path: readonly string[]): void => {
    if (!isOverlay)
      refuse(
        path,
        `${PATCH} is valid in overlays only. Add the file to overlays of an environment, or remove the line.`,
      )
    else if (node[PATCH] !== 'delete') refuse(path, `${PATCH} must be delete. Values are replaced without a marker.`)
  }

  /** Omits the members with a marker. The keys of a map are fields. */
  const omitRemoved = (node: Representation, path: readonly string[]): Representation => {
    const members = Object.entries(node).flatMap(([name, value]): [string, Json][] => {
      if (!isObject(value)) return [[name, value]]
      const memberPath = [...path, name]
      if (!Object.hasOwn(value, PATCH)) {
        const rest = path.length ? value : omitRemoved(value, memberPath)
        // A map of which the overlay only removes keys declares nothing.
        return rest !== value && !Object.keys(rest).length ? [] : [[name, rest]]
      }
      check(value, memberPath)
      if (Object.keys(value).length > 1)
        refuse(memberPath, `${PATCH} removes ${memberPath.join('.')}: remove the other lines`)
      if (name === kinds[kind].naturalKey) refuse(memberPath, `${name} is its natural key, which cannot be removed`)
      removedFields.push(memberPath.join('.'))
      return []
    })
    return members.length === Object.keys(node).length && members.every(([name, value]) => node[name] === value)
      ? node
      : Object.fromEntries(members)
  }

  const removesObject = Object.hasOwn(representation, PATCH)
  if (!removesObject) return { removesObject, removedFields, representation: omitRemoved(representation, []) }
  check(representation, [])
  const { naturalKey, parentField } = kinds[kind]
  const unexpected = Object.keys(representation).filter((field) => ![PATCH, naturalKey, parentField].includes(field))
  if (isOverlay && unexpected.length)
    refuse([], `${PATCH} removes the object with all of its fields: remove ${unexpected.join(', ')} here`)
  if (kind === 'realm')
    refuse([], 'an overlay cannot remove a realm. Apply the environment without it as a source of its own.')
  const name = Object.entries(representation).filter(([field]) => [naturalKey, parentField].includes(field))
  return { removesObject, removedFields, representation: Object.fromEntries(name) }
}

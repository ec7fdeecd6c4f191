// Groups: documents nest them, each in the `subGroups` of the one that it belongs to; kept are paths.
import * as z from 'zod'
import { getNameFromPath, getParentPath, toPathSegment } from '../../kinds/group.ts'
import { isObject, type Representation } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { FormatConverter } from './format-converter.ts'

/** Nested groups as a list with paths, and back. */
export const groups: FormatConverter = {
  read(realm, { report, recordMove: moved }) {
    if (!Array.isArray(realm.groups)) return realm
    const flat: Representation[string][] = []
    const walk = (list: readonly Representation[string][], parent: string, from: DocumentPath): void => {
      for (const [at, group] of list.entries()) {
        const place = [...from, at]
        moved(['groups', flat.length], place)
        if (!isObject(group)) {
          flat.push(group)
          continue
        }
        const { name, subGroups = null, ...rest } = group
        const own = typeof name === 'string' || typeof name === 'number' ? String(name) : ''
        if (own === '') {
          report(place, 'a group needs a name: add "name: <name>"')
          continue
        }
        const path = `${parent}${toPathSegment(own)}`
        moved(['groups', flat.length, 'path'], [...place, 'name'])
        flat.push({ ...rest, path })
        if (Array.isArray(subGroups)) walk(subGroups, path, [...place, 'subGroups'])
        else if (subGroups !== null) {
          const advice = 'begin each group with "- name: <name>"'
          report(
            [...place, 'subGroups'],
            `group ${path}: subGroups must be a list, not ${describeType(subGroups)}: ${advice}`,
          )
        }
      }
    }
    walk(realm.groups, '', ['groups'])
    return { ...realm, groups: flat }
  },
  write(realm) {
    if (!Array.isArray(realm.groups)) return realm
    const top: Representation[] = []
    const byPath = new Map<string, Representation>()
    // A path comes after those that it begins with.
    for (const { path, ...rest } of realm.groups as Representation[]) {
      const group: Representation = { name: getNameFromPath(String(path)), ...rest }
      byPath.set(String(path), group)
      const parent = byPath.get(getParentPath(String(path)))
      if (!parent) top.push(group)
      else {
        parent.subGroups ??= []
        ;(parent.subGroups as Representation[]).push(group)
      }
    }
    return { ...realm, groups: top }
  },
  schemas: (schemaOf) => ({ group: { subGroups: z.array(schemaOf('group')) } }),
}

// Groups: documents nest them, each in the `subGroups` of the one that it belongs to; kept are paths.
import * as z from 'zod'
import { nameOf, parentPath, step } from '../../kinds/group.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Path } from '../../lib/position.ts'
import { isObject } from '../form.ts'
import { found } from '../words.ts'
import type { Form } from './form.ts'

/** Nested groups as a list with paths, and back. */
export const groups: Form = {
  read(realm, { report, moved }) {
    if (!Array.isArray(realm.groups)) return realm
    const flat: Representation[string][] = []
    const walk = (list: readonly Representation[string][], parent: string, from: Path): void => {
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
        const path = `${parent}${step(own)}`
        moved(['groups', flat.length, 'path'], [...place, 'name'])
        flat.push({ ...rest, path })
        if (Array.isArray(subGroups)) walk(subGroups, path, [...place, 'subGroups'])
        else if (subGroups !== null) {
          const advice = 'begin each group with "- name: <name>"'
          report([...place, 'subGroups'], `group ${path}: subGroups must be a list, not ${found(subGroups)}: ${advice}`)
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
      const group: Representation = { name: nameOf(String(path)), ...rest }
      byPath.set(String(path), group)
      const parent = byPath.get(parentPath(String(path)))
      if (!parent) top.push(group)
      else {
        parent.subGroups ??= []
        ;(parent.subGroups as Representation[]).push(group)
      }
    }
    return { ...realm, groups: top }
  },
  shapes: (schemaOf) => ({ group: { subGroups: z.array(schemaOf('group')) } }),
}

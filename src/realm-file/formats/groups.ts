// Groups: documents nest them in `subGroups`, and Regent has a list with paths.
import * as z from 'zod'
import { getNameFromPath, getParentPath, toPathSegment } from '../../kinds/group.ts'
import { isList, isObject, type Json, type Representation, readObjects } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Converts nested groups to a list with paths. */
export const groups: FormatConverter = {
  read(realm, context) {
    if (!isList(realm.groups)) return realm
    return { ...realm, groups: flattenGroups(realm.groups, { path: ['groups'], context }) }
  },
  write: (realm) => (isList(realm.groups) ? { ...realm, groups: nestGroups(readObjects(realm.groups)) } : realm),
  schemas: (getSchema) => ({ group: { subGroups: z.array(getSchema('group')) } }),
}

/** Returns nested groups as a list with paths, which replaces the list at the same path. */
export function flattenGroups(
  nested: readonly Json[],
  { path: listPath, context }: { readonly path: DocumentPath; readonly context: ConversionContext },
): Json[] {
  const flat: Json[] = []
  const addGroups = (list: readonly Json[], parent: string, from: DocumentPath): void => {
    for (const [at, group] of list.entries()) {
      const groupPath = [...from, at]
      context.recordMove([...listPath, flat.length], groupPath)
      if (!isObject(group)) {
        flat.push(group)
        continue
      }
      const { name, subGroups = null, ...rest } = group
      const text = typeof name === 'string' || typeof name === 'number' ? String(name) : ''
      if (text === '') {
        context.report(groupPath, 'a group needs a name: add "name: <name>"')
        continue
      }
      const path = `${parent}${toPathSegment(text)}`
      context.recordMove([...listPath, flat.length, 'path'], [...groupPath, 'name'])
      flat.push({ ...rest, path })
      if (isList(subGroups)) addGroups(subGroups, path, [...groupPath, 'subGroups'])
      else if (subGroups !== null) {
        const advice = 'begin each group with "- name: <name>"'
        const problem = `subGroups must be a list, not ${describeType(subGroups)}`
        context.report([...groupPath, 'subGroups'], `group ${path}: ${problem}: ${advice}`)
      }
    }
  }
  addGroups(nested, '', listPath)
  return flat
}

type NestedGroup = Representation & { subGroups?: Representation[] }

/** Nests groups in their parents, which come before them. */
export function nestGroups(groups: readonly Representation[]): Representation[] {
  const topLevel: Representation[] = []
  const groupsByPath = new Map<string, NestedGroup>()
  for (const { path, ...rest } of groups) {
    const group: NestedGroup = { name: getNameFromPath(String(path)), ...rest }
    groupsByPath.set(String(path), group)
    const parent = groupsByPath.get(getParentPath(String(path)))
    if (!parent) topLevel.push(group)
    else if (parent.subGroups) parent.subGroups.push(group)
    else parent.subGroups = [group]
  }
  return topLevel
}

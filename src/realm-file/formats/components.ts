// Components: documents list them by the type of their provider, each with those that belong to it; kept are paths.
import * as z from 'zod'
import { componentName, componentPath, parentComponentPath } from '../../kinds/component.ts'
import { toCanonicalConfig } from '../../kinds/component-config.ts'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Components by type as a list with paths, and back. */
export const components: FormatConverter = {
  read(realm, notes) {
    const { components: stated } = realm
    if (stated === undefined || stated === null) return realm
    const flat: Json[] = []
    const readTypes = (types: Json, parent: string, from: DocumentPath): void => {
      for (const [place, providerType, one] of elementsOf(types, from, notes)) {
        notes.recordMove(['components', flat.length], place)
        if (!isObject(one)) {
          flat.push(one)
          continue
        }
        // A list of the realm, as resources make one, may know the path.
        if (typeof one.path === 'string') {
          flat.push({ ...one, ...canonical(componentName(one.path).providerType, one) })
          continue
        }
        const { name = null, subType = null, subComponents = null, ...rest } = one
        if (!areTexts({ name, subType }, place, notes)) continue
        const path = componentPath(parent, { providerType, subType: textOf(subType), name: textOf(name) })
        notes.recordMove(['components', flat.length, 'path'], name === null ? place : [...place, 'name'])
        flat.push({ ...rest, ...canonical(providerType, rest), path })
        if (subComponents !== null) readTypes(subComponents, path, [...place, 'subComponents'])
      }
    }
    readTypes(stated, '', ['components'])
    return { ...realm, components: flat }
  },
  write(realm) {
    if (!Array.isArray(realm.components)) return realm
    const top: Types = {}
    const byPath = new Map<string, Representation>()
    // What is as creation gives it is not there to be written: what belongs to it names it.
    const at = (path: string): Representation => {
      const known = byPath.get(path)
      if (known) return known
      const { providerType, ...called } = componentName(path)
      const one = called as Representation
      byPath.set(path, one)
      const parent = parentComponentPath(path)
      if (parent) at(parent).subComponents ??= {}
      const types = parent ? (at(parent).subComponents as Types) : top
      types[providerType] ??= []
      types[providerType].push(one)
      return one
    }
    for (const { path, ...rest } of realm.components as Representation[]) Object.assign(at(String(path)), rest)
    return { ...realm, components: top }
  },
  schemas(schemaOf) {
    const byType = z.record(z.string(), z.array(schemaOf('component')).nullable())
    return {
      realm: { components: byType.describe('Components by the type of their provider.') },
      component: {
        subComponents: byType.describe('Components that belong to this one, by the type of their provider.'),
      },
    }
  },
}

type Types = Record<string, Representation[]>

function elementsOf(
  types: Json,
  from: DocumentPath,
  { report }: ConversionContext,
): [place: DocumentPath, providerType: string, one: Json][] {
  if (Array.isArray(types) && from.length === 1) {
    return types.map((one, at) => [[...from, at], isObject(one) ? String(one.providerType ?? '') : '', one])
  }
  if (!isObject(types)) {
    const advice = 'put each list of components under the type of its provider'
    report(from, `${from.join('.')} must be an object, not ${describeType(types)}: ${advice}`)
    return []
  }
  return Object.entries(types).flatMap(([type, list]): [DocumentPath, string, Json][] => {
    const place = [...from, type]
    if (Array.isArray(list)) return list.map((one, at) => [[...place, at], type, one])
    const advice = 'begin each component with "- name: <name>"'
    if (list !== null) report(place, `${place.join('.')} must be a list, not ${describeType(list)}: ${advice}`)
    return []
  })
}

function areTexts(fields: Representation, from: DocumentPath, { report }: ConversionContext): boolean {
  const wrong = Object.entries(fields).filter(([, value]) => typeof value === 'object' && value !== null)
  for (const [field, value] of wrong)
    report([...from, field], `${from.join('.')}.${field} must be a text, not ${describeType(value)}`)
  return !wrong.length
}

function textOf(value: Json): string | undefined {
  return value === null || value === '' ? undefined : String(value)
}

function canonical(providerType: string, { config }: Representation): Representation {
  return config === undefined ? {} : { config: toCanonicalConfig(providerType, config) }
}

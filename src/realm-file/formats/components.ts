// Components: documents list them by the type of their provider, nested in their parents. Regent has a list with paths.
import * as z from 'zod'
import { formatComponentPath, getParentComponentPath, parseComponentPath } from '../../kinds/component.ts'
import { toCanonicalConfig } from '../../kinds/component-config.ts'
import { findComponentType, listProviderTypes } from '../../kinds/component-types.ts'
import { isList, isObject, type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Converts components by type to a list with paths. */
export const components: FormatConverter = {
  read(realm, context) {
    const { components: declared } = realm
    if (declared === undefined || declared === null) return realm
    const flat: Json[] = []
    const addTypes = (types: Json, parent: string, from: DocumentPath): void => {
      for (const { path: documentPath, providerType, component } of listComponents(types, from, context)) {
        context.recordMove(['components', flat.length], documentPath)
        if (!isObject(component)) {
          flat.push(component)
          continue
        }
        // A component in a list, which a resource creates, has its path.
        if (typeof component.path === 'string') {
          flat.push({ ...component, ...readConfig(parseComponentPath(component.path).providerType, component) })
          continue
        }
        warnOfProviderType({ path: documentPath, providerType, component }, context)
        const { name = null, subType = null, subComponents = null, ...rest } = component
        if (!checkTexts({ name, subType }, documentPath, context)) continue
        const path = formatComponentPath(parent, { providerType, subType: readName(subType), name: readName(name) })
        context.recordMove(
          ['components', flat.length, 'path'],
          name === null ? documentPath : [...documentPath, 'name'],
        )
        flat.push({ ...rest, ...readConfig(providerType, rest), path })
        if (subComponents !== null) addTypes(subComponents, path, [...documentPath, 'subComponents'])
      }
    }
    addTypes(declared, '', ['components'])
    return { ...realm, components: flat }
  },
  write(realm) {
    if (!isList(realm.components)) return realm
    return { ...realm, components: nestComponents(readObjects(realm.components)) }
  },
  schemas(getSchema) {
    const byType = z.record(z.string(), z.array(getSchema('component')).nullable())
    return {
      realm: { components: byType.describe('Components by the type of their provider.') },
      component: {
        subComponents: byType.describe('Child components by the type of their provider.'),
      },
    }
  },
}

/** A declared component, with its path in the document. */
interface DeclaredComponent {
  readonly path: DocumentPath
  readonly providerType: string
  readonly component: Json
}

function listComponents(types: Json, from: DocumentPath, { report }: ConversionContext): DeclaredComponent[] {
  if (isList(types) && from.length === 1) {
    return types.map((component, at) => {
      const providerType = isObject(component) ? String(component.providerType ?? '') : ''
      return { path: [...from, at], providerType, component }
    })
  }
  if (!isObject(types)) {
    const advice = 'put each list of components under the type of its provider'
    report(from, `${from.join('.')} must be an object, not ${describeType(types)}: ${advice}`)
    return []
  }
  return Object.entries(types).flatMap(([providerType, list]): DeclaredComponent[] => {
    const path = [...from, providerType]
    if (isList(list)) return list.map((component, at) => ({ path: [...path, at], providerType, component }))
    const advice = 'begin each component with "- name: <name>"'
    if (list !== null) report(path, `${path.join('.')} must be a list, not ${describeType(list)}: ${advice}`)
    return []
  })
}

/** Warns of a provider that Regent has for another type than the declared one, which is probably misspelt. */
function warnOfProviderType({ path, providerType, component }: DeclaredComponent, { warn }: ConversionContext): void {
  const { providerId } = readObject(component)
  if (typeof providerId !== 'string' || findComponentType(providerType, providerId)) return
  const [intended] = listProviderTypes(providerId)
  if (intended !== undefined)
    warn([...path, 'providerId'], `${providerType} has no provider ${providerId}; did you mean ${intended}?`)
}

/** Reports fields that are not texts. Returns whether all are. */
function checkTexts(fields: Representation, from: DocumentPath, { report }: ConversionContext): boolean {
  const invalid = Object.entries(fields).filter(([, value]) => typeof value === 'object' && value !== null)
  for (const [field, value] of invalid)
    report([...from, field], `${from.join('.')}.${field} must be a string, not ${describeType(value)}`)
  return !invalid.length
}

function readName(value: Json): string | undefined {
  return value === null || value === '' ? undefined : String(value)
}

function readConfig(providerType: string, { config }: Representation): Representation {
  return config === undefined ? {} : { config: toCanonicalConfig(providerType, config) }
}

type NestedComponent = Representation & { subComponents?: ComponentsByType }
type ComponentsByType = { [providerType: string]: NestedComponent[] }

function nestComponents(list: readonly Representation[]): ComponentsByType {
  const topLevel: ComponentsByType = {}
  const componentsByPath = new Map<string, NestedComponent>()

  // A parent that is not in the list has the values that creation sets. It is written with its name only.
  function getComponent(path: string): NestedComponent {
    const existing = componentsByPath.get(path)
    if (existing) return existing
    const { providerType, subType, name } = parseComponentPath(path)
    const component: NestedComponent = {
      ...(subType !== undefined && { subType }),
      ...(name !== undefined && { name }),
    }
    componentsByPath.set(path, component)
    const siblings = getChildren(getParentComponentPath(path))
    siblings[providerType] ??= []
    siblings[providerType].push(component)
    return component
  }

  function getChildren(path: string): ComponentsByType {
    if (path === '') return topLevel
    const parent = getComponent(path)
    parent.subComponents ??= {}
    return parent.subComponents
  }

  for (const { path, ...rest } of list) Object.assign(getComponent(String(path)), rest)
  return topLevel
}

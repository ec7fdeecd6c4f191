// Rules by which attributes of a resource become fields of an object.
import { crc32 } from 'node:zlib'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, isList, isObject, type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { FieldPath, ObjectNode } from './object-node.ts'
import { MissingReference, type RealmScope, type Reference } from './references.ts'

/** A rule for one attribute. A text is the path of the field that gets the value as it is. */
export type Rule = FieldPath | AttributeRule

/** Rules by attribute. Attributes without a rule become the field of the same name in camel case. */
export type Rules = Readonly<Record<string, Rule>>

/** A rule with a conversion. */
interface AttributeRule {
  readonly apply: (value: Json, node: ObjectNode, scope: RuleScope) => void
  readonly isSecret?: boolean
}

/** The realm of a resource, and the report of what does not become a field. */
export interface RuleScope {
  readonly realm: RealmScope
  readonly report: (attribute: string, reason: string) => void
  /** Whether secrets become fields. Otherwise, they are reported. */
  readonly secrets: boolean
  /** The path of the attribute: `smtp_server.auth.password`. */
  readonly attribute: string
  /** The attributes of the resource, or of the block with the attribute. */
  readonly attributes: Representation
  /** The kind whose fields attributes without a rule become. */
  readonly kind?: KindName | undefined
}

/** The reason for a secret that is left out. */
export const OMITTED_SECRET = 'is a secret'

/** The object whose fields rules set. */
interface RuleTarget {
  readonly node: ObjectNode
  readonly scope: Omit<RuleScope, 'attribute' | 'attributes'>
  /** The path of the block with the attributes; empty for the resource itself. */
  readonly path?: string
}

/** Sets fields of an object by the attributes of a resource. Absent and empty attributes are not managed. */
export function applyRules(attributes: Representation, rules: Rules, target: RuleTarget): void {
  const { node, path = '' } = target
  for (const [name, value] of Object.entries(attributes)) {
    if (isEmpty(value) || value === '') continue
    const scope = { ...target.scope, attributes, attribute: path + name }
    const rule = Object.hasOwn(rules, name) ? rules[name] : findFieldOfSameName(name, scope.kind)
    if (rule === undefined) {
      scope.report(scope.attribute, 'has no counterpart')
      continue
    }
    if (typeof rule === 'string' || isPath(rule)) {
      node.set(rule, value)
      continue
    }
    if (rule.isSecret && !scope.secrets) {
      scope.report(scope.attribute, OMITTED_SECRET)
      continue
    }
    try {
      rule.apply(value, node, scope)
    } catch (error) {
      if (!(error instanceof MissingReference)) throw error
      scope.report(scope.attribute, error.message)
    }
  }
}

const isPath = (rule: Rule): rule is readonly string[] => Array.isArray(rule)

function findFieldOfSameName(attribute: string, kind: KindName | undefined): string | undefined {
  const field = toCamelCase(attribute)
  return kind !== undefined && Object.hasOwn(kinds[kind].fields, field) ? field : undefined
}

/** Converts the name of an attribute: `root_url` to `rootUrl`. */
export const toCamelCase = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Converts the name of an attribute: `read_only` to `read.only`. */
export const toDotted = (name: string): string => name.replaceAll('_', '.')

/** A rule for an attribute that only Terraform uses. */
export const ignored: Rule = { apply: () => undefined }

/** Returns a rule that sets a field to the converted value. Nothing is set for undefined. */
export function converted(
  path: FieldPath,
  convert: (value: Json, realm: RealmScope) => Json | undefined,
): AttributeRule {
  return {
    apply(value, node, { realm }) {
      const field = convert(value, realm)
      if (field !== undefined) node.set(path, field)
    },
  }
}

/** Returns a rule that calls a function with the value, for an attribute that becomes more than one field. */
export const applied = (apply: AttributeRule['apply']): Rule => ({ apply })

/** Returns a rule for an attribute that is reported with a reason. */
export const reported = (reason: string): Rule => ({
  apply: (_value, _node, { report, attribute }) => report(attribute, reason),
})

/** Returns the rule for a secret. */
export const secret = (rule: AttributeRule): Rule => ({ ...rule, isSecret: true })

/** Returns a rule for a setting that is stored as text. */
export const text = (path: FieldPath): AttributeRule => converted(path, String)

/** Returns a rule for a flag that is stored only if it is true. The provider does not send it if it is false. */
export const ifTrue = (path: FieldPath): AttributeRule =>
  converted(path, (value) => (value === true ? value : undefined))

/** Returns a rule for a setting that is stored as text only if it is true. The provider does not send it if it is false. */
export const textIfTrue = (path: FieldPath): AttributeRule =>
  converted(path, (value) => (value === true ? 'true' : undefined))

/** Returns a rule for a number that is absent if it is 0. */
export const positive = (path: FieldPath): AttributeRule =>
  converted(path, (value) => (Number(value) > 0 ? value : undefined))

/**
 * Returns the elements of a set in the order in which the provider sends them to Keycloak, where the order counts: that of the decimal
 * digits of their checksums. States have them in the order of the texts.
 */
export function toSentOrder(set: Json): string[] {
  const getDigits = (element: string) => String(crc32(`${element};`))
  return toList(set)
    .map(String)
    .sort((a, b) => (getDigits(a) < getDigits(b) ? -1 : 1))
}

/** Returns a rule for a set that Keycloak stores as a list. */
export const sentList = (path: FieldPath): AttributeRule => converted(path, toSentOrder)

/** Returns a rule for a list that is stored as one text. */
export const joined = (path: FieldPath, separator: string): AttributeRule =>
  converted(path, (value) => (isList(value) ? value.join(separator) : String(value)))

/** Returns a rule for a value that Keycloak names differently. */
export const renamed = (path: FieldPath, names: Readonly<Record<string, string>>): AttributeRule =>
  converted(path, (value) => {
    const text = String(value)
    return Object.hasOwn(names, text) ? names[text] : text
  })

/** Returns a rule for a duration such as `1h30m0s`, which becomes seconds. */
export const seconds = (path: FieldPath): AttributeRule => converted(path, readSeconds)

const secondsByUnit: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 }

/** Returns the seconds of a duration as Go writes it, such as `1h30m0s`. */
export function readSeconds(duration: Json): number {
  const parts = String(duration).matchAll(/([\d.]+)(ms|h|m|s)/g)
  return [...parts].reduce((sum, [, amount, unit = 's']) => sum + Number(amount) * (secondsByUnit[unit] ?? 1), 0)
}

/** Returns a rule for a map whose values are texts with `##` between several values. */
export const valueLists = (path: FieldPath): AttributeRule =>
  converted(path, (value) =>
    Object.fromEntries(Object.entries(readObject(value)).map(([name, texts]) => [name, String(texts).split('##')])),
  )

/** Returns a rule for a map whose entries are added to a map with further entries. */
export const entries = (path: readonly string[], convert: (value: Json) => Json = String): Rule =>
  applied((value, node) => {
    for (const [name, entry] of Object.entries(readObject(value))) node.set([...path, name], convert(entry))
  })

/** Returns a rule for a block, whose attributes become fields of the same object. */
export const block = (rules: Rules): Rule =>
  applied((value, node, { kind: _, attribute, ...scope }) => {
    for (const attributes of readObjects(value)) applyRules(attributes, rules, { node, scope, path: `${attribute}.` })
  })

/** Returns a rule for ids of objects, which become a set of names. */
export const names = (path: FieldPath, kind: KindName): AttributeRule =>
  converted(path, (value, { references }) => toList(value).map((id) => references.resolve(kind, id).name))

/** Returns the objects with the ids that the state contains, and reports the other ids. */
export function resolveEach(kind: KindName, ids: Json, { realm, attribute, report }: RuleScope): Reference[] {
  const missing: MissingReference[] = []
  const references = toList(ids).flatMap((id) => {
    try {
      return realm.references.resolve(kind, id)
    } catch (error) {
      if (!(error instanceof MissingReference)) throw error
      missing.push(error)
      return []
    }
  })
  const advice = references.length ? '. The file declares the others, so that a plan removes this one: add it' : ''
  for (const { message } of missing) report(attribute, message + advice)
  return references
}

/** Returns a rule for the id of an object, which becomes its name. */
export const name = (path: FieldPath, kind: KindName): AttributeRule =>
  converted(path, (value, { references }) => references.resolve(kind, value).name)

/** Returns the elements of a list. */
export const toList = (value: Json): readonly Json[] => (isList(value) ? value : [])

/** Returns rules for attributes that become settings in a map. `toSetting` converts the name of an attribute to that of its setting. */
export function settings(
  map: string,
  attributes: readonly string[],
  { toSetting = toCamelCase, rule = text }: { toSetting?: (name: string) => string; rule?: typeof text } = {},
): Rules {
  return Object.fromEntries(attributes.map((attribute) => [attribute, rule([map, toSetting(attribute)])]))
}

/** Parses a text that contains a JSON list or object; other texts stay as they are. */
export function parseJsonText(value: Json): Json {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Parses the values of a map that contain JSON. */
export const parseJsonTexts = (value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, parseJsonText(member)]))
    : value

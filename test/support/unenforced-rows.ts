// Declares the values of the table of effects that are not enforced, one by one.

import type { FieldEffect, UnenforcedEffect } from '../../src/kinds/effects/field-effect.ts'
import { effects } from '../../src/kinds/effects/index.ts'
import type { Field } from '../../src/kinds/fields.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Json, Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import { findParent, type TreeObject } from '../../src/kinds/tree.ts'
import { createSampleObject, getSampleValues } from './samples.ts'

/** A value that is not enforced: of a field, a key of a map, or a member of an element; or the id of a provider. */
export interface UnenforcedRow {
  readonly kind: KindName
  readonly path: string
  readonly provider?: { readonly label: string; readonly id: string }
  readonly effect: UnenforcedEffect
}

/** Rows that no document can declare, with the error. */
export const undeclarableRows: Readonly<Record<string, string>> = {
  'client.protocol:acme-meter': 'Invalid protocol: acme-meter',
  'clientScope.protocol:acme-meter': 'Unexpected protocol',
}

/** Lists the rows of the table that are not enforced. */
export function listUnenforcedRows(): UnenforcedRow[] {
  return Object.entries(effects).flatMap(([kind, kindEffects]) =>
    Object.entries(kindEffects).flatMap(([path, effect]) => listRows(kind as KindName, path, effect)),
  )
}

function listRows(kind: KindName, path: string, effect: FieldEffect): UnenforcedRow[] {
  if (effect.effect === 'enforced') return []
  if (effect.effect !== 'provider') return [{ kind, path, effect }]
  const { label, providers, unlisted } = effect
  return Object.entries({ ...providers, [OTHER_KEY]: unlisted }).flatMap(([id, provider]) =>
    provider.effect === 'enforced' ? [] : [{ kind, path, effect: provider, provider: { label, id } }],
  )
}

/** The name of a key of a map that is not listed, and the id of a provider that is not. */
export const OTHER_KEY = 'acme-meter'

/** Values of keys of maps and of members whose type does not determine the valid ones. */
const specialValues: Readonly<Record<string, Json>> = {
  'protocolMapper.config.claim.name': 'scope',
  'client.authorizationSettings.*': 'DISABLED',
  'realm.attributes.cibaExpiresIn': '77',
  'realm.attributes.cibaInterval': '7',
  'realm.attributes.oauth2DeviceCodeLifespan': '77',
  'realm.attributes.oauth2DevicePollingInterval': '7',
  'realm.attributes.parRequestUriLifespan': '77',
  'client.attributes.logoUri': 'https://one.example.org',
  'client.attributes.policyUri': 'https://one.example.org',
  'client.attributes.tosUri': 'https://one.example.org',
  'workflow.steps.after': '2d',
  'workflow.steps.uses': 'notify-user',
}

/** Elements of lists of objects, which get the value of a member. */
const elements: Readonly<Record<string, (label: string) => Representation>> = {
  'realm.clientProfiles': (label) => ({ name: label }),
  'realm.clientPolicies': (label) => ({ name: label, enabled: true, profiles: [] }),
  'realm.clientProfiles.executors': () => ({ configuration: {} }),
  'realm.clientPolicies.conditions': () => ({ configuration: {} }),
  'authenticationFlow.authenticationExecutions': () => ({ authenticator: 'auth-cookie', requirement: 'REQUIRED' }),
  'user.credentials': () => ({ type: 'otp', secretData: '{"value":"one"}', credentialData: '{}' }),
  'user.federatedIdentities': () => ({ identityProvider: 'a', userId: 'one', userName: 'One' }),
  'workflow.steps': () => ({ uses: 'disable-user', after: '1d' }),
}

/** Fields that differ from those of sample objects, so that only the row has a note. */
const enforcedFields: Readonly<Partial<Record<KindName, Representation>>> = {
  requiredAction: { providerId: 'UPDATE_PASSWORD' },
}

/** Fields that providers need besides those of sample objects. */
const neededFields: Readonly<Record<string, Representation>> = {
  'identityProvider.providerId:google': { config: { clientId: 'regent' } },
  'identityProvider.providerId:oauth2': {
    config: {
      clientId: 'regent',
      authorizationUrl: 'https://idp.example.org/auth',
      tokenUrl: 'https://idp.example.org/token',
      userInfoUrl: 'https://idp.example.org/user',
    },
  },
}

/** Keys of maps with a fixed set of keys. */
const fixedKeys: Readonly<Record<string, string>> = { 'client.authorizationSettings.*': 'policyEnforcementMode' }

/** Returns the path of the value that is declared for a row: of other keys of a map, that of one key. */
export const toDeclaredPath = ({ kind, path }: UnenforcedRow): string =>
  path.replace('*', fixedKeys[`${kind}.${path}`] ?? OTHER_KEY)

/** Returns an object with the value of a row besides its required fields. `label` is its name, except for a realm. */
export function createRowObject(row: UnenforcedRow, label: string): TreeObject {
  const { kind } = row
  const [name, ...rest] = toDeclaredPath(row).split('.') as [string, ...string[]]
  if (name === kinds[kind].naturalKey) return createSampleObject(kind, label)
  const fields = { [name]: toValue(row, label, { name, field: kinds[kind].fields[name]!, rest }) }
  if (kind === 'realm') return toRealmObject(fields)
  // A note about the type of a new identity provider covers its settings. An existing one need not declare its type.
  if (kind === 'identityProvider' && !row.provider)
    return { kind, key: ['a'], representation: { alias: 'a', ...fields }, path: [] }
  return createSampleObject(kind, label, { ...enforcedFields[kind], ...fields, ...neededFields[titleRow(row)] })
}

/** Returns an object with settings of the realm. */
export const toRealmObject = (representation: Representation): TreeObject => ({
  kind: 'realm',
  key: [],
  representation,
  path: [],
})

/** Returns the ancestors of an object, by name only. */
export function listParents(key: Key): TreeObject[] {
  const parent = findParent(key)
  if (!parent) return []
  const representation = { [kinds[parent.kind].naturalKey]: parent.key.at(-1)! }
  return [...listParents(parent.key), { ...parent, representation, path: [] }]
}

/** Returns the name of a row: kind.field or kind.field:provider. */
export const titleRow = ({ kind, path, provider }: UnenforcedRow): string =>
  `${kind}.${path}${provider ? `:${provider.id}` : ''}`

/** Whether a value of the row asks for something. */
export function asksForSomething({ provider, effect: { unless = [] } }: UnenforcedRow): boolean {
  return !unless.includes(provider ? provider.id : true)
}

interface FieldPosition {
  readonly name: string
  readonly field: Field
  readonly rest: readonly string[]
}

function toValue(row: UnenforcedRow, label: string, { name, field, rest }: FieldPosition): Json {
  if (field.type === 'map' && rest.length) {
    const listed = specialValues[`${row.kind}.${row.path}`] ?? row.effect.values?.[0]
    const candidates = [...(listed === undefined ? [] : [listed]), 'one', ['one']]
    const maps = candidates.map((value) => ({ [rest.join('.')]: value }))
    return maps.find((map) => field.schema.safeParse(map).success) ?? maps[0]!
  }
  const [member, ...deeper] = rest
  if (!field.members || member === undefined) return toFieldValue(row, field)
  const value = toValue(row, label, { name: `${name}.${member}`, field: field.members[member]!, rest: deeper })
  return [{ ...elements[`${row.kind}.${name}`]!(label), [member]: value }]
}

function toFieldValue({ kind, path, provider, effect }: UnenforcedRow, field: Field): Json {
  if (provider) return field.type === 'set' || field.type === 'list' ? [provider.id] : provider.id
  const special = specialValues[`${kind}.${path}`]
  if (special !== undefined) return special
  const isInert = (value: Json) =>
    [false, field.default, kinds[kind].defaults({})[path], ...(effect.unless ?? [])].some(
      (inert) => JSON.stringify(inert) === JSON.stringify(value),
    )
  const values = getSampleValues(`${kind}.${path}`, field)
  return values.find((value) => !isInert(value)) ?? values[0]
}

/**
 * Divides rows into lists of rows that one plan can declare: a plan has one note for all objects of a kind with the same reason, and a realm
 * has one value of a field.
 */
export function divideRows(rows: readonly UnenforcedRow[]): UnenforcedRow[][] {
  const batches: { readonly rows: UnenforcedRow[]; readonly slots: Set<string> }[] = []
  for (const row of rows) {
    const slots = listSlots(row)
    const free = batches.find((batch) => slots.every((slot) => !batch.slots.has(slot)))
    const batch = free ?? { rows: [], slots: new Set<string>() }
    if (!free) batches.push(batch)
    batch.rows.push(row)
    for (const slot of slots) batch.slots.add(slot)
  }
  return batches.map((batch) => batch.rows)
}

/** Returns what only one of the rows in a plan can have. */
function listSlots({ kind, path, provider, effect }: UnenforcedRow): string[] {
  if (kind !== 'realm') return [`${kind} ${provider?.id ?? ''} ${effect.reason}`]
  return [`${kind} ${effect.reason}`, `${kind} ${path.split('.')[0]}`]
}

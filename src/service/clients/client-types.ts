// Client types: checks of the types of a realm, and of the clients that have them.
import {
  CLIENT_TYPES,
  type ClientType,
  findRuledProperties,
  globalClientTypes,
  hasTypeValue,
  isPropertyConfig,
  parseClientTypes,
  type RuledProperty,
} from '../../kinds/client-types.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { Context } from '../context/context.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import { findLiveRealm } from '../objects/live-objects.ts'

const ATTRIBUTE = `attributes.${CLIENT_TYPES}`

/** Throws invalid where the attribute with the client types of a realm has a problem. */
export function checkClientTypesAttribute(text: Json | undefined): void {
  const types = parseClientTypes(text)
  if (!types)
    throw failure('invalid', `The attribute ${CLIENT_TYPES} must be the JSON of {"${CLIENT_TYPES}": […]}`, {
      field: ATTRIBUTE,
    })
  checkClientTypes(types)
}

/** Throws invalid where client types of a realm have a problem. */
export function checkClientTypes(types: readonly ClientType[]): void {
  const names = [...globalClientTypes, ...types].map(({ name }) => name)
  const refuse = (message: string) => failure('invalid', message, { field: ATTRIBUTE })
  if (new Set(names).size < names.length) throw refuse('Duplicated client type name')
  for (const { provider, config } of types) {
    if (provider !== 'default') throw refuse('Did not find client type provider')
    for (const [name, property] of Object.entries(config)) {
      if ((property.applicable ?? null) === null)
        throw refuse("Invalid configuration of 'applicable' property on client type")
      const isContradictory = property.applicable === false && (property.value ?? null) !== null
      if (isContradictory || !isPropertyConfig(name, property))
        throw refuse('Invalid configuration of property on client type')
    }
  }
}

/** Returns the client types of the realm if one of the clients has a type; none otherwise. One statement, or none. */
export async function findClientTypes(
  context: Context,
  clients: readonly Representation[],
): Promise<readonly ClientType[]> {
  if (!clients.some(({ type }) => (type ?? null) !== null)) return []
  return readClientTypes((await findLiveRealm(context))?.representation ?? {})
}

/** Returns the client types of a realm. */
export function readClientTypes({ attributes }: Representation): readonly ClientType[] {
  return parseClientTypes(readObject(attributes)[CLIENT_TYPES]) ?? []
}

/**
 * Returns the properties that the type of a client rules; none if it has no type. Throws invalid if the type does not exist, unless the
 * client has it already.
 */
export function getRuledProperties(
  { type }: Representation,
  types: readonly ClientType[],
  { isExisting = false } = {},
): readonly RuledProperty[] {
  if ((type ?? null) === null) return []
  const ruled = findRuledProperties(String(type), types) ?? (isExisting ? [] : undefined)
  if (!ruled)
    throw createTypeError('Client type not found.', {
      field: 'type',
      params: [],
      reason: `the client type ${type}, or one of its parents, does not exist. Declare it in ${ATTRIBUTE} of the realm`,
    })
  return ruled
}

/**
 * Throws invalid where a complete client has other values than its type allows. `isChecked`: whether the client gets a value at this path:
 * clients keep the values that they have when a type changes.
 */
export function checkRuledProperties(
  client: Representation,
  ruled: readonly RuledProperty[],
  isChecked: (path: string) => boolean,
): void {
  const refused = ruled.filter((property) => isChecked(property.path) && !hasTypeValue(client, property))
  const [first] = refused
  if (!first) return
  const names = refused.map(({ name }) => name)
  throw createTypeError('Cannot change property of client as it is not allowed by the specified client type.', {
    field: first.path,
    params: names,
    reason: `the client type ${client.type} does not allow the values of ${names.join(', ')}. Declare those of the type`,
  })
}

/** Creates the error of a REST request that would change the type of a client. */
export const createTypeChangeError = (): ServiceError =>
  createTypeError('Not supported to change client type', { field: 'type', params: [] })

/** The first refused field, the names of the refused properties, and the reason. */
interface TypeProblem {
  readonly field: string
  readonly params: readonly string[]
  readonly reason?: string
}

const createTypeError = (message: string, problem: TypeProblem): ServiceError =>
  failure('invalid', message, { form: 'params', ...problem })

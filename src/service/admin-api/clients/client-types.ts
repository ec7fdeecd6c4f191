// The REST operations on client types, and the types of clients in REST requests.
import { isDeepStrictEqual } from 'node:util'
import {
  CLIENT_TYPES,
  type ClientType,
  findRuledProperties,
  globalClientTypes,
  readProperty,
  renderClientTypes,
} from '../../../kinds/client-types.ts'
import { type Json, type Representation, readObject } from '../../../kinds/json.ts'
import {
  checkClientTypes,
  createTypeChangeError,
  findClientTypes,
  readClientTypes,
} from '../../clients/client-types.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'

/** Client types in REST. */
export interface ClientTypes {
  readonly [CLIENT_TYPES]: readonly ClientType[]
  readonly 'global-client-types'?: readonly ClientType[] | null | undefined
}

/** Returns the client types of the realm, and those that every realm has. */
export async function getClientTypes(context: Context): Promise<ClientTypes> {
  requirePermissions(context, 'view-realm')
  const { representation } = await getCurrentRealm(context)
  return { [CLIENT_TYPES]: readClientTypes(representation), 'global-client-types': globalClientTypes }
}

/** Replaces the client types of the realm. Keycloak: global types in the body are ignored. Throws invalid. */
export async function replaceClientTypes(context: WriteContext, body: ClientTypes): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const types = body[CLIENT_TYPES]
  checkClientTypes(types)
  const live = await getCurrentRealm(context)
  await writers.realm.update(context, [{ live, set: { [`attributes.${CLIENT_TYPES}`]: renderClientTypes(types) } }])
}

/**
 * Returns the body of a client without the properties that are not applicable to its type. Keycloak: they are silently ignored. One
 * statement, or none.
 */
export async function omitInapplicable(context: Context, body: Representation): Promise<Representation> {
  const types = await findClientTypes(context, [body])
  const ruled = (body.type ?? null) === null ? [] : (findRuledProperties(String(body.type), types) ?? [])
  const omitted = new Set(
    ruled.filter(({ path, applicable }) => !applicable && readProperty(body, path) !== null).map(({ path }) => path),
  )
  if (!omitted.size) return body
  const omit = (members: Representation, prefix: string): Representation =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !omitted.has(`${prefix}${name}`)))
  const fields = omit(body, '')
  const { attributes = null } = fields
  return attributes === null ? fields : { ...fields, attributes: omit(readObject(attributes), 'attributes.') }
}

/** Throws invalid if a body would change the type of a client. Keycloak: so does a body without the type. */
export function requireSameType({ representation }: LiveObject, { type = null }: Representation): void {
  const liveType: Json = representation.type ?? null
  if (!isDeepStrictEqual(type, liveType)) throw createTypeChangeError()
}

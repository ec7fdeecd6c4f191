// Defaults of new clients: the realm's default client scopes of their protocol, and the scope of service accounts.
import { createHash } from 'node:crypto'
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { builtInObjects } from '../../kinds/built-in/index.ts'
import { SERVICE_ACCOUNT_SCOPE } from '../../kinds/client-scope.ts'
import { findRuledProperties, getTypeValues, type RuledProperty } from '../../kinds/client-types.ts'
import { unflatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { cacheUntilChange } from '../context/realm-values.ts'
import { findLiveRealm, type LiveObject, listObjects, type ObjectRepresentation } from '../objects/live-objects.ts'
import { readClientTypes } from './client-types.ts'

type ClientScope = Pick<LiveObject, 'key' | 'representation'>

/** The client scopes that a realm assigns to new clients. */
export interface DefaultClientScopes {
  readonly default: readonly ClientScope[]
  readonly optional: readonly ClientScope[]
  /** The client scope `service_account`, if the realm has it. */
  readonly serviceAccount: ClientScope | undefined
}

/** Adds the ids of the client scopes to those that the context knows. */
export function withScopeIds(context: WriteContext, scopes: readonly LiveObject[]): WriteContext {
  const ids = scopes.map(({ id, key }) => [formatAddress('clientScope', key), id] as const)
  return { ...context, knownIds: new Map([...(context.knownIds ?? []), ...ids]) }
}

/** Returns the client scopes that the realm assigns to new clients. Two statements at most. */
export const getDefaultClientScopes: (
  context: Context,
) => Promise<DefaultClientScopes & { readonly all: readonly LiveObject[] }> = cacheUntilChange(
  ['realm', 'clientScope'],
  async (context) => {
    const realm = await findLiveRealm(context)
    const names = getScopeNames(realm?.representation ?? {})
    const keys = [...names.default, ...names.optional, SERVICE_ACCOUNT_SCOPE]
    const scopes = await listObjects(context, 'clientScope', { keys: keys.map((name) => [name]) })
    return { ...selectScopes(names, scopes), all: scopes }
  },
)

interface ScopeNames {
  readonly default: readonly string[]
  readonly optional: readonly string[]
}

function getScopeNames(realm: Representation): ScopeNames {
  const names = (field: string) => readTexts(realm[field]).toSorted()
  return { default: names('defaultDefaultClientScopes'), optional: names('defaultOptionalClientScopes') }
}

function selectScopes(names: ScopeNames, scopes: readonly ClientScope[]): DefaultClientScopes {
  const select = (selected: readonly string[]) => scopes.filter(({ key }) => selected.includes(key[0]!))
  return {
    default: select(names.default),
    optional: select(names.optional),
    serviceAccount: select([SERVICE_ACCOUNT_SCOPE])[0],
  }
}

/** Returns the names of those client scopes that have the protocol. */
export function selectNamesOfProtocol(scopes: readonly ClientScope[], protocol: Json | undefined): string[] {
  return scopes.filter(({ representation }) => representation.protocol === protocol).map(({ key }) => key[0]!)
}

/** The parts of a realm that give new clients their fields. */
export interface NewClientSettings {
  readonly scopes: DefaultClientScopes
  /** The properties that the type of the client rules. */
  readonly ruled: readonly RuledProperty[]
}

/** Returns the fields that a new client gets from its realm and its type, given the declared ones. Generated values are not included. */
export function getClientDefaults(untyped: Representation, { scopes, ruled }: NewClientSettings): Representation {
  const typeValues = unflatten(kinds.client, getTypeValues(untyped, ruled))
  const declared = addTypeValues(untyped, ruled)
  const protocol = String(declared.protocol ?? kinds.client.defaults(declared).protocol)
  const listNames = (list: readonly ClientScope[]) => selectNamesOfProtocol(list, protocol)
  // Keycloak: a client that declares only one of the two lists gets an empty other one.
  const { defaultClientScopes: assigned = null, optionalClientScopes: optional = null } = declared
  const defaultNames = assigned ? readTexts(assigned) : optional ? [] : listNames(scopes.default)
  // Keycloak: a client with a service account always has the scope for it, if both have the same protocol, unless its type rules
  // whether it has one.
  const getsAccountScope = hasServiceAccount(declared) && !ruled.some(({ path }) => path === 'serviceAccountsEnabled')
  const accountNames = getsAccountScope && scopes.serviceAccount ? listNames([scopes.serviceAccount]) : []
  const identifier = createHash('sha1').update(String(declared.clientId)).digest('base64')
  const attributes = {
    // Keycloak: unless only its type declares the protocol.
    ...(untyped.protocol === 'saml' && { 'saml.artifact.binding.identifier': identifier }),
    ...readObject(declared.attributes),
  }
  return {
    ...typeValues,
    defaultClientScopes: [...new Set([...defaultNames, ...accountNames])],
    optionalClientScopes: optional ?? (assigned ? [] : listNames(scopes.optional)),
    ...((protocol === 'saml' || typeValues.attributes !== undefined) && { attributes }),
  }
}

/** Returns a new client with the values that its type gives it. */
export function addTypeValues(declared: Representation, ruled: readonly RuledProperty[]): Representation {
  const { attributes, ...fields } = unflatten(kinds.client, getTypeValues(declared, ruled))
  return {
    ...declared,
    ...fields,
    ...(attributes !== undefined && { attributes: { ...readObject(attributes), ...readObject(declared.attributes) } }),
  }
}

function hasServiceAccount(declared: Representation): boolean {
  if (isAdminPermissions(declared)) return false
  return (declared.serviceAccountsEnabled ?? kinds.client.defaults(declared).serviceAccountsEnabled) === true
}

/** Returns a function that computes the defaults of clients in a realm that does not exist yet. */
export function createClientDefaults(realm: ObjectRepresentation): (declared: Representation) => Representation {
  const [builtIn, ...objects] = builtInObjects(realm.key[0]!)
  const names = getScopeNames(builtIn!.representation)
  const scopes = selectScopes(
    names,
    objects.filter(({ kind }) => kind === 'clientScope'),
  )
  const hasBuiltInScopes = JSON.stringify(names) === JSON.stringify(getScopeNames(realm.representation))
  // If the realm declares other default scopes, their protocols are unknown here: a name that no scope has makes each
  // client differ from its defaults.
  const unknownScopes = hasBuiltInScopes ? {} : { defaultClientScopes: [''], optionalClientScopes: [''] }
  const types = readClientTypes(realm.representation)
  return (declared) => {
    const ruled = findRuledProperties(String(declared.type ?? ''), types) ?? []
    return getClientDefaults({ ...unknownScopes, ...declared }, { scopes, ruled })
  }
}

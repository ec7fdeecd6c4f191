// What a new client gets of its realm: client scopes, by protocol, and those of a service account.
import { createHash } from 'node:crypto'
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { builtInObjects } from '../../kinds/built-in/index.ts'
import { SERVICE_ACCOUNT_SCOPE } from '../../kinds/client-scope.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../context/context.ts'
import { type LiveObject, listObjects, type SaidObject } from '../objects/live.ts'
import type { NewObject } from '../objects/writers.ts'

/** A client scope, as far as it matters to new clients. */
type Scope = Pick<LiveObject, 'key' | 'representation'>

/** What a realm gives to new clients. */
export interface NewClientScopes {
  /** The client scopes that the realm gives to new clients, with their protocols. */
  readonly default: readonly Scope[]
  readonly optional: readonly Scope[]
  /** Whether the realm has the client scope of service accounts. */
  readonly serviceAccount: boolean
}

/** What the realm gives to these new clients. Two statements. */
export async function newClientScopes(context: Context, objects: readonly NewObject[]): Promise<NewClientScopes> {
  const [realm] = await listObjects(context, 'realm', {})
  const wantsAccount = objects.some(({ representation }) => hasAccount(representation))
  const names = defaultScopes(realm?.representation ?? {})
  const keys = [...names.default, ...names.optional, ...(wantsAccount ? [SERVICE_ACCOUNT_SCOPE] : [])]
  const scopes = await listObjects(context, 'clientScope', { keys: keys.map((name) => [name]) })
  return choose(names, scopes)
}

interface ScopeNames {
  readonly default: readonly string[]
  readonly optional: readonly string[]
}

function defaultScopes(realm: Representation): ScopeNames {
  const names = (field: string) => ((realm[field] ?? []) as string[]).toSorted()
  return { default: names('defaultDefaultClientScopes'), optional: names('defaultOptionalClientScopes') }
}

function choose(names: ScopeNames, scopes: readonly Scope[]): NewClientScopes {
  const among = (wanted: readonly string[]) => scopes.filter(({ key }) => wanted.includes(key[0]!))
  return {
    default: among(names.default),
    optional: among(names.optional),
    serviceAccount: among([SERVICE_ACCOUNT_SCOPE]).length > 0,
  }
}

/** What a new client that states so much has of what it gets, but for what is made up. */
export function additions(stated: Representation, scopes: NewClientScopes): Representation {
  const protocol = String(stated.protocol ?? kinds.client.defaults(stated).protocol)
  const matching = (list: readonly Scope[]) =>
    list.filter(({ representation }) => representation.protocol === protocol).map(({ key }) => key[0]!)
  // Keycloak: who states one of the two lists means that the other is empty.
  const { defaultClientScopes = null, optionalClientScopes = null } = stated
  const byDefault = (defaultClientScopes ?? (optionalClientScopes ? [] : matching(scopes.default))) as string[]
  const optional = optionalClientScopes ?? (defaultClientScopes ? [] : matching(scopes.optional))
  // Keycloak: a client with a service account has its client scope, whatever is stated.
  const account = hasAccountScope(stated, scopes) ? [SERVICE_ACCOUNT_SCOPE] : []
  const identifier = createHash('sha1').update(String(stated.clientId)).digest('base64')
  return {
    defaultClientScopes: [...new Set([...byDefault, ...account])],
    optionalClientScopes: optional,
    ...(protocol === 'saml' && {
      attributes: {
        'saml.artifact.binding.identifier': identifier,
        ...(stated.attributes as Representation | undefined),
      },
    }),
  }
}

function hasAccountScope(stated: Representation, { serviceAccount }: NewClientScopes): boolean {
  return hasAccount(stated) && serviceAccount
}

/** Whether a new client gets an account of its own. */
function hasAccount(stated: Representation): boolean {
  if (isAdminPermissions(stated)) return false
  return (stated.serviceAccountsEnabled ?? kinds.client.defaults(stated).serviceAccountsEnabled) === true
}

/** What clients of a realm that is new get. Pure. */
export function additionsIn(realm: SaidObject): (stated: Representation) => Representation {
  const [builtIn, ...objects] = builtInObjects(realm.key[0]!)
  const names = defaultScopes(builtIn!.representation)
  const scopes = choose(
    names,
    objects.filter(({ kind }) => kind === 'clientScope'),
  )
  const usual = JSON.stringify(names) === JSON.stringify(defaultScopes(realm.representation))
  // Where a realm gives others, no client has what it gets: no client scope is called so.
  const unusual = usual ? {} : { defaultClientScopes: [''], optionalClientScopes: [''] }
  return (stated) => additions({ ...unusual, ...stated }, scopes)
}

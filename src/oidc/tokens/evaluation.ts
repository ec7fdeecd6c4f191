// What a client would get for a scope: mappers, roles, and examples of what is said of a user.
import { randomUUID } from 'node:crypto'
import { secondsOf } from '../../lib/seconds.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import type { MapperHolder, StoredMapper } from '../../service/context/store-types.ts'
import { writers } from '../../service/kinds/index.ts'
import { findById } from '../../service/login/login.ts'
import { mappersOf, rolesInScope } from '../../service/login/token-content.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { demand, may } from '../../service/permissions/administrators.ts'
import { wordsOf } from '../grants/grant.ts'
import { issuerOf, realmOf } from '../realm.ts'
import { holderOf, scopesNamed, withDefaults } from './scopes.ts'
import { type Claims, type Target, tokenContent } from './token-content.ts'
import { accessLifespan } from './token-response.ts'

/** A mapper that takes part, with the word of the scope that it comes by; undefined: it is the client's own. */
export interface ScopedMapper {
  readonly mapper: StoredMapper
  readonly container: string
  readonly word: string | undefined
}

/** The client with that id. Throws not_found, and forbidden unless the caller may view clients. */
async function viewClient(context: Context, id: string): Promise<LiveObject> {
  const [client] = await writers.client.list(context, { ids: [id] })
  if (!client) throw failure('not_found', 'Could not find client')
  demand(context, 'view-clients')
  return client
}

/** The mappers that make what the client gets for the scope. */
export async function evaluatedMappers(context: Context, id: string, scope: string): Promise<ScopedMapper[]> {
  const client = await viewClient(context, id)
  const holders = await holdersFor(context, client, scope)
  return holders.flatMap(([word, holder]) => holder.mappers.map((mapper) => ({ mapper, container: holder.id, word })))
}

/** The roles of the realm, or of a client, which tokens of the client may show for the scope; or those that they may not. */
export async function evaluatedRoles(
  context: Context,
  id: string,
  { scope, container, granted }: { readonly scope: string; readonly container: string; readonly granted: boolean },
): Promise<LiveObject[]> {
  const client = await viewClient(context, id)
  const own = container === context.realm.name
  const [holder] = own ? [] : await writers.client.list(context, { ids: [container] })
  if (!own && !holder) throw failure('not_found', 'Role Container not found')
  const where = holder ? { parents: { kind: 'client' as const, ids: [holder.id] } } : { topLevel: true as const }
  const roles = await writers.role.list(context, where)
  if (client.representation.fullScopeAllowed === true) return granted ? roles : []
  const scopes = (await holdersFor(context, client, scope)).flatMap(([word, { id }]) =>
    word === undefined ? [] : [id],
  )
  const inScope = new Set(await rolesInScope(context, client.id, scopes))
  return roles.filter((role) => inScope.has(role.id) === granted)
}

/** What an example is of: whose, for which scope, and for which clients, by their client ids. */
export interface ExampleOf {
  readonly client: string
  readonly user: string | undefined
  readonly scope: string
  readonly audience: readonly string[]
}

/** An example of what the client would be told of the user. */
export async function example(
  service: Service,
  context: Context,
  base: string,
  target: Exclude<Target, 'introspection' | 'response'>,
  of: ExampleOf,
): Promise<Claims> {
  const client = await viewClient(context, of.client)
  if (of.user === undefined) throw failure('not_found', 'No userId provided')
  const user = await findById(context, of.user)
  if (!user) throw failure('not_found', 'No user found')
  if (!may(context, 'view-users')) throw failure('forbidden', 'You have no access to this user')
  const realm = await realmOf(context)
  const named = of.audience.length
    ? await writers.client.list(context, { keys: of.audience.map((name) => [name]) })
    : []
  const audience = named.length ? named.map(({ key }) => key[0]!) : undefined
  const scopes = withDefaults(client, wordsOf(of.scope))
  const subject = { base, realm, client, user, scopes, session: { id: randomUUID() }, audience }
  const claims = (await tokenContent(service, context, subject, [target])).claims(target)
  if (target === 'userInfo') return claims
  const now = secondsOf(realm.now)
  return {
    exp: now + accessLifespan(realm, client, undefined),
    iat: now,
    jti: randomUUID(),
    iss: issuerOf(base, realm.name),
    typ: target === 'idToken' ? 'ID' : 'Bearer',
    ...claims,
  }
}

/** What the words of the scope, and the default client scopes, stand for; the client itself is last. */
async function holdersFor(
  context: Context,
  client: LiveObject,
  scope: string,
): Promise<[word: string | undefined, holder: MapperHolder][]> {
  const words = withDefaults(client, wordsOf(scope))
  const found = await mappersOf(context, client.id, scopesNamed(words), String(client.representation.protocol))
  const named = words.flatMap((word): [string, MapperHolder][] => {
    const holder = holderOf(found, word)
    return holder ? [[word, holder]] : []
  })
  return [...named, [undefined, found.at(-1)!]]
}

// The scope of a token: the client's default client scopes, and those of its optional ones that are asked for.
import type { Context } from '../../service/context/context.ts'
import type { MapperHolder } from '../../service/context/store-types.ts'
import { factsOf, mappersOf, organizationsNamed } from '../../service/login/token-content.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { MEMBERSHIP } from '../mappers/organizations.ts'
import { OAuthError } from '../oauth-error.ts'

/** Words of the scope parameter that are no client scopes. */
const PROTOCOL_SCOPES = ['openid']

/** Keycloak: which organizations a word asks for: the one that the user has, all, or the one with the alias. */
const EVERY = '*'

/**
 * The words that a request is granted: what it asks for, in its order, and the client's default client scopes. Throws
 * invalid_scope. No statement, or two where organizations are asked for by their names.
 */
export async function grantedScopes(context: Context, client: LiveObject, requested = ''): Promise<readonly string[]> {
  const words = [...new Set(requested.split(' ').filter(Boolean))]
  const others = othersIn(client, words)
  if (others.length && !(await nameOrganizations(context, client, words, others))) {
    const reason = `Invalid scopes: ${words.join(' ')}`
    throw new OAuthError(400, 'invalid_scope', reason, { error: 'invalid_request', reason })
  }
  return withDefaults(client, words)
}

/** The words, and the client's default client scopes. Keycloak: who names organizations does not mean whichever. */
export function withDefaults(client: LiveObject, words: readonly string[]): readonly string[] {
  const stated = new Set([...words, ...othersIn(client, words).map(scopeOf)])
  return [...words, ...scopesOf(client, 'default').filter((name) => !stated.has(name))]
}

/** Those of the words that an earlier grant covers: RFC 6749, section 6. Default client scopes are granted at any time. */
export function scopesWithin(client: LiveObject, granted: readonly string[], words: readonly string[]): string[] {
  const covered = new Set([...granted, ...scopesOf(client, 'default')])
  return words.filter((word) => covered.has(word) || covered.has(`${scopeOf(word)}:${EVERY}`))
}

function scopesOf({ representation }: LiveObject, how: 'default' | 'optional'): readonly string[] {
  return (representation[`${how}ClientScopes`] ?? []) as string[]
}

/** The words that are not the name of a client scope. */
function othersIn(client: LiveObject, words: readonly string[]): string[] {
  const known = new Set([...PROTOCOL_SCOPES, ...scopesOf(client, 'default'), ...scopesOf(client, 'optional')])
  return words.filter((word) => !known.has(word))
}

/** Keycloak: the scope that makes a session an offline one. */
export const OFFLINE = 'offline_access'

/** Whether the user may have what the scope of offline access gives. Two statements. */
export async function mayGoOffline(context: Context, client: LiveObject, user: string): Promise<boolean> {
  const holders = await mappersOf(context, client.id, [OFFLINE])
  const scopes = holders.flatMap(({ id, name }) => (name === null ? [] : [id]))
  const { permitted } = await factsOf(context, user, { client: client.id, scopes, fullScope: true, roles: false })
  return permitted.length > 0
}

/** Throws not_allowed where offline access is asked for and the user may not have it. No statement, or two. */
export async function demandOffline(
  context: Context,
  client: LiveObject,
  user: string,
  scopes: readonly string[],
): Promise<void> {
  if (scopes.includes(OFFLINE) && !(await mayGoOffline(context, client, user))) {
    const reason = 'Offline tokens not allowed for the user or client'
    throw new OAuthError(400, 'not_allowed', reason, { error: 'not_allowed', reason })
  }
}

/** The client scope that the word of a scope belongs to, where it is one of organizations. */
export function holderOf(holders: readonly MapperHolder[], word: string): MapperHolder | undefined {
  return (
    holders.find(({ name }) => name === word) ??
    holders.find((holder) => holder.name !== null && holder.name === scopeOf(word) && isOfOrganizations(holder))
  )
}

/** The names of client scopes that words may belong to. */
export const scopesNamed = (words: readonly string[]): string[] => [...new Set([...words, ...words.map(scopeOf)])]

/** Whether organizations can be asked for by the client scope. */
export const isOfOrganizations = ({ mappers }: MapperHolder): boolean => mappers.some(({ type }) => type === MEMBERSHIP)

/** The aliases that words ask for; undefined: whichever the user has; `*`: every one. */
export function aliasesIn(words: readonly string[]): readonly string[] | typeof EVERY | undefined {
  const aliases = words.filter((word) => word.includes(':')).map((word) => word.slice(word.lastIndexOf(':') + 1))
  return aliases.includes(EVERY) ? EVERY : aliases.length ? aliases : undefined
}

const scopeOf = (word: string): string => word.slice(0, Math.max(word.lastIndexOf(':'), 0)) || word

/** Whether the other words name organizations that there are, and all words ask for them in the same way. */
async function nameOrganizations(
  context: Context,
  client: LiveObject,
  words: readonly string[],
  others: readonly string[],
): Promise<boolean> {
  const holders = await mappersOf(context, client.id, others.map(scopeOf))
  if (!others.every((word) => holderOf(holders, word))) return false
  if (holders.some(({ name }) => name !== null && words.includes(name))) return false
  const aliases = aliasesIn(others)
  if (aliases === EVERY) return others.every((word) => word.endsWith(`:${EVERY}`))
  return aliases !== undefined && (await organizationsNamed(context, aliases)).length > 0
}

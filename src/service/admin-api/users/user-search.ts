// Parses the query of a list of users.
import { toContainsPattern, toExactPattern, toPrefixPattern } from '../../../store/like-patterns.ts'
import type { UserSearch } from '../../../store/users/user-search.ts'
import { parseAttributeQuery, parseSearchWords } from '../common/list-query.ts'
import type { Query } from '../common/resource.ts'

const NAMES = ['username', 'email', 'firstName', 'lastName'] as const

/** Returns the search that a query requests. Throws invalid if it has too many terms. Keycloak: with `search`, only the filters by state count besides it. */
export function parseUserSearch(query: Query): Omit<UserSearch, 'visible'> {
  const text = String(query.search ?? '').trim()
  if (text.startsWith('id:')) return { ids: text.slice(3).trim().split(/\s+/) }
  const states = {
    ...(typeof query.enabled === 'boolean' && { enabled: query.enabled }),
    ...(typeof query.emailVerified === 'boolean' && { emailVerified: query.emailVerified }),
  }
  if (text !== '')
    return { ...states, anyName: parseSearchWords(text).map(toNamePattern), withoutServiceAccounts: true }
  const attributes = parseAttributeQuery(String(query.q ?? ''))
  const filters = {
    ...parseNames({ ...attributes, ...query }),
    ...parseFederatedIdentity(query),
    ...toAttributePatterns(attributes),
  }
  // Keycloak: a list without filters has no service accounts, unless `exact` is given, whatever its value.
  const hasFilters = Object.keys({ ...states, ...filters }).length > 0 || typeof query.exact === 'boolean'
  return { ...states, ...filters, withoutServiceAccounts: !hasFilters }
}

/** Returns the pattern for names that begin with a word, in which `*` matches any text; for a word in quotes, the whole name. */
function toNamePattern(word: string): string {
  const quoted = /^"(.*)"$/s.exec(word)?.[1]
  return quoted === undefined ? toPrefixPattern(word) : toExactPattern(quoted)
}

function parseNames(query: Query): Pick<UserSearch, (typeof NAMES)[number]> {
  const toPattern = query.exact === true ? toExactPattern : toContainsPattern
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const text = query[name]
      return typeof text === 'string' && text !== '' ? [[name, toPattern(text)]] : []
    }),
  )
}

function parseFederatedIdentity({ idpAlias, idpUserId }: Query): Pick<UserSearch, 'provider' | 'providerUser'> {
  return {
    ...(typeof idpAlias === 'string' && idpAlias !== '' && { provider: idpAlias }),
    ...(typeof idpUserId === 'string' && idpUserId !== '' && { providerUser: idpUserId }),
  }
}

function toAttributePatterns(attributes: Readonly<Record<string, string>>): Pick<UserSearch, 'attributes'> {
  const names: readonly string[] = NAMES
  const patterns = Object.entries(attributes).flatMap(([name, value]) =>
    names.includes(name) ? [] : [[name, toExactPattern(value)]],
  )
  return patterns.length ? { attributes: Object.fromEntries(patterns) } : {}
}

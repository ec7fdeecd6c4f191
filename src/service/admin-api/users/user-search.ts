// Parses the query of a list of users.
import { toContainsPattern, toExactPattern, toPrefixPattern } from '../../../store/like-patterns.ts'
import type { UserSearch } from '../../../store/users/user-search.ts'
import type { DirectorySearch } from '../../federation/directory-search.ts'
import { parseAttributeQuery, parsePeriod, parseSearchWords } from '../common/list-query.ts'
import type { Query } from '../common/resource.ts'

const NAMES = ['username', 'email', 'firstName', 'lastName'] as const
const STATES = ['enabled', 'emailVerified'] as const

/** Returns the search that a query requests. Throws invalid if it has too many terms. Keycloak: with `search`, only the filters by state count besides it. */
export function parseUserSearch(query: Query): Omit<UserSearch, 'visible'> {
  const text = String(query.search ?? '').trim()
  if (text.startsWith('id:')) return { ids: text.slice(3).trim().split(/\s+/) }
  const created = parsePeriod(query, { from: 'createdAfter', to: 'createdBefore' })
  if (text !== '')
    return {
      ...parseStates(query),
      created,
      anyName: parseSearchWords(text).map(toNamePattern),
      withoutServiceAccounts: true,
    }
  const attributes = parseAttributeQuery(String(query.q ?? ''))
  const filters = {
    ...parseStates({ ...attributes, ...query }),
    ...parseNames({ ...attributes, ...query }),
    ...parseFederatedIdentity(query),
    ...toAttributePatterns(attributes),
  }
  // Keycloak: a list without filters has no service accounts, unless `exact` is given, whatever its value.
  const hasFilters = Object.keys({ ...filters, ...created }).length > 0 || typeof query.exact === 'boolean'
  return { ...filters, created, withoutServiceAccounts: !hasFilters }
}

/** Returns the search of directories for a query; undefined if its conditions are about the realm only. */
export function parseDirectorySearch(query: Query): Omit<DirectorySearch, 'limit'> | undefined {
  const text = String(query.search ?? '').trim()
  if (text.startsWith('id:') || query.idpAlias !== undefined || query.idpUserId !== undefined) return undefined
  if (text !== '') return { words: parseSearchWords(text), fields: {}, isExact: false }
  const names = NAMES.flatMap((name): [string, string][] => {
    const value = query[name]
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  const fields = { ...parseAttributeQuery(String(query.q ?? '')), ...Object.fromEntries(names) }
  return { words: [], fields, isExact: query.exact === true }
}

/** Returns the pattern for names that begin with a word, in which `*` matches any text; for a word in quotes, the whole name. */
function toNamePattern(word: string): string {
  const quoted = /^"(.*)"$/s.exec(word)?.[1]
  return quoted === undefined ? toPrefixPattern(word) : toExactPattern(quoted)
}

/** Returns the filters by state. Keycloak: `q` may have them, too, and any text but `true` is false there. */
function parseStates(query: Query): Pick<UserSearch, (typeof STATES)[number]> {
  return Object.fromEntries(
    STATES.flatMap((state) => {
      const value = query[state]
      return value === undefined ? [] : [[state, String(value).toLowerCase() === 'true']]
    }),
  )
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
  const columns: readonly string[] = [...NAMES, ...STATES]
  const patterns = Object.entries(attributes).flatMap(([name, value]) =>
    columns.includes(name) ? [] : [[name, toExactPattern(value)]],
  )
  return patterns.length ? { attributes: Object.fromEntries(patterns) } : {}
}

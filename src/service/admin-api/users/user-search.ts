// Which users a list is about.
import { toPrefixPattern, toContainsPattern, toExactPattern } from '../../../store/like-patterns.ts'
import type { UserSearch } from '../../../store/users/user-search.ts'
import { parseAttributeQuery } from '../common/list-query.ts'
import type { Query } from '../common/resource.ts'

const NAMES = ['username', 'email', 'firstName', 'lastName'] as const

/** What the query asks for. Keycloak: with a search the other filters do not count, but for whether accounts are usable. */
export function searchOf(query: Query): Omit<UserSearch, 'visible'> {
  const text = String(query.search ?? '').trim()
  if (text.startsWith('id:')) return { ids: text.slice(3).trim().split(/\s+/) }
  const states = {
    ...(typeof query.enabled === 'boolean' && { enabled: query.enabled }),
    ...(typeof query.emailVerified === 'boolean' && { emailVerified: query.emailVerified }),
  }
  if (text !== '') return { ...states, anyName: text.split(/\s+/).map(termOf), withoutServiceAccounts: true }
  const asked = parseAttributeQuery(String(query.q ?? ''))
  const names = { ...asked, ...query }
  const filters = { ...namesIn(names), ...elsewhereIn(query), ...attributesIn(asked) }
  // Keycloak: the accounts of clients are in a list only where something is asked for.
  return { ...states, ...filters, withoutServiceAccounts: !Object.keys({ ...states, ...filters }).length }
}

/** A word that a name begins with; `*` stands for anything, in quotes it is the whole name. */
function termOf(word: string): string {
  const whole = /^"(.*)"$/s.exec(word)?.[1]
  return whole === undefined ? toPrefixPattern(word) : toExactPattern(whole)
}

function namesIn(query: Query): Pick<UserSearch, (typeof NAMES)[number]> {
  const pattern = query.exact === true ? toExactPattern : toContainsPattern
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const text = query[name]
      return typeof text === 'string' && text !== '' ? [[name, pattern(text)]] : []
    }),
  )
}

function elsewhereIn({ idpAlias, idpUserId }: Query): Pick<UserSearch, 'provider' | 'providerUser'> {
  return {
    ...(typeof idpAlias === 'string' && idpAlias !== '' && { provider: idpAlias }),
    ...(typeof idpUserId === 'string' && idpUserId !== '' && { providerUser: idpUserId }),
  }
}

function attributesIn(asked: Readonly<Record<string, string>>): Pick<UserSearch, 'attributes'> {
  const others = Object.entries(asked).filter(([name]) => !(NAMES as readonly string[]).includes(name))
  return others.length ? { attributes: Object.fromEntries(others.map(([name, value]) => [name, toExactPattern(value)])) } : {}
}

// Imports the users of directories that a search of administrators finds.
import { allOf, anyOf, escapeFilterValue } from '../../lib/ldap/ldap-syntax.ts'
import { ServiceError } from '../context/errors.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import { listUserStores, type UserStore } from '../users/user-store.ts'
import { type DirectoryUser, toDirectoryUser } from './directory-user.ts'
import { importUsers } from './import-users.ts'
import { createMembershipReader, loadMemberships } from './memberships.ts'
import { withStoreConnection } from './store-connection.ts'
import { explainFailure, toFederationCaller } from './synchronize.ts'
import { buildUserSearch, findLdapAttribute } from './user-filters.ts'

/** A search of administrators. */
export interface DirectorySearch {
  /** Words that begin a name, with `*` for any text, or a whole name in quotes. Each must match one of the names. */
  readonly words: readonly string[]
  /** Values of fields and attributes, by name. */
  readonly fields: Readonly<Record<string, string>>
  /** Whether the values are whole ones. */
  readonly isExact: boolean
  /** The number of users to import. */
  readonly limit: number
}

const NAMES = ['username', 'email', 'firstName', 'lastName'] as const

/**
 * Imports users of the enabled directories of a realm that match a search. A directory that does not respond is logged. Must not be called
 * inside a transaction.
 */
export async function importMatchingUsers(service: Service, realm: string, search: DirectorySearch): Promise<void> {
  const stores = await service.read(SYSTEM, realm, listUserStores)
  for (const store of stores) {
    const filter = buildSearchFilter(store, search)
    if (!store.isEnabled || filter === undefined) continue
    try {
      await explainFailure(store, () => importFromStore(service, store, { filter, limit: search.limit }))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      service.warn(error.message)
    }
  }
}

async function importFromStore(
  service: Service,
  store: UserStore,
  { filter, limit }: { readonly filter: string; readonly limit: number },
): Promise<void> {
  await withStoreConnection(service, store, async (connection) => {
    const loaded = await loadMemberships(connection, store)
    let remaining = limit
    for await (const page of connection.search(buildUserSearch(store, filter || undefined))) {
      const users = page
        .map((entry) => toDirectoryUser(store, entry))
        .filter(isUser)
        .slice(0, Math.max(remaining, store.batchSize))
      if (!users.length) continue
      const { created } = await service.write(toFederationCaller(store), store.realm, async (context) =>
        importUsers(context, store, { users, memberships: await createMembershipReader(context, store, loaded) }),
      )
      remaining -= created.length
      if (remaining <= 0) return
    }
  })
}

const isUser = (user: ReturnType<typeof toDirectoryUser>): user is DirectoryUser => !('problem' in user)

/** Returns the filter of a search, empty for all users; undefined if no entry can match, since a field is not mapped. */
function buildSearchFilter(store: UserStore, { words, fields, isExact }: DirectorySearch): string | undefined {
  const names = [...new Set(NAMES.flatMap((name) => findLdapAttribute(store, name) ?? []))]
  const ofWords = words.map((word) => anyOf(names.map((name) => `(${name}=${toPattern(word)})`)))
  const ofFields: string[] = []
  for (const [field, value] of Object.entries(fields)) {
    const attribute = findLdapAttribute(store, field)
    if (attribute === undefined) return undefined
    const isName = NAMES.some((name) => name === field)
    const text = escapeFilterValue(value)
    ofFields.push(`(${attribute}=${isName && !isExact ? `*${text}*` : text})`)
  }
  const filters = [...ofWords, ...ofFields]
  return filters.length ? allOf(...filters) : ''
}

function toPattern(word: string): string {
  const quoted = /^"(.*)"$/s.exec(word)?.[1]
  if (quoted !== undefined) return escapeFilterValue(quoted)
  const pattern = word.split('*').map(escapeFilterValue).join('*')
  return pattern.endsWith('*') ? pattern : `${pattern}*`
}

// Checks of changes of users whose data are in a directory.
import { findDifferences, flatten, lowerCaseTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { ObjectUpdate } from '../objects/writers.ts'
import { listUserStores, type UserStore } from './user-store.ts'

/** Keycloak: the attributes of an imported user that identify the entry. */
export const LDAP_ID = 'LDAP_ID'
export const LDAP_ENTRY_DN = 'LDAP_ENTRY_DN'

const textFields: Readonly<Record<string, string>> = {
  username: 'username',
  email: 'email',
  firstname: 'firstName',
  lastname: 'lastName',
}
const flagFields: Readonly<Record<string, string>> = { enabled: 'enabled', emailverified: 'emailVerified' }

/** Whether the name of a mapper means a flag of users. */
export const isFlagName = (name: string): boolean => Object.hasOwn(flagFields, name.toLowerCase())

/** Returns the path of the field that a name of a mapper means. Keycloak: names of fields are compared regardless of case. */
export function toFieldPath(name: string): string {
  const key = name.toLowerCase()
  if (Object.hasOwn(textFields, key)) return textFields[key]!
  return Object.hasOwn(flagFields, key) ? flagFields[key]! : `attributes.${name}`
}

/**
 * Throws invalid if updates change passwords of users, or fields that a directory determines, unless its user store has the edit mode
 * UNSYNCED. Changes that follow from the directory are permitted. Two statements, or none without users of a directory.
 */
export async function requireChangeableUsers(context: WriteContext, updates: readonly ObjectUpdate[]): Promise<void> {
  if (context.actor.kind === 'federation') return
  const federated = updates.filter(({ live }) => typeof live.representation.federationLink === 'string')
  if (!federated.length) return
  const stores = new Map((await listUserStores(context)).map((store) => [store.id, store]))
  for (const update of federated) {
    const store = stores.get(String(update.live.representation.federationLink))
    if (store && store.editMode !== 'UNSYNCED') requireChangeableUser(store, update)
  }
}

function requireChangeableUser(store: UserStore, { live, set }: ObjectUpdate): void {
  if (set.credentials) throw refuse(store, "Can't reset password as account is read only")
  const mapped = new Set(listMappedPaths(store))
  const current = flatten(kinds.user, live.representation)
  const changed = findDifferences(kinds.user, current, lowerCaseTexts(kinds.user, set)).find(({ path }) =>
    mapped.has(path),
  )
  if (!changed) return
  const name = changed.path.replace(/^attributes\./, '')
  if (store.editMode === 'WRITABLE') throw refuse(store, `${name} cannot be changed`)
  throw failure('invalid', 'error-user-attribute-read-only', { params: [name], field: changed.path })
}

/** Regent does not write to directories, so that changes of users in writable ones are refused. */
function refuse({ editMode, name }: UserStore, message: string) {
  const reason = `The user federation provider "${name}" is writable, but Regent does not write to directories. Change the user there.`
  return failure('invalid', editMode === 'WRITABLE' ? `${message}. ${reason}` : message, { form: 'error' })
}

/** Lists the paths of the fields that the mappers of a store set. */
function listMappedPaths({ mappers }: UserStore): string[] {
  const names = mappers.flatMap(({ providerId, read }) => {
    if (providerId === 'full-name-ldap-mapper') return ['firstName', 'lastName']
    return read('user.model.attribute') ?? []
  })
  return ['username', `attributes.${LDAP_ID}`, `attributes.${LDAP_ENTRY_DN}`, ...names.map(toFieldPath)]
}

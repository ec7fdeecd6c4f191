// Protects against lock-out: a change that leaves no administrator of all realms, or an apply that takes its caller's own access,
// must be confirmed.
import { MASTER } from '../../kinds/built-in/index.ts'
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { SIGNING_ALGORITHMS } from '../../kinds/key-providers.ts'
import type { KindName } from '../../kinds/kind.ts'
import { MANAGEMENT_CLIENT } from '../../kinds/management-permissions.ts'
import type { RoleName } from '../../store/roles.ts'
import {
  ADMIN_ACCESS,
  type AdminAccessSearch,
  getAdminAccess,
  hasUsableHolder,
} from '../../store/users/admin-access.ts'
import { ADMIN_ROLE } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, ServiceError } from '../context/errors.ts'
import type { Caller } from '../context/service.ts'
import type { JournalEntry } from '../context/store-types.ts'
import { meetsSslRequirement } from '../context/transport.ts'
import { listObjects } from './live-objects.ts'

export { ADMIN_ACCESS } from '../../store/users/admin-access.ts'

/** By kind, the fields that decide whether a user administers a realm and can log in. Deletions may matter as well. */
const accessFields: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  realm: [
    'enabled',
    'browserFlow',
    'directGrantFlow',
    'clientAuthenticationFlow',
    'sslRequired',
    'notBefore',
    'accessTokenLifespan',
    'defaultSignatureAlgorithm',
  ],
  user: ['enabled', 'credentials', 'realmRoles', 'clientRoles', 'groups', 'requiredActions', 'notBefore'],
  group: ['path', 'realmRoles', 'clientRoles'],
  role: ['composites'],
  client: [
    'enabled',
    'protocol',
    'publicClient',
    'bearerOnly',
    'clientAuthenticatorType',
    'consentRequired',
    'fullScopeAllowed',
    'scopeMappings',
    'standardFlowEnabled',
    'directAccessGrantsEnabled',
    'rootUrl',
    'redirectUris',
    'notBefore',
    'attributes',
    'authenticationFlowBindingOverrides',
  ],
  authenticationFlow: ['authenticationExecutions'],
}

/** Authenticators that accept a password. */
const browserSteps = ['auth-username-password-form', 'auth-password-form']
const directSteps = ['direct-grant-validate-password']

const MASTER_ADMIN: RoleName = { client: null, name: ADMIN_ROLE }

/** Returns the role that administers all of a realm. */
const getAdminRole = (realm: string): RoleName =>
  realm === MASTER ? MASTER_ADMIN : { client: MANAGEMENT_CLIENT, name: 'realm-admin' }

const CONFIRMATION = 'To confirm, send the header Regent-Allow-Lock-Out: true (on the command line --allow-lock-out)'

/** Thrown if no user could administer all realms directly, without another application, after a change. */
export class LastAdministratorError extends ServiceError {
  /** The best way to administer all realms after the change, from ADMIN_ACCESS: less than `direct`. */
  readonly access: number
  constructor(access: number) {
    super(
      'lock_out',
      'This would lock everyone out: no user with the role admin of the master realm could log in by name and password through an ' +
        `existing public client such as admin-cli, and no existing client has a service account with that role. ${CONFIRMATION}. ` +
        'Afterwards, only "regent admin-password" with --data or --database restores access.',
    )
    this.access = access
  }
}

/** Whether an enabled user with a password, or the service account of an enabled client, administers all realms. One statement. */
export function hasMasterAdministrator({ tx, realm }: Context): Promise<boolean> {
  return hasUsableHolder(tx, realm.number, MASTER_ADMIN)
}

/** Returns the best way in which a user can administer all realms, from ADMIN_ACCESS. One statement. */
export function getMasterAdminAccess(context: Context, search: PartialSearch = {}): Promise<number> {
  return getRoleAccess(context, MASTER_ADMIN, search)
}

/**
 * Returns the best way in which the caller can administer the realm of the context, from ADMIN_ACCESS; ways through the client of
 * their token are the best. None if the caller belongs to another realm. Two statements, or none.
 */
export async function getCallerAccess(context: Context, { user, actor, transport }: Caller): Promise<number> {
  const { name } = context.realm
  if (user?.realm !== name || context.allowLockOut) return ADMIN_ACCESS.none
  const access = await getRoleAccess(context, getAdminRole(name), { user: user.id, client: actor.client })
  if (access === ADMIN_ACCESS.none || !transport || transport.secure) return access
  const [realm] = await listObjects(context, 'realm', {})
  return meetsSslRequirement(realm!.representation, transport) ? access : ADMIN_ACCESS.none
}

/**
 * Throws LastAdministratorError if no user could administer all realms directly after the writes of the transaction, unless the caller
 * confirms it. One statement; none outside of master, or if the writes cannot matter.
 */
export async function requireAdministratorLeft(context: WriteContext): Promise<void> {
  if (context.allowLockOut || context.realm.name !== MASTER || !canAffectAccess(context)) return
  const access = await getRoleAccess(context, MASTER_ADMIN, { except: listCreatedClients(context) })
  if (access < ADMIN_ACCESS.direct) throw new LastAdministratorError(access)
}

/**
 * Throws lock_out if the caller has fewer ways to administer the realm than before (`getCallerAccess`), unless they confirm it. Two
 * statements; none if the writes cannot matter.
 */
export async function requireOwnAccessLeft(context: WriteContext, caller: Caller, before: number): Promise<void> {
  if (context.allowLockOut || before === ADMIN_ACCESS.none || !canAffectAccess(context)) return
  if ((await getCallerAccess(context, caller)) >= before) return
  const { client } = caller.actor
  const through = client === undefined ? '' : ` through the client ${client}`
  throw failure(
    'lock_out',
    `This would lock you out: you could no longer log in${through} and administer the realm ${context.realm.name}. ${CONFIRMATION}`,
  )
}

type PartialSearch = Partial<Pick<AdminAccessSearch, 'user' | 'client' | 'except'>>

function getRoleAccess(
  { tx, realm, now }: Context,
  role: RoleName,
  { except = [], ...search }: PartialSearch = {},
): Promise<number> {
  const options = { role, now, browserSteps, directSteps, algorithms: SIGNING_ALGORITHMS, except, ...search }
  return getAdminAccess(tx, realm.number, options)
}

/** Returns the ids of clients that the transaction creates. They do not count, since nobody might know their secrets. */
function listCreatedClients({ entries }: WriteContext): string[] {
  return entries.flatMap(({ operation, kind, object }) => (operation === 'create' && kind === 'client' ? [object] : []))
}

const canAffectAccess = ({ entries, userEntries }: WriteContext): boolean =>
  [...entries, ...userEntries].some(isAccessEntry)

/** Whether an entry deletes an object, or changes a field, on which access may depend. */
function isAccessEntry({ operation, kind, fields }: JournalEntry): boolean {
  const names = accessFields[kind]
  if (!names || operation === 'create') return false
  return (
    operation === 'delete' || Object.keys(fields).some((path) => names.includes(resolveField(kinds[kind], path).name))
  )
}

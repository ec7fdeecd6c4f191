// Nobody is left without an administrator unawares, and no apply takes its caller's own access: such a change must be meant.
import { MASTER } from '../../kinds/built-in/index.ts'
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { SIGNING_ALGORITHMS } from '../../kinds/key-providers.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { RoleName } from '../../store/roles.ts'
import { ADMIN_ACCESS, type AdminAccessSearch, getAdminAccess, hasUsableHolder } from '../../store/users/admin-access.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, ServiceError } from '../context/errors.ts'
import { ADMIN_ROLE, MANAGEMENT_CLIENT } from '../context/admin-permissions.ts'
import type { Caller } from '../context/service.ts'
import type { JournalEntry } from '../context/store-types.ts'
import { meetsSslRequirement } from '../context/transport.ts'
import { listObjects } from './live-objects.ts'

export { ADMIN_ACCESS } from '../../store/users/admin-access.ts'

/** By kind, the fields that decide whether somebody administers and can log in; its deletion alone can matter, too. */
const decisive: Readonly<Partial<Record<KindName, readonly string[]>>> = {
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

/** Steps of flows that let in who knows the password. */
const browserSteps = ['auth-username-password-form', 'auth-password-form']
const directSteps = ['direct-grant-validate-password']

const MASTER_ADMIN: RoleName = { client: null, name: ADMIN_ROLE }

/** The role with which somebody of a realm administers all of it. */
const adminRole = (realm: string): RoleName =>
  realm === MASTER ? MASTER_ADMIN : { client: MANAGEMENT_CLIENT, name: 'realm-admin' }

/** How to do it all the same. */
const MEANT =
  'If you mean it, say so with the header Regent-Allow-Lock-Out: true (on the command line --allow-lock-out)'

/** That less would be left of the ways by which somebody administers every realm. */
export class LastAdministratorError extends ServiceError {
  /** What is left, one of REACH. */
  readonly reach: number
  constructor(reach: number) {
    super(
      'lock_out',
      'This would lock everyone out: nobody with the role admin of the master realm could log in any more by name and password through ' +
        `a public client that exists already, such as admin-cli, or as the account of a client that exists already. ${MEANT}; ` +
        'then only "regent admin-password" with --data or --database lets somebody in again',
    )
    this.reach = reach
  }
}

/** Whether an enabled user with a password, or the account of an enabled client, administers every realm. One statement. */
export function hasAdministratorIn({ tx, realm }: Context): Promise<boolean> {
  return hasUsableHolder(tx, realm.number, MASTER_ADMIN)
}

/** Returns the best way by which somebody administers every realm, from REACH. One statement. */
export function getMasterAdminAccess(context: Context, narrowed: Narrowed = {}): Promise<number> {
  return reachIn(context, MASTER_ADMIN, narrowed)
}

/**
 * Returns the best way by which the caller administers the context's realm, from REACH; any by the client of their token is better than all
 * others. None where they belong to another realm. Two statements, or none.
 */
export async function getCallerAccess(context: Context, { user, actor, transport }: Caller): Promise<number> {
  const { name } = context.realm
  if (user?.realm !== name || context.allowLockOut) return ADMIN_ACCESS.none
  const reach = await reachIn(context, adminRole(name), { user: user.id, client: actor.client })
  if (reach === ADMIN_ACCESS.none || !transport || transport.secure) return reach
  const [realm] = await listObjects(context, 'realm', {})
  return meetsSslRequirement(realm!.representation, transport) ? reach : ADMIN_ACCESS.none
}

/**
 * Throws LastAdministratorError where nobody could administer every realm directly after what was written so far, unless the caller says
 * that this is meant. One statement, and none but in master, for changes that can matter.
 */
export async function requireAdministratorLeft(context: WriteContext): Promise<void> {
  if (context.allowLockOut || context.realm.name !== MASTER || !canMatter(context)) return
  const reach = await reachIn(context, MASTER_ADMIN, { except: createdClients(context) })
  if (reach < ADMIN_ACCESS.direct) throw new LastAdministratorError(reach)
}

/**
 * Throws lock_out where less is left of the ways by which the caller administered the realm before (`reachOfCaller`), unless they say that
 * this is meant. Two statements, and none for changes that cannot matter.
 */
export async function requireOwnAccessLeft(context: WriteContext, caller: Caller, before: number): Promise<void> {
  if (context.allowLockOut || before === ADMIN_ACCESS.none || !canMatter(context)) return
  if ((await getCallerAccess(context, caller)) >= before) return
  throw failure(
    'lock_out',
    `This would lock you out: you could not log in any more and administer the realm ${context.realm.name}` +
      `${caller.actor.client === undefined ? '' : ` by the client ${caller.actor.client}`}. ${MEANT}`,
  )
}

type Narrowed = Partial<Pick<AdminAccessSearch, 'user' | 'client' | 'except'>>

function reachIn(
  { tx, realm, now }: Context,
  role: RoleName,
  { except = [], ...narrowed }: Narrowed = {},
): Promise<number> {
  const options = { role, now, browserSteps, directSteps, algorithms: SIGNING_ALGORITHMS, except, ...narrowed }
  return getAdminAccess(tx, realm.number, options)
}

/** Ids of the clients that the transaction has created: whether anybody knows their secrets, and who uses them, is open. */
function createdClients({ entries }: WriteContext): string[] {
  return entries.flatMap(({ operation, kind, object }) => (operation === 'create' && kind === 'client' ? [object] : []))
}

const canMatter = ({ entries, userEntries: people }: WriteContext): boolean => [...entries, ...people].some(mayMatter)

function mayMatter({ operation, kind, fields }: JournalEntry): boolean {
  const names = decisive[kind as KindName]
  if (!names || operation === 'create') return false
  const description = kinds[kind as KindName]
  return operation === 'delete' || Object.keys(fields).some((path) => names.includes(resolveField(description, path).name))
}

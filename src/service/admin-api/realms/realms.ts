// What REST does with realms: how they show, and what is special about writing one.
import { ADMIN_PERMISSIONS } from '../../../kinds/admin-permissions.ts'
import { MASTER } from '../../../kinds/built-in/index.ts'
import { wrapClientPolicies } from '../../../kinds/client-policies.ts'
import { isSecret } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import { isEmpty, type Representation } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import { listOtpApplications } from '../../../kinds/realm.ts'
import { type RealmDefaultRole, selectDefaultRoles } from '../../../store/users/role-mappings.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure, ServiceError } from '../../context/errors.ts'
import { hasPermission } from '../../context/admin-permissions.ts'
import type { Caller, Service } from '../../context/service.ts'
import { writers } from '../../kinds/index.ts'
import { type ToWire, toWireRepresentation } from '../../kinds/wire-representation.ts'
import { type LiveObject, listEveryRealm } from '../../objects/live-objects.ts'
import { toReplacement, omitNulls } from '../../objects/put-body.ts'
import { requirePermissions, isPermitted } from '../../permissions/require-permissions.ts'
import { preferAttributes } from '../../realms/attribute-settings.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { mailRules, mirrors } from './realm-settings.ts'

/** The realms that the caller may see. Statements: five, whatever their number. */
export function listRealms(service: Service, caller: Caller, brief: boolean): Promise<Representation[]> {
  return service.read(caller, MASTER, async (context) => {
    const { permissions: power } = context
    const seen = (await listEveryRealm(context)).filter(({ key: [name] }) => hasPermission(power, name!, 'see-realm'))
    // Keycloak: a list without realms is nobody's to ask for.
    if (!seen.length) throw failure('forbidden', 'HTTP 403 Forbidden')
    const whole = seen.filter(({ key: [name] }) => hasPermission(power, name!, 'view-realm'))
    const shown = brief ? whole.map(briefly) : await showWithDefaultRoles(context, whole)
    const byId = new Map(whole.map(({ id }, at) => [id, shown[at]!]))
    return seen.map(({ id, key: [name] }) => byId.get(id) ?? { realm: name! })
  })
}

/** The realm of the context. */
export async function getRealm(context: Context): Promise<Representation> {
  requirePermissions(context, 'see-realm')
  const live = await getCurrentRealm(context)
  return isPermitted(context, 'view-realm') ? (await showWithDefaultRoles(context, [live]))[0]! : outline(context, live)
}

/** What is in a new realm besides its settings: ids that are wished, by address, and the work that makes it. */
export interface Content {
  readonly ids: ReadonlyMap<string, string>
  readonly make: (context: WriteContext) => Promise<unknown>
}

/** Makes a realm with its content, in one transaction; gives its name. Throws forbidden, conflict, invalid. */
export async function createRealm(
  service: Service,
  caller: Caller,
  body: Representation,
  { ids, make }: Content,
): Promise<string> {
  await service.read(caller, MASTER, async (context) => requirePermissions(context, 'create-realm'))
  refuseContent(body)
  const { id, ...stated } = omitNulls(body)
  const known = Object.entries(stated).filter(([field]) => field in kinds.realm.fields)
  const own = preferAttributes(Object.fromEntries(known))
  const representation = { ...own, ...mailRules(own) }
  const wished = typeof id === 'string' && id !== '' ? { id } : {}
  return service.createRealm(caller, { representation, ids, ...wished }, async (context) => {
    await make(context)
    return context.realm.name
  })
}

/** Changes the settings of the realm of the context. Throws conflict, invalid. */
export async function replaceRealm(context: WriteContext, body: Representation): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await getCurrentRealm(context)
  const stated = { ...omitNulls(body), ...mailRules(body) }
  try {
    await writers.realm.update(context, [{ live, set: { ...toReplacement(live, stated), ...mirrors(stated) } }])
  } catch (error) {
    // Keycloak: an update says the same in another form.
    if (error instanceof ServiceError && error.code === 'invalid' && error.form === 'error') throw failure('invalid', error.message)
    throw error
  }
}

/** Deletes the realm of the context. */
export async function deleteRealm(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-realm')
  await writers.realm.delete(context, [await getCurrentRealm(context)])
}

/** Keycloak: a realm shows the role that everybody new gets, and who decides permissions. One statement, whatever the number of realms. */
async function showWithDefaultRoles(context: Context, realms: readonly LiveObject[]): Promise<Representation[]> {
  const ids = realms.map(({ id }) => id)
  const roles = new Map(
    (await selectDefaultRoles(context.tx, ids, ADMIN_PERMISSIONS)).map((role) => [role.realm, role]),
  )
  return realms.map((live) => {
    const role = roles.get(live.id)
    return {
      ...show(context.vault, live),
      ...(role && { defaultRole: showDefaultRole(role) }),
      ...(role?.adminPermissionsClient && { adminPermissionsClient: { id: role.adminPermissionsClient, clientId: ADMIN_PERMISSIONS } }),
    }
  })
}

function showDefaultRole({ realm, id, name, description, composite }: RealmDefaultRole): Representation {
  return { id, name, ...(description !== null && { description }), composite, clientRole: false, containerId: realm }
}

const show: ToWire = (vault, live) => {
  // Keycloak: these have operations of their own.
  const { defaultDefaultClientScopes: _, defaultOptionalClientScopes: __, ...shown } = toWireRepresentation(vault, live)
  for (const name of ['defaultGroups', 'supportedLocales']) if (isEmpty(shown[name])) delete shown[name]
  const smtpServer = Object.entries((shown.smtpServer ?? {}) as Representation).map(([name, value]) => [
    name,
    isSecret(kinds.realm, `smtpServer.${name}`) ? MASK : value,
  ])
  return wrapClientPolicies({
    ...shown,
    smtpServer: Object.fromEntries(smtpServer),
    otpSupportedApplications: listOtpApplications(shown),
  })
}

/** Keycloak: what a console needs to know of a realm in which somebody administers something. */
function outline(context: Context, { representation }: LiveObject): Representation {
  const of = (...names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (representation[name] === undefined ? [] : [[name, representation[name]]])),
    )
  return {
    ...of('realm', 'displayName', 'displayNameHtml'),
    ...(isPermitted(context, 'view-users') && of('registrationEmailAsUsername')),
    ...of('bruteForceProtected', 'organizationsEnabled'),
    supportedLocales: representation.supportedLocales ?? [],
  }
}

function briefly({ id, representation: { realm, displayName, displayNameHtml, enabled } }: LiveObject): Representation {
  return {
    id,
    realm: realm!,
    ...(displayName !== undefined && { displayName }),
    ...(displayNameHtml !== undefined && { displayNameHtml }),
    enabled: enabled!,
  }
}

/** @throws ServiceError for content in a form of early versions that is not read: to leave it out silently would lose it. */
function refuseContent(body: Representation): void {
  const isLost = (field: string) => !isEmpty(body[field]) && typeof body[field] !== 'boolean'
  const found = Object.keys(kinds.realm.fields).filter((field) => kinds.realm.fields[field]!.legacy && isLost(field))
  if (found.length)
    throw failure(
      'invalid',
      `A realm cannot be created with ${found.join(', ')}: Regent does not read this form of early versions`,
    )
}

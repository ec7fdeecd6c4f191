// What REST does with realms: how they show, and what is special about writing one.
import { ADMIN_PERMISSIONS } from '../../../kinds/admin-permissions.ts'
import { MASTER } from '../../../kinds/built-in/index.ts'
import { wrapClientPolicies } from '../../../kinds/client-policies.ts'
import { isSecret } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import { isEmpty, type Representation } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import { otpApplications } from '../../../kinds/realm.ts'
import { type DefaultRole, selectDefaultRoles } from '../../../store/users/role-mappings.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure, ServiceError } from '../../context/errors.ts'
import { allows } from '../../context/power.ts'
import type { Caller, Service } from '../../context/service.ts'
import { writers } from '../../kinds/index.ts'
import { type Present, present } from '../../kinds/present.ts'
import { type LiveObject, listEveryRealm } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { demand, may } from '../../permissions/administrators.ts'
import { attributesFirst } from '../../realms/realm-mirrors.ts'
import { ownRealm } from '../common/own-realm.ts'
import { mailRules, mirrors } from './realm-settings.ts'

/** The realms that the caller may see. Statements: five, whatever their number. */
export function listRealms(service: Service, caller: Caller, brief: boolean): Promise<Representation[]> {
  return service.read(caller, MASTER, async (context) => {
    const { power } = context
    const seen = (await listEveryRealm(context)).filter(({ key: [name] }) => allows(power, name!, 'see-realm'))
    // Keycloak: a list without realms is nobody's to ask for.
    if (!seen.length) throw failure('forbidden', 'HTTP 403 Forbidden')
    const whole = seen.filter(({ key: [name] }) => allows(power, name!, 'view-realm'))
    const shown = brief ? whole.map(briefly) : await showWithDefaultRoles(context, whole)
    const byId = new Map(whole.map(({ id }, at) => [id, shown[at]!]))
    return seen.map(({ id, key: [name] }) => byId.get(id) ?? { realm: name! })
  })
}

/** The realm of the context. */
export async function getRealm(context: Context): Promise<Representation> {
  demand(context, 'see-realm')
  const live = await ownRealm(context)
  return may(context, 'view-realm') ? (await showWithDefaultRoles(context, [live]))[0]! : outline(context, live)
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
  await service.read(caller, MASTER, async (context) => demand(context, 'create-realm'))
  refuseContent(body)
  const { id, ...stated } = withoutNulls(body)
  const known = Object.entries(stated).filter(([field]) => field in kinds.realm.fields)
  const own = attributesFirst(Object.fromEntries(known))
  const representation = { ...own, ...mailRules(own) }
  const wished = typeof id === 'string' && id !== '' ? { id } : {}
  return service.create(caller, { representation, ids, ...wished }, async (context) => {
    await make(context)
    return context.realm.name
  })
}

/** Changes the settings of the realm of the context. Throws conflict, invalid. */
export async function replaceRealm(context: WriteContext, body: Representation): Promise<void> {
  demand(context, 'manage-realm')
  const live = await ownRealm(context)
  const stated = { ...withoutNulls(body), ...mailRules(body) }
  try {
    await writers.realm.update(context, [{ live, set: { ...replacement(live, stated), ...mirrors(stated) } }])
  } catch (error) {
    // Keycloak: an update says the same in another form.
    if (error instanceof ServiceError && error.code === 'malformed') throw failure('invalid', error.message)
    throw error
  }
}

/** Deletes the realm of the context. */
export async function deleteRealm(context: WriteContext): Promise<void> {
  demand(context, 'manage-realm')
  await writers.realm.delete(context, [await ownRealm(context)])
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
      ...(role?.permissions && { adminPermissionsClient: { id: role.permissions, clientId: ADMIN_PERMISSIONS } }),
    }
  })
}

function showDefaultRole({ realm, id, name, description, composite }: DefaultRole): Representation {
  return { id, name, ...(description !== null && { description }), composite, clientRole: false, containerId: realm }
}

const show: Present = (vault, live) => {
  // Keycloak: these have operations of their own.
  const { defaultDefaultClientScopes: _, defaultOptionalClientScopes: __, ...shown } = present(vault, live)
  for (const name of ['defaultGroups', 'supportedLocales']) if (isEmpty(shown[name])) delete shown[name]
  const smtpServer = Object.entries((shown.smtpServer ?? {}) as Representation).map(([name, value]) => [
    name,
    isSecret(kinds.realm, `smtpServer.${name}`) ? MASK : value,
  ])
  return wrapClientPolicies({
    ...shown,
    smtpServer: Object.fromEntries(smtpServer),
    otpSupportedApplications: otpApplications(shown),
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
    ...(may(context, 'view-users') && of('registrationEmailAsUsername')),
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
  const found = Object.keys(kinds.realm.fields).filter((field) => kinds.realm.fields[field]!.earlier && isLost(field))
  if (found.length)
    throw failure(
      'invalid',
      `A realm cannot be created with ${found.join(', ')}: Regent does not read this form of early versions`,
    )
}

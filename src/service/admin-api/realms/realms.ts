// The REST operations on realms.
import { ADMIN_PERMISSIONS } from '../../../kinds/admin-permissions.ts'
import { readAttributeSettings } from '../../../kinds/attribute-settings.ts'
import { MASTER } from '../../../kinds/built-in/index.ts'
import { wrapClientPolicies } from '../../../kinds/client-policies.ts'
import { type FlatFields, isSecret } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import { isEmpty, type Json, omitUndefined, type Representation, readObject } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import { listOtpApplications, settingsStoredAsAttributes } from '../../../kinds/realm.ts'
import { parseVaultReference } from '../../../kinds/vault-reference.ts'
import { type RealmDefaultRole, selectDefaultRoles } from '../../../store/users/role-mappings.ts'
import { hasPermission } from '../../context/admin-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure, ServiceError } from '../../context/errors.ts'
import { cacheInContext } from '../../context/realm-values.ts'
import type { Caller, Service } from '../../context/service.ts'
import type { Vault } from '../../context/vault.ts'
import { writers } from '../../kinds/index.ts'
import { type ToWire, toWireRepresentation } from '../../kinds/wire-representation.ts'
import { type LiveObject, listEveryRealm } from '../../objects/live-objects.ts'
import { toUpdatedRepresentation } from '../../objects/plain-writers.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { isPermitted, requirePermissions, requireRealmPermission } from '../../permissions/require-permissions.ts'
import { parseSetting, preferAttributes, renderSetting } from '../../realms/attribute-settings.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { checkLifespans } from './lifespans.ts'

/** Lists the realms that the caller may see; `brief`: only names and state. Five statements for any number of realms. */
export function listRealms(service: Service, caller: Caller, brief: boolean): Promise<Representation[]> {
  return service.read(caller, MASTER, async (context) => {
    const { permissions } = context
    const visible = (await listEveryRealm(context)).filter(({ key: [name] }) =>
      hasPermission(permissions, name!, 'see-realm'),
    )
    // Keycloak: a caller who can see no realm may not list them.
    if (!visible.length) throw failure('forbidden', 'HTTP 403 Forbidden')
    const viewable = visible.filter(({ key: [name] }) => hasPermission(permissions, name!, 'view-realm'))
    const representations = brief ? viewable.map(toBriefRepresentation) : await toFullRepresentations(context, viewable)
    const byId = new Map(viewable.map(({ id }, at) => [id, representations[at]!]))
    return visible.map(({ id, key: [name] }) => byId.get(id) ?? { realm: name! })
  })
}

/** Lists a page of the names of the realms that the caller may see, for the admin console. */
export function listRealmNames(
  service: Service,
  caller: Caller,
  { search, first, max }: { readonly search: string; readonly first: number; readonly max: number },
): Promise<Representation[]> {
  return service.read(caller, MASTER, async (context) => {
    const text = search.toLowerCase()
    return (await listEveryRealm(context))
      .filter(({ key: [name] }) => hasPermission(context.permissions, name!, 'see-realm'))
      .filter(({ key: [name] }) => name!.toLowerCase().includes(text))
      .slice(first, first + max)
      .map(({ key: [name], representation: { displayName } }) => omitUndefined({ name: name!, displayName }))
  })
}

/** Returns the realm of the context, as far as the caller may view it. */
export async function getRealm(context: Context): Promise<Representation> {
  requirePermissions(context, 'see-realm')
  const live = await getCurrentRealm(context)
  return isPermitted(context, 'view-realm')
    ? toFullRepresentation(context.vault, live, await getDefaultRole(context))
    : toMinimalRepresentation(context, live)
}

/** A realm to create with its content. */
export interface RealmToCreate {
  readonly body: Representation
  /** The ids to use for its objects, by address. */
  readonly ids: ReadonlyMap<string, string>
  readonly createContent: (context: WriteContext) => Promise<unknown>
}

/** Creates a realm with its content in one transaction. Returns its name. Throws forbidden, conflict, invalid. */
export async function createRealm(
  service: Service,
  caller: Caller,
  { body, ids, createContent }: RealmToCreate,
): Promise<string> {
  requireRealmPermission(await service.getPermissions(caller), MASTER, 'create-realm')
  refuseLegacyContent(body)
  const { id, ...declared } = omitNulls(body)
  const fields = Object.entries(declared).filter(([field]) => field in kinds.realm.fields)
  const settings = preferAttributes(Object.fromEntries(fields))
  const representation = { ...settings, ...deriveEmailSettings(settings) }
  const requestedId = typeof id === 'string' && id !== '' ? { id } : {}
  return service.createRealm(caller, { representation, ids, ...requestedId }, async (context) => {
    // Checked again in the transaction, since the read above may use cached permissions.
    requireRealmPermission(context.permissions, MASTER, 'create-realm')
    await createContent(context)
    return context.realm.name
  })
}

/** Replaces the settings of the realm of the context. Throws conflict, invalid. */
export async function replaceRealm(context: WriteContext, declared: Representation): Promise<void> {
  requirePermissions(context, 'manage-realm')
  // Keycloak: in an update, a setting takes precedence over its attribute.
  const { attributes: _, ...settings } = omitNulls(declared)
  const body = { ...readAttributeSettings(declared), ...settings }
  const live = await getCurrentRealm(context)
  const fields = { ...omitNulls(body), ...deriveEmailSettings(body) }
  const set = { ...toReplacement(live, fields), ...toAttributeChanges(fields) }
  checkLifespans(fields, toUpdatedRepresentation({ live, set }))
  try {
    await writers.realm.update(context, [{ live, set }])
  } catch (error) {
    // Keycloak: the response of an update has another form than that of a creation.
    if (error instanceof ServiceError && error.code === 'invalid' && error.form === 'error')
      throw failure('invalid', error.message)
    throw error
  }
}

/** Deletes the realm of the context. */
export async function deleteRealm(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-realm')
  await writers.realm.delete(context, [await getCurrentRealm(context)])
}

/** Keycloak: a realm contains its default role and the client of its admin permissions. One statement for any number of realms. */
async function toFullRepresentations(context: Context, realms: readonly LiveObject[]): Promise<Representation[]> {
  const ids = realms.map(({ id }) => id)
  const roles = new Map(
    (await selectDefaultRoles(context.tx, ids, ADMIN_PERMISSIONS)).map((role) => [role.realm, role]),
  )
  return realms.map((live) => toFullRepresentation(context.vault, live, roles.get(live.id)))
}

const getDefaultRole = cacheInContext(
  async ({ tx, realm }) => (await selectDefaultRoles(tx, [realm.id], ADMIN_PERMISSIONS))[0],
)

/** Full representations by realm, with the default role that they contain: reads find the same realm in the cache until it changes. */
const fullRepresentations = new WeakMap<LiveObject, { role: RealmDefaultRole | undefined; full: Representation }>()

/** Returns the representation with all fields. It is frozen, since it is cached. */
function toFullRepresentation(vault: Vault, live: LiveObject, role: RealmDefaultRole | undefined): Representation {
  const cached = fullRepresentations.get(live)
  if (cached && cached.role === role) return cached.full
  const full = Object.freeze({
    ...toRealmRepresentation(vault, live),
    ...(role && { defaultRole: toDefaultRole(role) }),
    ...(role?.adminPermissionsClient && {
      adminPermissionsClient: { id: role.adminPermissionsClient, clientId: ADMIN_PERMISSIONS },
    }),
  })
  fullRepresentations.set(live, { role, full })
  return full
}

function toDefaultRole({ realm, id, name, description, composite }: RealmDefaultRole): Representation {
  return { id, name, ...(description !== null && { description }), composite, clientRole: false, containerId: realm }
}

const toRealmRepresentation: ToWire = (vault, live) => {
  // Keycloak: the default client scopes have operations of their own.
  const {
    defaultDefaultClientScopes: _,
    defaultOptionalClientScopes: __,
    ...fields
  } = toWireRepresentation(vault, live)
  for (const name of ['defaultGroups', 'requiredCredentials', 'supportedLocales'])
    if (isEmpty(fields[name])) delete fields[name]
  if (fields.passwordPolicy === '') delete fields.passwordPolicy
  const smtpServer = Object.entries(readObject(fields.smtpServer)).map(([name, value]) => [
    name,
    isSecret(kinds.realm, `smtpServer.${name}`) && !parseVaultReference(String(value)) ? MASK : value,
  ])
  return wrapClientPolicies({
    ...fields,
    smtpServer: Object.fromEntries(smtpServer),
    otpSupportedApplications: listOtpApplications(fields),
  })
}

/** Keycloak: returns the fields that an admin console needs, for callers who administer only some kinds of the realm. */
function toMinimalRepresentation(context: Context, { representation }: LiveObject): Representation {
  const { realm, displayName, displayNameHtml, registrationEmailAsUsername } = representation
  const { bruteForceProtected, organizationsEnabled, supportedLocales = [] } = representation
  return omitUndefined({
    realm,
    displayName,
    displayNameHtml,
    registrationEmailAsUsername: isPermitted(context, 'view-users') ? registrationEmailAsUsername : undefined,
    bruteForceProtected,
    organizationsEnabled,
    supportedLocales,
  })
}

function toBriefRepresentation({ id, representation }: LiveObject): Representation {
  const { realm, displayName, displayNameHtml, enabled } = representation
  return omitUndefined({ id, realm, displayName, displayNameHtml, enabled })
}

/** Throws invalid for content in a legacy form that Regent does not read: ignoring it would lose it silently. */
function refuseLegacyContent(body: Representation): void {
  const hasContent = (field: string) => !isEmpty(body[field]) && typeof body[field] !== 'boolean'
  const fields = Object.keys(kinds.realm.fields).filter(
    (field) => kinds.realm.fields[field]!.legacy && hasContent(field),
  )
  if (fields.length)
    throw failure(
      'invalid',
      `A realm cannot be created with ${fields.join(', ')}: Regent does not read this legacy form`,
    )
}

/** Returns the settings about email that follow from each other. Keycloak: later rules override earlier ones. */
function deriveEmailSettings(body: Representation): Representation {
  const { registrationEmailAsUsername, loginWithEmailAllowed, duplicateEmailsAllowed } = body
  return {
    ...(registrationEmailAsUsername === true && { duplicateEmailsAllowed: false }),
    ...(loginWithEmailAllowed === true && { duplicateEmailsAllowed: false }),
    ...(typeof duplicateEmailsAllowed === 'boolean' && { duplicateEmailsAllowed }),
    ...(duplicateEmailsAllowed === true && { loginWithEmailAllowed: false, registrationEmailAsUsername: false }),
  }
}

/** Returns the changes of the settings that are stored as attributes too, and of these attributes. */
function toAttributeChanges(declared: Representation): FlatFields {
  const hasAttributes = declared.attributes !== undefined
  const attributes = readObject(declared.attributes)
  const defaults = kinds.realm.defaults({})
  const changes: Record<string, Json> = {}
  for (const [field, attribute] of Object.entries(settingsStoredAsAttributes)) {
    const isCleared = kinds.realm.fields[field]!.onPut === 'clear'
    const value = declared[field] ?? parseSetting(field, attributes[attribute])
    if (value === undefined && !hasAttributes && !isCleared) continue
    const defaultAttribute = isCleared ? renderSetting(defaults[field]!) : null
    changes[field] = value ?? defaults[field] ?? null
    changes[`attributes.${attribute}`] = value === undefined ? defaultAttribute : renderSetting(value)
  }
  return changes
}

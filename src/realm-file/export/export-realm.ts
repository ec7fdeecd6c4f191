// Exports a realm as one document, in a stable order.
import { createHash } from 'node:crypto'
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { flatten, getField, isGenerated, isSecret } from '../../kinds/compare.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import { MASK } from '../../kinds/mask.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { listVaultReferences } from '../../kinds/vault-reference.ts'
import { listServiceAccounts } from '../../service/clients/service-accounts.ts'
import type { Context } from '../../service/context/context.ts'
import { cacheLargeValues } from '../../service/context/realm-values.ts'
import { transformTexts } from '../../service/context/secrets.ts'
import { type EncryptedFieldLookup, findEncryptedFields } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { getCredentialsByUser } from '../../service/users/credentials.ts'
import { findDefaultRoleName } from '../../service/users/default-role.ts'
import { omitMemberships } from '../formats/organizations.ts'
import { escapeVariables, transformTextsByPath } from '../substitute-variables.ts'
import { buildDocument } from './build-document.ts'
import { completePartialExport, type ExportedRole } from './complete-partial-export.ts'
import { getCreationEffects } from './creation-effects.ts'
import { completeObjects, type ExportedObject, minimizeObjects } from './minimize-objects.ts'

/** Options of a realm export. All are off by default. */
export interface ExportOptions {
  /** Whether secrets are in plain text instead of masked. */
  readonly secrets?: boolean
  /** Whether ids are included. Creation uses them, and no comparison does. */
  readonly ids?: boolean
  /** Whether everything is included, also what creation would add. */
  readonly full?: boolean
}

/** The optional parts of a partial export. */
export interface PartialExportOptions {
  /** Whether clients are included, with their roles and service accounts. */
  readonly clients: boolean
  readonly groupsAndRoles: boolean
}

/**
 * Exports a realm in the format of Keycloak's exports, without what its creation would add, and unless secrets are exported, without the
 * values that are encrypted in the files of its sources. A constant number of statements.
 * @throws Forbidden without the permission to administer the realm.
 */
export async function exportRealm(context: Context, options: ExportOptions = {}): Promise<Representation> {
  requirePermissions(context, 'administer-realm')
  const objects: LiveObject[] = []
  for (const kind of creationOrder) {
    const listed = await writers[kind].list(context, {})
    objects.push(...(kind === 'user' && options.secrets ? await addCredentials(context, listed) : listed))
  }
  const isEncrypted = options.secrets ? undefined : await findEncryptedFields(context)
  const document = await renderRealm(context, objects, { ...options, isEncrypted })
  // Without organizations, all these lists are empty. Keycloak: refuses them.
  const users =
    document.organizations === undefined && document.users && readObjects(document.users).map(omitMemberships)
  return readObject(transformTextsByPath({ ...document, ...(users && { users }) }, escapeVariables))
}

/** Exports a realm without its users, and with masked secrets. Variables are not escaped. A constant number of statements. */
export async function exportRealmWithoutUsers(context: Context): Promise<Representation> {
  requirePermissions(context, 'administer-realm')
  const objects: LiveObject[] = []
  for (const kind of creationOrder) {
    const clients = objects.filter((object) => object.kind === 'client')
    objects.push(...(await (kind === 'user' ? listServiceAccounts(context, clients) : writers[kind].list(context, {}))))
  }
  return renderRealm(context, objects, { isEncrypted: await findEncryptedFields(context) })
}

/**
 * Exports a realm without its users, with ids and masked secrets. A constant number of statements.
 * @throws Forbidden without the permissions to view these objects.
 */
export async function exportRealmPartially(context: Context, options: PartialExportOptions): Promise<Representation> {
  requirePermissions(context, 'manage-realm')
  if (options.groupsAndRoles) requirePermissions(context, 'list-groups')
  if (options.clients) requirePermissions(context, 'view-clients')
  const objects: LiveObject[] = []
  for (const kind of creationOrder.filter((name) => isIncluded(name, options))) {
    const clients = objects.filter((object) => object.kind === 'client')
    objects.push(...(await (kind === 'user' ? listServiceAccounts(context, clients) : writers[kind].list(context, {}))))
  }
  // Changes of users do not change the revision of the realm.
  const accounts = createHash('sha256').update(JSON.stringify(objects.filter(({ kind }) => kind === 'user')))
  const key = `${options.clients} ${options.groupsAndRoles} ${accounts.digest('base64')}`
  return (await getCachedExport(context, key, () => renderPartially(context, objects, options))).document
}

/** A partial export, and its number of objects. */
interface PartialExport {
  readonly document: Representation
  readonly size: number
}

/** Partial exports of realms. */
const getCachedExport = cacheLargeValues<PartialExport>(({ size }) => size)

async function renderPartially(
  context: Context,
  objects: readonly LiveObject[],
  options: PartialExportOptions,
): Promise<PartialExport> {
  // Other children are in their parent's representation, and are omitted with it.
  const included = options.clients ? objects : objects.filter(({ kind, parent }) => kind !== 'role' || !parent)
  const document = await renderRealm(context, included, { full: true, ids: true })
  const complete = completePartialExport(document, {
    ...options,
    realmId: context.realm.id,
    defaultRole: await findDefaultRole(context),
  })
  return { document: complete, size: objects.length }
}

/** Returns the default role of the realm. Two statements. */
async function findDefaultRole(context: Context): Promise<ExportedRole | undefined> {
  const name = await findDefaultRoleName(context)
  const [role] = name === undefined ? [] : await writers.role.list(context, { keys: [[name]] })
  return role && { id: role.id, name: role.key[0]!, description: role.representation.description }
}

/** Keycloak: not in partial exports. */
const NEVER_INCLUDED: ReadonlySet<KindName> = new Set(['organization', 'organizationGroup', 'workflow'])

function isIncluded(kind: KindName, { clients, groupsAndRoles }: PartialExportOptions): boolean {
  if (kind === 'client') return clients
  if (kind === 'role' || kind === 'group') return groupsAndRoles
  return !NEVER_INCLUDED.has(kind)
}

async function renderRealm(
  context: Context,
  objects: readonly LiveObject[],
  { isEncrypted, ...options }: ExportOptions & { readonly isEncrypted?: EncryptedFieldLookup | undefined },
): Promise<Representation> {
  const exported = objects.map((object) => toExportedObject(context, object, options))
  const selectObjects = options.full ? completeObjects : minimizeObjects
  const selected = selectObjects(context.realm.name, exported, getCreationEffects(objects))
  const ids = new Map(objects.map(({ kind, key, id }) => [formatAddress(kind, key), id]))
  const published = isEncrypted
    ? selected.map((object) =>
        omitEncryptedFields(object, ids.get(formatAddress(object.kind, object.key)), isEncrypted),
      )
    : selected
  return { ...buildDocument(published), ...(await declareDefaultRole(context, options.full)) }
}

/**
 * Returns an exported object without its encrypted fields. They are omitted, since a mask would be applied as their value. `id`: that of
 * the live object.
 */
export function omitEncryptedFields(
  { fields, ...object }: ExportedObject,
  id: string | undefined,
  isEncrypted: EncryptedFieldLookup,
): ExportedObject {
  const published = Object.entries(fields).filter(([path]) => id === undefined || !isEncrypted(object.kind, id, path))
  return { ...object, fields: Object.fromEntries(published) }
}

/**
 * Returns the declaration of the default role, or nothing if it has the name that it has in every new realm. Keycloak: creates another default
 * role if an import has its objects without this declaration, so that a full export always has it.
 */
async function declareDefaultRole(context: Context, isFull = false): Promise<Representation> {
  const name = await findDefaultRoleName(context)
  const isDeclared = isFull || name !== getDefaultRoleName(context.realm.name)
  return name !== undefined && isDeclared ? { defaultRole: { name } } : {}
}

/** Adds the credentials of users, which are not listed since no comparison needs them. */
async function addCredentials(context: Context, users: readonly LiveObject[]): Promise<LiveObject[]> {
  const credentialsByUser = await getCredentialsByUser(context, users)
  return users.map((user) => {
    const credentials = credentialsByUser.get(user.id)
    return credentials ? { ...user, representation: { ...user.representation, credentials } } : user
  })
}

/** Returns a live object as an export shows it. */
export function toExportedObject(
  context: Context,
  { kind: name, key, id, representation, references }: LiveObject,
  options: ExportOptions,
): ExportedObject {
  const kind = kinds[name]
  const fields = Object.entries(flatten(kind, representation)).map(([path, value]): [string, Json] => {
    // Keycloak: accepts only the id of such a reference.
    if (options.ids && getField(kind, path).wire === 'id') return [path, references[path] ?? value]
    if (!isSecret(kind, path)) return [path, value]
    const open = (secret: string) => context.vault.open(secret)
    const mask = (secret: string) => (listVaultReferences(kind, path, open(secret)).length ? open(secret) : MASK)
    return [path, transformTexts(value, options.secrets ? open : mask)]
  })
  // Generated values are generated again on creation.
  const included =
    options.full || options.secrets
      ? fields
      : fields.filter(
          ([path, value]) =>
            !isGenerated(kind, path, representation) || listVaultReferences(kind, path, value).length > 0,
        )
  // Keycloak: refuses required actions with ids.
  const hasId = options.ids && name !== 'requiredAction'
  return { kind: name, key, id: hasId ? id : undefined, fields: Object.fromEntries(included) }
}

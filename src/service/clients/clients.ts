// The writers of clients. They generate secrets, assign default client scopes, and manage service accounts.
import { randomInt, randomUUID } from 'node:crypto'
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { SERVICE_ACCOUNT_SCOPE } from '../../kinds/client-scope.ts'
import type { ClientType } from '../../kinds/client-types.ts'
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readObject } from '../../kinds/json.ts'
import { isManagementClientId } from '../../kinds/management-permissions.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { checkDeclaredUpdates, configureDeclaredClients } from '../client-policies/apply-client-policies.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { recordCreator, requireClientUpdates, toClientEditor } from '../objects/client-editors.ts'
import { type LiveObject, listObjects, type ObjectRepresentation } from '../objects/live-objects.ts'
import { createPlainWriters, toUpdatedRepresentation, updateClientObjects } from '../objects/plain-writers.ts'
import type { CreatedObject, NewObject, ObjectUpdate, Writers } from '../objects/writers.ts'
import { requireControlOfClients } from '../permissions/privilege-escalation.ts'
import { findClientProblem, findTimeoutLimits, listTimeoutProblems } from './client-checks.ts'
import { checkRuledProperties, findClientTypes, getRuledProperties } from './client-types.ts'
import {
  addTypeValues,
  createClientDefaults,
  type DefaultClientScopes,
  getClientDefaults,
  getDefaultClientScopes,
  withScopeIds,
} from './new-client-defaults.ts'
import {
  disableAuthorization,
  enableAuthorization,
  getServiceAccountRoles,
  hasProtectionRole,
  listRolesCreatedWith,
  withAuthorizationSettings,
} from './resource-servers.ts'
import {
  addServiceAccounts,
  removeServiceAccounts,
  renameServiceAccounts,
  toServiceAccount,
} from './service-accounts.ts'

const writers = createPlainWriters('client')
const SECRET_CREATION_TIME = 'client.secret.creation.time'

/** The writers of clients. */
export const clients: Writers = {
  ...writers,
  async create(context, objects) {
    const scopes = await getDefaultClientScopes(context)
    const limits = await findTimeoutLimits(
      context,
      objects.map(({ representation }) => representation),
    )
    const configured = context.isApply ? await configureDeclaredClients(context, objects) : objects
    const types = await findClientTypes(
      context,
      configured.map(({ representation }) => representation),
    )
    const prepared = configured.map((object) => prepareCreation(context, object, { scopes, limits, types }))
    const created = await writers.create(withScopeIds(context, scopes.all), prepared)
    await recordCreator(
      context,
      created.map(({ id }) => id),
    )
    await addServiceAccounts(context, created.filter(hasServiceAccount))
    await enableAuthorization(context, created.filter(hasProtectionRole))
    return created
  },
  getCreationDefaults: createClientDefaults,
  listCreatedWith: (client) => [...listAccountsCreatedWith(client), ...listRolesCreatedWith(client)],
  async update(context, changes) {
    const updates = changes.map(withAuthorizationSettings)
    if (context.isApply) await checkDeclaredUpdates(context, updates)
    const gainingAccount = findSwitched(updates, 'serviceAccountsEnabled', true)
    const losingAccount = findSwitched(updates, 'serviceAccountsEnabled', false)
    const limits = await findTimeoutLimits(context, updates.filter(changesAttributes).map(toUpdatedRepresentation))
    const types = await findClientTypes(context, updates.map(toUpdatedRepresentation))
    for (const update of updates) checkTypeOfUpdate(update, types)
    const prepared = updates.map((update) => prepareUpdate(update, limits))
    const complete = await withServiceAccountScopes(context, prepared, gainingAccount)
    requireClientUpdates(context, complete)
    const updated = await updateClientObjects(context, complete, toClientEditor(context, complete))
    await addServiceAccounts(context, gainingAccount)
    // Fewer permissions suffice to edit a client without an account: its secret could be changed before a source
    // restores the account.
    await requireControlOfClients(
      context,
      losingAccount.map(({ id }) => id),
    )
    await removeServiceAccounts(context, losingAccount)
    await disableAuthorization(context, findSwitched(updates, 'authorizationServicesEnabled', false))
    const renamed = updated.filter(({ key }, at) => key[0] !== updates[at]!.live.key[0])
    await renameServiceAccounts(context, renamed)
    const enabled = new Set(findSwitched(updates, 'authorizationServicesEnabled', true).map(({ id }) => id))
    await enableAuthorization(
      context,
      updated.filter(({ id }) => enabled.has(id)),
    )
    return updated
  },
  async delete(context, objects) {
    await removeServiceAccounts(context, objects)
    await writers.delete(context, objects)
  },
}

function hasServiceAccount({ representation }: Pick<ObjectRepresentation, 'representation'>): boolean {
  return representation.serviceAccountsEnabled === true && !isAdminPermissions(representation)
}

function listAccountsCreatedWith(client: ObjectRepresentation): CreatedObject[] {
  if (!hasServiceAccount(client)) return []
  return [{ kind: 'user', representation: toServiceAccount(client), lateFields: getServiceAccountRoles(client) }]
}

/** Returns the clients whose flag changes to a value. */
function findSwitched(updates: readonly ObjectUpdate[], flag: string, value: boolean): LiveObject[] {
  return updates
    .filter(
      ({ live, set }) =>
        flag in set && (set[flag] === true) === value && (live.representation[flag] === true) !== value,
    )
    .map(({ live }) => live)
}

const SECRET_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns a random secret. Keycloak: 32 letters and digits. */
function createSecret(): string {
  return Array.from({ length: 32 }, () => SECRET_CHARACTERS[randomInt(SECRET_CHARACTERS.length)]).join('')
}

/** Returns the fields of a client with a new secret: the secret, and the attributes with its creation time. */
export function generateClientSecret(
  { now }: Pick<Context, 'now'>,
  attributes: Representation | null | undefined,
): { readonly secret: string; readonly attributes: Representation } {
  return { secret: createSecret(), attributes: { ...attributes, [SECRET_CREATION_TIME]: String(toEpochSeconds(now)) } }
}

/** The parts of the realm on which new clients depend. */
interface NewClientRealm {
  readonly scopes: DefaultClientScopes
  /** The settings of the realm, if they limit a timeout of one of the clients. */
  readonly limits: Representation | undefined
  /** The client types of the realm, if one of the clients has a type. */
  readonly types: readonly ClientType[]
}

function prepareCreation(context: Context, client: NewObject, { scopes, limits, types }: NewClientRealm): NewObject {
  const id = client.id ?? randomUUID()
  const declared: Representation = { ...client.representation, clientId: client.representation.clientId ?? id }
  const ruled = getRuledProperties(declared, types)
  const typed = addTypeValues(declared, ruled)
  const complete = { ...kinds.client.defaults(typed), ...typed }
  checkRuledProperties(complete, ruled, () => true)
  checkClient(complete, limits)
  const { attributes, ...fields }: Representation = { ...declared, ...getClientDefaults(declared, { scopes, ruled }) }
  const generated = lacksSecret(complete) ? generateClientSecret(context, {}) : { attributes: {} }
  const allAttributes = { ...generated.attributes, ...readObject(attributes) }
  return { ...client, id, representation: { ...fields, ...generated, attributes: allAttributes } }
}

function prepareUpdate(update: ObjectUpdate, limits: Representation | undefined): ObjectUpdate {
  const { set } = update
  const next = toUpdatedRepresentation(update)
  checkClient(next, changesAttributes(update) ? limits : undefined)
  // Keycloak: it allows this client to be renamed, which leaves the realm without one.
  if (isAdminPermissions(update.live.representation) && !isAdminPermissions(next))
    throw failure('invalid', 'Not supported for this client.', { form: { error: 'invalid_input' } })
  const needsSecret = set.publicClient === false && next.secret === undefined && !('secret' in set)
  if (!needsSecret) return update
  return { ...update, set: { ...set, secret: createSecret() } }
}

/** Throws invalid where an update sets values that the type of the client does not allow. An update can change the type. */
function checkTypeOfUpdate(update: ObjectUpdate, types: readonly ClientType[]): void {
  const { live, set } = update
  const next = toUpdatedRepresentation(update)
  const changesType = (next.type ?? null) !== (live.representation.type ?? null)
  const ruled = getRuledProperties(next, types, { isExisting: !changesType })
  checkRuledProperties(next, ruled, (path) => changesType || path in set || path.slice(0, path.indexOf('.')) in set)
}

/** Whether an update changes attributes. They are one field or one field each. */
function changesAttributes({ set }: ObjectUpdate): boolean {
  return Object.keys(set).some((path) => resolveField(kinds.client, path).name === 'attributes')
}

/** Assigns the client scope of service accounts to clients of its protocol that get one. One statement, or none. */
async function withServiceAccountScopes(
  context: Context,
  updates: readonly ObjectUpdate[],
  clients: readonly LiveObject[],
): Promise<readonly ObjectUpdate[]> {
  if (!clients.length) return updates
  const [scope] = await listObjects(context, 'clientScope', { keys: [[SERVICE_ACCOUNT_SCOPE]] })
  if (!scope) return updates
  const ids = new Set(clients.map(({ id }) => id))
  return updates.map((update) =>
    ids.has(update.live.id) && toUpdatedRepresentation(update).protocol === scope.representation.protocol
      ? withServiceAccountScope(update)
      : update,
  )
}

function withServiceAccountScope(update: ObjectUpdate): ObjectUpdate {
  const { defaultClientScopes = {}, ...relations } = update.relations ?? {}
  const add = [...(defaultClientScopes.add ?? []), [SERVICE_ACCOUNT_SCOPE]]
  return { ...update, relations: { ...relations, defaultClientScopes: { ...defaultClientScopes, add } } }
}

/** Throws invalid where a complete client cannot be as it is. `limits`: the settings of its realm, to check its timeouts. */
function checkClient(client: Representation, limits: Representation | undefined): void {
  const { clientId, authorizationServicesEnabled, publicClient, bearerOnly } = client
  const cannotAuthenticate = publicClient === true || (bearerOnly === true && !isManagementClientId(clientId))
  if (authorizationServicesEnabled === true && cannotAuthenticate)
    throw failure('invalid', 'Only confidential clients are allowed to set authorization settings', {
      field: 'authorizationServicesEnabled',
    })
  const problem = findClientProblem(client)
  const timeouts = limits ? listTimeoutProblems(client, limits) : []
  const problems = [
    ...(problem ? [problem] : []),
    ...timeouts.map(({ attribute, message }) => ({ message, field: `attributes.${attribute}` })),
  ]
  const [first] = problems
  if (!first) return
  const message = problems.map(({ message }) => message).join('; ')
  throw failure('invalid', message, { form: { error: 'invalid_input' }, field: first.field })
}

function lacksSecret(client: Representation): boolean {
  return client.publicClient !== true && !client.secret && !isAdminPermissions(client)
}

// Clients: secrets, the client scopes that a new one gets, service accounts, URIs.
import { randomInt, randomUUID } from 'node:crypto'
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { SERVICE_ACCOUNT_SCOPE } from '../../kinds/client-scope.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { secondsOf } from '../../lib/seconds.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { demandClientUpdates, editorOf, recordCreator } from '../objects/client-editors.ts'
import { type LiveObject, listObjects, type SaidObject } from '../objects/live.ts'
import { changed, plain, updateAll } from '../objects/objects.ts'
import type { NewObject, Update, Writers } from '../objects/writers.ts'
import { demandClients } from '../permissions/privilege.ts'
import { additions, additionsIn, type NewClientScopes, newClientScopes } from './client-additions.ts'
import { clientProblem } from './client-uris.ts'
import {
  accountRoles,
  addAuthorization,
  comesWithRole,
  removeAuthorization,
  roleBrought,
  withAuthorization,
} from './resource-servers.ts'
import {
  addServiceAccounts,
  removeServiceAccounts,
  renameServiceAccounts,
  serviceAccountOf,
} from './service-accounts.ts'

const writers = plain('client')
const SECRET_CREATION_TIME = 'client.secret.creation.time'

/** The writers of clients. */
export const clients: Writers = {
  ...writers,
  async create(context, objects) {
    const scopes = await newClientScopes(context, objects)
    const created = await writers.create(
      context,
      objects.map((one) => prepare(context, one, scopes)),
    )
    await recordCreator(
      context,
      created.map(({ id }) => id),
    )
    await addServiceAccounts(context, created.filter(comesWithAccount))
    await addAuthorization(context, created.filter(comesWithRole))
    return created
  },
  additions: additionsIn,
  brings: (client) => [
    ...(comesWithAccount(client)
      ? [{ kind: 'user', representation: serviceAccountOf(client), later: accountRoles(client) } as const]
      : []),
    ...roleBrought(client),
  ],
  async update(context, changes) {
    const updates = changes.map(withAuthorization)
    const prepared = updates.map(prepareUpdate)
    const turnedOn = turned(updates, 'serviceAccountsEnabled', true)
    const scope = turnedOn.length ? await listObjects(context, 'clientScope', { keys: [[SERVICE_ACCOUNT_SCOPE]] }) : []
    const gaining = new Set(scope.length ? turnedOn.map(({ id }) => id) : [])
    const complete = prepared.map((update) => (gaining.has(update.live.id) ? withServiceAccountScope(update) : update))
    demandClientUpdates(context, complete)
    const editor = editorOf(
      context,
      complete.map(({ live }) => live),
    )
    const updated = await updateAll(context, 'client', complete, editor)
    await addServiceAccounts(context, turnedOn)
    const turnedOff = turned(updates, 'serviceAccountsEnabled', false)
    // Without its account the client is weak: its secret could be changed before a source gives the account back.
    await demandClients(
      context,
      turnedOff.map(({ id }) => id),
    )
    await removeServiceAccounts(context, turnedOff)
    await removeAuthorization(context, turned(updates, 'authorizationServicesEnabled', false))
    const renamed = updated.filter(({ key }, at) => key[0] !== updates[at]!.live.key[0])
    await renameServiceAccounts(context, renamed)
    const deciding = new Set(turned(updates, 'authorizationServicesEnabled', true).map(({ id }) => id))
    await addAuthorization(
      context,
      updated.filter(({ id }) => deciding.has(id)),
    )
    return updated
  },
  async delete(context, objects) {
    await removeServiceAccounts(context, objects)
    await writers.delete(context, objects)
  },
}

/** Whether the client has an account of its own from its creation on. */
function comesWithAccount({ representation }: Pick<SaidObject, 'representation'>): boolean {
  return representation.serviceAccountsEnabled === true && !isAdminPermissions(representation)
}

/** The clients in which a switch is turned. */
function turned(updates: readonly Update[], flag: string, on: boolean): LiveObject[] {
  return updates
    .filter(
      ({ live, set }) => flag in set && (set[flag] === true) === on && (live.representation[flag] === true) !== on,
    )
    .map(({ live }) => live)
}

const SECRET_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** A new secret: 32 letters and digits, as Keycloak makes them. */
function newSecret(): string {
  return Array.from({ length: 32 }, () => SECRET_LETTERS[randomInt(SECRET_LETTERS.length)]).join('')
}

/** A new secret for a client, with the attribute that tells its age. */
export function freshSecret(context: Context, attributes: Representation | null | undefined): Representation {
  return { secret: newSecret(), attributes: { ...attributes, [SECRET_CREATION_TIME]: seconds(context) } }
}

function prepare(context: Context, client: NewObject, scopes: NewClientScopes): NewObject {
  const id = client.id ?? randomUUID()
  const stated: Representation = { ...client.representation, clientId: client.representation.clientId ?? id }
  const whole = { ...kinds.client.defaults(stated), ...stated }
  refuse(whole)
  const completed = { ...stated, ...additions(stated, scopes) }
  const attributes = { ...generatedAttributes(context, whole), ...(completed.attributes as Representation | undefined) }
  return { ...client, id, representation: { ...completed, ...generatedSecret(whole), attributes } }
}

function prepareUpdate(update: Update): Update {
  const { set } = update
  const next = changed(update)
  refuse(next)
  // Keycloak: lets it be renamed, which leaves the realm without it.
  if (isAdminPermissions(update.live.representation) && !isAdminPermissions(next))
    throw failure('invalid_input', 'Not supported for this client.')
  const needsSecret = set.publicClient === false && next.secret === undefined && !('secret' in set)
  if (!needsSecret) return update
  return { ...update, set: { ...set, secret: newSecret() } }
}

function withServiceAccountScope(update: Update): Update {
  const { defaultClientScopes = {}, ...others } = update.relations ?? {}
  const add = [...(defaultClientScopes.add ?? []), [SERVICE_ACCOUNT_SCOPE]]
  return { ...update, relations: { ...others, defaultClientScopes: { ...defaultClientScopes, add } } }
}

function refuse(client: Representation): void {
  const { authorizationServicesEnabled, publicClient, bearerOnly } = client
  if (authorizationServicesEnabled === true && (publicClient === true || bearerOnly === true))
    throw failure('invalid', 'Only confidential clients are allowed to set authorization settings')
  const problem = clientProblem(client)
  if (problem) throw failure('invalid_input', problem)
}

/** The secret of a confidential client that states none. */
function generatedSecret(whole: Representation): Representation {
  return lacksSecret(whole) ? { secret: newSecret() } : {}
}

function generatedAttributes(context: Context, whole: Representation): Representation {
  return lacksSecret(whole) ? { [SECRET_CREATION_TIME]: seconds(context) } : {}
}

function lacksSecret(client: Representation): boolean {
  return client.publicClient !== true && !client.secret && !isAdminPermissions(client)
}

function seconds(context: Context): string {
  return String(secondsOf(context.now))
}

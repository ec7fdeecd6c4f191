// Clients: secrets, the client scopes that a new one gets, service accounts, URIs.
import { randomInt, randomUUID } from 'node:crypto'
import { SERVICE_ACCOUNT_SCOPE } from '../kinds/client-scope.ts'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
import { secondsOf } from '../lib/seconds.ts'
import { additions, additionsIn, type NewClientScopes, newClientScopes } from './client-additions.ts'
import { clientProblem } from './client-uris.ts'
import type { Context } from './context.ts'
import { failure } from './errors.ts'
import { type LiveObject, listObjects } from './live.ts'
import { changed, type NewObject, plain, type Update, type Writers } from './objects.ts'
import {
  accountRoles,
  addAuthorization,
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
    await addServiceAccounts(
      context,
      created.filter(({ representation }) => representation.serviceAccountsEnabled === true),
    )
    await addAuthorization(
      context,
      created.filter(({ representation }) => representation.authorizationServicesEnabled === true),
    )
    return created
  },
  additions: additionsIn,
  brings: (client) => [
    ...(client.representation.serviceAccountsEnabled === true
      ? [{ kind: 'user', representation: { ...serviceAccountOf(client), ...accountRoles(client) } } as const]
      : []),
    ...roleBrought(client),
  ],
  async update(context, changes) {
    const updates = changes.map(withAuthorization)
    const prepared = updates.map(prepareUpdate)
    const turnedOn = turned(updates, 'serviceAccountsEnabled', true)
    const scope = turnedOn.length ? await listObjects(context, 'clientScope', { keys: [[SERVICE_ACCOUNT_SCOPE]] }) : []
    const gaining = new Set(scope.length ? turnedOn.map(({ id }) => id) : [])
    const updated = await writers.update(
      context,
      prepared.map((update) => (gaining.has(update.live.id) ? withServiceAccountScope(update) : update)),
    )
    await addServiceAccounts(context, turnedOn)
    await removeServiceAccounts(context, turned(updates, 'serviceAccountsEnabled', false))
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

function lacksSecret({ publicClient, secret = null }: Representation): boolean {
  return publicClient !== true && secret === null
}

function seconds(context: Context): string {
  return String(secondsOf(context.now))
}

// Clients: secrets, the client scopes that a new one gets, service accounts, URIs.
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { builtInObjects } from '../kinds/built-in/index.ts'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
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
const SERVICE_ACCOUNT_SCOPE = 'service_account'

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
  additions(realm) {
    const [builtIn, ...objects] = builtInObjects(realm.key[0]!)
    const names = defaultScopes(builtIn!.representation)
    const scopes = choose(
      names,
      objects.filter(({ kind }) => kind === 'clientScope'),
    )
    const usual = JSON.stringify(names) === JSON.stringify(defaultScopes(realm.representation))
    // Where a realm gives others, no client has what it gets: no client scope is called so.
    const unusual = usual ? {} : { defaultClientScopes: [''], optionalClientScopes: [''] }
    return (stated) => additions({ ...unusual, ...stated }, scopes)
  },
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

/** A client scope, as far as it matters to new clients. */
type Scope = Pick<LiveObject, 'key' | 'representation'>

interface NewClientScopes {
  /** The client scopes that the realm gives to new clients, with their protocols. */
  readonly default: readonly Scope[]
  readonly optional: readonly Scope[]
  /** Whether the realm has the client scope of service accounts. */
  readonly serviceAccount: boolean
}

async function newClientScopes(context: Context, objects: readonly NewObject[]): Promise<NewClientScopes> {
  const [realm] = await listObjects(context, 'realm', {})
  const wantsAccount = objects.some(({ representation }) => hasAccount(representation))
  const names = defaultScopes(realm?.representation ?? {})
  const keys = [...names.default, ...names.optional, ...(wantsAccount ? [SERVICE_ACCOUNT_SCOPE] : [])]
  const scopes = await listObjects(context, 'clientScope', { keys: keys.map((name) => [name]) })
  return choose(names, scopes)
}

interface ScopeNames {
  readonly default: readonly string[]
  readonly optional: readonly string[]
}

function defaultScopes(realm: Representation): ScopeNames {
  const names = (field: string) => ((realm[field] ?? []) as string[]).toSorted()
  return { default: names('defaultDefaultClientScopes'), optional: names('defaultOptionalClientScopes') }
}

function choose(names: ScopeNames, scopes: readonly Scope[]): NewClientScopes {
  const among = (wanted: readonly string[]) => scopes.filter(({ key }) => wanted.includes(key[0]!))
  return {
    default: among(names.default),
    optional: among(names.optional),
    serviceAccount: among([SERVICE_ACCOUNT_SCOPE]).length > 0,
  }
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

/** What a new client that states so much has of what it gets, but for what is made up. */
function additions(stated: Representation, scopes: NewClientScopes): Representation {
  const protocol = String(stated.protocol ?? kinds.client.defaults(stated).protocol)
  const matching = (list: readonly Scope[]) =>
    list.filter(({ representation }) => representation.protocol === protocol).map(({ key }) => key[0]!)
  // Keycloak: who states one of the two lists means that the other is empty.
  const { defaultClientScopes = null, optionalClientScopes = null } = stated
  const byDefault = (defaultClientScopes ?? (optionalClientScopes ? [] : matching(scopes.default))) as string[]
  const optional = optionalClientScopes ?? (defaultClientScopes ? [] : matching(scopes.optional))
  // Keycloak: a client with a service account has its client scope, whatever is stated.
  const account = hasAccountScope(stated, scopes) ? [SERVICE_ACCOUNT_SCOPE] : []
  const identifier = createHash('sha1').update(String(stated.clientId)).digest('base64')
  return {
    defaultClientScopes: [...new Set([...byDefault, ...account])],
    optionalClientScopes: optional,
    ...(protocol === 'saml' && {
      attributes: {
        'saml.artifact.binding.identifier': identifier,
        ...(stated.attributes as Representation | undefined),
      },
    }),
  }
}

function hasAccountScope(stated: Representation, { serviceAccount }: NewClientScopes): boolean {
  return hasAccount(stated) && serviceAccount
}

/** Whether a new client gets an account of its own. */
function hasAccount(stated: Representation): boolean {
  return (stated.serviceAccountsEnabled ?? kinds.client.defaults(stated).serviceAccountsEnabled) === true
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
  return String(Math.floor(context.now.getTime() / 1000))
}

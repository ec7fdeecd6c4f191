// Clients: secrets, the client scopes that a new one gets, service accounts, URIs.
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { assemble, flatten } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, Representation } from '../kinds/kind.ts'
import { clientProblem } from './client-uris.ts'
import type { Context } from './context.ts'
import { failure } from './errors.ts'
import { type LiveObject, listObjects } from './live.ts'
import { type NewObject, plain, type Update, type Writers } from './objects.ts'
import { addServiceAccounts, removeServiceAccounts, renameServiceAccounts } from './service-accounts.ts'

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
    return created
  },
  async update(context, updates) {
    const prepared = updates.map(prepareUpdate)
    const turned = (on: boolean) =>
      updates
        .filter(
          ({ live, set }) => set.serviceAccountsEnabled === on && live.representation.serviceAccountsEnabled !== on,
        )
        .map(({ live }) => live)
    const scope = turned(true).length
      ? await listObjects(context, 'clientScope', { keys: [[SERVICE_ACCOUNT_SCOPE]] })
      : []
    const gaining = new Set(scope.length ? turned(true).map(({ id }) => id) : [])
    const updated = await writers.update(
      context,
      prepared.map((update) => (gaining.has(update.live.id) ? withServiceAccountScope(update) : update)),
    )
    await addServiceAccounts(context, turned(true))
    await removeServiceAccounts(context, turned(false))
    const renamed = updated.filter(({ key }, at) => key[0] !== updates[at]!.live.key[0])
    await renameServiceAccounts(context, renamed)
    return updated
  },
  async delete(context, objects) {
    await removeServiceAccounts(context, objects)
    await writers.delete(context, objects)
  },
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

interface NewClientScopes {
  /** The client scopes that the realm gives to new clients, with their protocols. */
  readonly default: readonly LiveObject[]
  readonly optional: readonly LiveObject[]
  /** Whether the realm has the client scope of service accounts. */
  readonly serviceAccount: boolean
}

async function newClientScopes(context: Context, objects: readonly NewObject[]): Promise<NewClientScopes> {
  const [realm] = await listObjects(context, 'realm', {})
  const named = (field: string): Key[] => ((realm?.representation[field] ?? []) as string[]).map((name) => [name])
  const [byDefault, optional] = [named('defaultDefaultClientScopes'), named('defaultOptionalClientScopes')]
  const wantsAccount = objects.some(({ representation }) => representation.serviceAccountsEnabled === true)
  const keys = [...byDefault, ...optional, ...(wantsAccount ? [[SERVICE_ACCOUNT_SCOPE]] : [])]
  const scopes = await listObjects(context, 'clientScope', { keys })
  const among = (keys: readonly Key[]) => scopes.filter(({ key }) => keys.some(([name]) => name === key[0]))
  return {
    default: among(byDefault),
    optional: among(optional),
    serviceAccount: among([[SERVICE_ACCOUNT_SCOPE]]).length > 0,
  }
}

function prepare(context: Context, client: NewObject, scopes: NewClientScopes): NewObject {
  const id = client.id ?? randomUUID()
  const stated: Representation = { ...client.representation, clientId: client.representation.clientId ?? id }
  const full = kinds.client.defaults(stated)
  const protocol = String(stated.protocol ?? full.protocol)
  refuse({ ...full, ...stated })
  const matching = (list: readonly LiveObject[]) =>
    list.filter(({ representation }) => representation.protocol === protocol).map(({ key }) => key[0]!)
  // Keycloak: who states one of the two lists means that the other is empty.
  const byDefault = stated.optionalClientScopes ? [] : matching(scopes.default)
  const defaultClientScopes = (stated.defaultClientScopes ?? byDefault) as string[]
  const withAccount = stated.serviceAccountsEnabled === true && scopes.serviceAccount
  return {
    ...client,
    id,
    representation: {
      ...stated,
      ...generatedSecret({ ...full, ...stated }),
      attributes: {
        ...generatedAttributes(context, { ...full, ...stated }),
        ...(stated.attributes as Representation | undefined),
      },
      defaultClientScopes: withAccount
        ? [...new Set([...defaultClientScopes, SERVICE_ACCOUNT_SCOPE])]
        : defaultClientScopes,
      optionalClientScopes:
        stated.optionalClientScopes ?? (stated.defaultClientScopes ? [] : matching(scopes.optional)),
    },
  }
}

function prepareUpdate(update: Update): Update {
  const { live, set } = update
  const next = { ...flatten(kinds.client, live.representation), ...set }
  refuse(assemble(kinds.client, next))
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
  const problem = clientProblem(client)
  if (problem) throw failure('invalid_input', problem)
}

/** The secret of a confidential client that states none. */
function generatedSecret({ publicClient, secret }: Representation): Representation {
  return publicClient === true || (secret !== undefined && secret !== null) ? {} : { secret: newSecret() }
}

function generatedAttributes(
  context: Context,
  { publicClient, secret, protocol, clientId }: Representation,
): Representation {
  return {
    ...(publicClient !== true &&
      (secret === undefined || secret === null) && { [SECRET_CREATION_TIME]: seconds(context) }),
    ...(protocol === 'saml' && {
      'saml.artifact.binding.identifier': createHash('sha1').update(String(clientId)).digest('base64'),
    }),
  }
}

function seconds(context: Context): string {
  return String(Math.floor(context.now.getTime() / 1000))
}

// The client scopes that a client has, or that a realm gives to new clients: by default, or when a token asks for them.
import type { Representation } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live.ts'
import { demand } from '../../permissions/administrators.ts'
import { ownRealm } from '../common/own-realm.ts'
import { getObject } from '../common/resource.ts'
import { CLIENT_NOT_FOUND, refuseAdministration } from './clients.ts'

const ofClient = { default: 'defaultClientScopes', optional: 'optionalClientScopes' } as const
const ofRealm = { default: 'defaultDefaultClientScopes', optional: 'defaultOptionalClientScopes' } as const

/** How a client scope is assigned. */
export type Assignment = keyof typeof ofClient

/** The client scopes of a client. */
export async function listClientAssigned(context: Context, client: string, how: Assignment): Promise<Representation[]> {
  demand(context, 'view-clients')
  const owner = await getObject(context, 'client', client, CLIENT_NOT_FOUND)
  const scopes = await scopesNamed(context, owner.representation[ofClient[how]])
  return scopes.map(({ id, key: [name] }) => ({ id, name: name! }))
}

/** Gives a client a scope. Keycloak: one that it has already stays as it is, and one of another protocol is passed over. */
export async function assignToClient(
  context: WriteContext,
  client: string,
  how: Assignment,
  scope: string,
): Promise<void> {
  demand(context, 'manage-clients')
  const live = await getObject(context, 'client', client, CLIENT_NOT_FOUND)
  refuseAdministration(context, live)
  const { key, representation } = await getScope(context, scope)
  if (holds(live, Object.values(ofClient), key[0]!)) return
  if (representation.protocol !== live.representation.protocol) return
  await writers.client.update(context, [{ live, set: {}, relations: { [ofClient[how]]: { add: [key] } } }])
}

/** Takes a scope from a client. Keycloak: however it was assigned. */
export async function removeFromClient(context: WriteContext, client: string, scope: string): Promise<void> {
  demand(context, 'manage-clients')
  const live = await getObject(context, 'client', client, CLIENT_NOT_FOUND)
  refuseAdministration(context, live)
  const { key } = await getScope(context, scope)
  const relations = Object.fromEntries(Object.values(ofClient).map((field) => [field, { remove: [key] }]))
  await writers.client.update(context, [{ live, set: {}, relations }])
}

/** The client scopes that a realm gives to new clients. */
export async function listRealmAssigned(context: Context, how: Assignment): Promise<Representation[]> {
  demand(context, 'view-clients')
  const realm = await ownRealm(context)
  const scopes = await scopesNamed(context, realm.representation[ofRealm[how]])
  return scopes.map(({ id, key: [name], representation: { protocol } }) => ({ id, name: name!, protocol: protocol! }))
}

/** Gives a scope to new clients from now on. Throws duplicate when the realm does so already, in either way. */
export async function assignToRealm(context: WriteContext, how: Assignment, scope: string): Promise<void> {
  demand(context, 'manage-clients')
  const { key } = await getScope(context, scope)
  const live = await ownRealm(context)
  if (holds(live, Object.values(ofRealm), key[0]!)) throw failure('duplicate', 'Duplicate resource error')
  await writers.realm.update(context, [{ live, set: {}, relations: { [ofRealm[how]]: { add: [key] } } }])
}

/** Gives a scope to new clients no more. Keycloak: however it was assigned. */
export async function removeFromRealm(context: WriteContext, scope: string): Promise<void> {
  demand(context, 'manage-clients')
  const { key } = await getScope(context, scope)
  const relations = Object.fromEntries(Object.values(ofRealm).map((field) => [field, { remove: [key] }]))
  await writers.realm.update(context, [{ live: await ownRealm(context), set: {}, relations }])
}

function getScope(context: Context, id: string): Promise<LiveObject> {
  return getObject(context, 'clientScope', id, 'Client scope not found')
}

function scopesNamed(context: Context, names: unknown): Promise<LiveObject[]> {
  return writers.clientScope.list(context, { keys: ((names ?? []) as string[]).map((name) => [name]) })
}

function holds({ representation }: LiveObject, fields: readonly string[], name: string): boolean {
  return fields.some((field) => ((representation[field] ?? []) as string[]).includes(name))
}

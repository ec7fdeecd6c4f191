// The policies by which owners share resources with others: the endpoint uma-policy. Keycloak: UserManagedPermissionService.
//
// Such a policy has the type `uma`, and consists of other policies, one for each role, group, client and user. Their names are ids.
import { randomUUID } from 'node:crypto'
import { listPolicyTargets, type PolicyTarget } from '../../kinds/authorization-policy.ts'
import { subtractKeys } from '../../kinds/compare.ts'
import { isEmpty, type Json, omitUndefined, type Representation, readTexts } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { getRelationKeys, resolveTargets, toRelationValues } from '../admin-api/authorization/policy-representation.ts'
import { listServerObjects, requireName, toPage } from '../admin-api/authorization/resource-servers.ts'
import { findChild, type Query, toParent } from '../admin-api/common/resource.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, ServiceError } from '../context/errors.ts'
import { awaitWrites } from '../context/send-write.ts'
import { writers } from '../kinds/index.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { allowsRemoteManagement, getPartyId, type ProtectionParty } from './protection-party.ts'

const KIND = 'authorizationPolicy'

/** The types of the parts of a policy, by the field that lists their targets. */
const PART_TYPES = { roles: 'role', groups: 'group', clients: 'client', users: 'user' } as const
type PartField = keyof typeof PART_TYPES
const PART_FIELDS: readonly PartField[] = ['roles', 'groups', 'clients', 'users']

/** The policies of a client, with what they refer to. */
interface ServerPolicies {
  readonly resources: readonly LiveObject[]
  readonly policies: readonly LiveObject[]
}

/** Lists the policies of the caller that match a query; undefined if its scope does not exist. */
export async function listOwnerPolicies(
  context: Context,
  party: ProtectionParty,
  { name, resource: resourceId, scope, ...page }: Query,
): Promise<Representation[] | undefined> {
  const all = await readPolicies(context, party)
  const scopes = scope ? await listServerObjects(context, party.server, { kind: 'authorizationScope' }) : []
  const scopeName = scopes.find(({ id, key }) => [id, key.at(-1)].includes(String(scope)))?.key.at(-1)
  if (scope && scopeName === undefined) return undefined
  const matches = all.policies.filter((policy) => {
    const resource = findResource(all, policy)
    return (
      resource !== undefined &&
      getOwner(resource) === getPartyId(party) &&
      (!resourceId || resource.id === resourceId) &&
      (!name || policy.key.at(-1)!.toLowerCase().includes(String(name).toLowerCase())) &&
      (scopeName === undefined || readTexts(policy.representation.scopes).includes(scopeName))
    )
  })
  return toPage(matches, page).map((policy) => toRepresentation(all, policy))
}

/** Returns a policy of the caller. Throws not_found, and invalid for the policy of another owner. */
export async function getOwnerPolicy(context: Context, party: ProtectionParty, id: string): Promise<Representation> {
  const { all, policy } = await getPolicy(context, party, id)
  return toRepresentation(all, policy)
}

/** Creates a policy on a resource of the caller, given by id. Throws conflict if the name is in use. */
export async function createOwnerPolicy(
  context: WriteContext,
  party: ProtectionParty,
  { resource: resourceId, body }: { readonly resource: string; readonly body: Representation },
): Promise<Representation> {
  if ((body.id ?? null) !== null) throw createInvalidError('Newly created uma policies should not have an id')
  if (!isEmpty(body.resources)) throw createInvalidError('Invalid resource')
  const resource = await findChild(context, party.server, { kind: 'authorizationResource', id: resourceId })
  if (!resource) throw createInvalidError(`Resource [${resourceId}] cannot be found`)
  requireControl(party, resource)
  const name = requireName(body)
  const scopes = readScopes(resource, body) ?? readTexts(resource.representation.scopes)
  const parent = toParent(party.server)
  const create = async (): Promise<LiveObject> => {
    const parts = await createParts(context, party, body)
    const { description, logic, decisionStrategy } = body
    const representation = omitUndefined({
      ...{ name, description, type: 'uma', logic, decisionStrategy, scopes },
      resources: [resource.key.at(-1)!],
      policies: parts,
    })
    const [policy] = await writers[KIND].create(context, [{ representation: withoutNulls(representation), parent }])
    return policy!
  }
  const policy = await withPolicyErrors(context, create)
  return toRepresentation(await readPolicies(context, party), policy)
}

/** Replaces a policy of the caller with its parts. Scopes that the body does not declare stay. */
export async function replaceOwnerPolicy(
  context: WriteContext,
  party: ProtectionParty,
  { id, body }: { readonly id: string; readonly body: Representation },
): Promise<void> {
  const { policy, resource, parts } = await getPolicy(context, party, id)
  const name = requireName(body)
  const scopes = readScopes(resource, body)
  await withPolicyErrors(context, async () => {
    const created = await createParts(context, party, body)
    const relations = {
      policies: { add: created.map((part): Key => [part]), remove: parts.map(({ key }) => key.slice(-1)) },
      ...(scopes && { scopes: compareKeys(getRelationKeys(policy, 'scopes'), scopes) }),
    }
    const { description = null, logic, decisionStrategy } = body
    const set = { name, description, logic: logic ?? 'POSITIVE', decisionStrategy: decisionStrategy ?? 'UNANIMOUS' }
    await writers[KIND].update(context, [{ live: policy, set, relations }])
    await writers[KIND].delete(context, parts)
  })
}

/** Deletes a policy of the caller with its parts. */
export async function deleteOwnerPolicy(context: WriteContext, party: ProtectionParty, id: string): Promise<void> {
  const { policy } = await getPolicy(context, party, id)
  await writers[KIND].delete(context, [policy])
}

const createInvalidError = (message: string) => failure('invalid', message, { form: { error: 'invalid_request' } })

const getOwner = ({ references, parent }: LiveObject): string => references.owner ?? parent!.id

const compareKeys = (before: readonly Key[], names: readonly string[]) => {
  const after = names.map((name): Key => [name])
  return { add: subtractKeys(after, before), remove: subtractKeys(before, after) }
}

const withoutNulls = (fields: Representation): Representation =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

/** Reads the resources and policies of the client. Two statements. */
async function readPolicies(context: Context, { server }: ProtectionParty): Promise<ServerPolicies> {
  const [resources, policies] = await Promise.all([
    listServerObjects(context, server, { kind: 'authorizationResource' }),
    listServerObjects(context, server, { kind: KIND }),
  ])
  return { resources, policies }
}

/** Returns the resource of a policy of an owner; undefined for another policy. */
function findResource({ resources }: ServerPolicies, { representation }: LiveObject): LiveObject | undefined {
  const [name] = representation.type === 'uma' ? readTexts(representation.resources) : []
  return resources.find(({ key }) => key.at(-1) === name)
}

function listParts({ policies }: ServerPolicies, { representation }: LiveObject): LiveObject[] {
  const names = readTexts(representation.policies)
  return policies.filter(({ key }) => names.includes(key.at(-1)!))
}

async function getPolicy(context: Context, party: ProtectionParty, id: string) {
  const all = await readPolicies(context, party)
  const policy = all.policies.find((candidate) => candidate.id === id)
  const resource = policy && findResource(all, policy)
  if (!policy || !resource)
    throw failure('not_found', `Policy with [${id}] does not exist`, { form: { error: 'invalid_request' } })
  requireControl(party, resource)
  return { all, policy, resource, parts: listParts(all, policy) }
}

/** Throws invalid unless the caller owns the resource and manages access to it. */
function requireControl(party: ProtectionParty, resource: LiveObject): void {
  const { id, representation } = resource
  if (getOwner(resource) !== getPartyId(party))
    throw createInvalidError(`Only resource owner can access policies for resource [${id}]`)
  if (representation.ownerManagedAccess !== true)
    throw createInvalidError('Only resources with owner managed accessed can have policies')
  if (!allowsRemoteManagement(party))
    throw failure('forbidden', `Remote Resource Management not enabled on resource server [${party.server.id}]`, {
      form: { error: 'request_not_supported' },
    })
}

/** Returns the declared scopes; undefined if there are none. Throws invalid if the resource lacks one. */
function readScopes({ id, representation }: LiveObject, { scopes }: Representation): string[] | undefined {
  const names = readTexts(scopes)
  if (!names.length) return undefined
  const available = readTexts(representation.scopes)
  if (!names.every((name) => available.includes(name)))
    throw createInvalidError(`Some of the scopes [[${names.join(', ')}]] are not valid for resource [${id}]`)
  return [...names]
}

/** Creates the parts that a body declares. Returns their names. Throws invalid if a role, group, client or user does not exist. */
async function createParts(
  context: WriteContext,
  { server }: ProtectionParty,
  body: Representation,
): Promise<string[]> {
  if ((body.condition ?? null) !== null) throw createInvalidError('Conditions are scripts, which are not supported')
  const parts: Representation[] = []
  for (const field of PART_FIELDS) {
    const names = readTexts(body[field])
    if (!names.length) continue
    const target = getTarget(field)
    const value = names.map((name): Json => (target.flagged ? { [target.flagged.names[0]!]: name } : name))
    const keys = (await resolveTargets(context, { server, target, value }))[target.field]!
    if (keys.length < new Set(names).size)
      throw createInvalidError(`Some of the ${field} [${names.join(', ')}] do not exist`)
    for (const key of keys)
      parts.push({ name: randomUUID(), type: PART_TYPES[field], ...toRelationValues({ [target.field]: [key] }) })
  }
  const parent = toParent(server)
  if (parts.length)
    await writers[KIND].create(
      context,
      parts.map((representation) => ({ representation, parent })),
    )
  return parts.map(({ name }) => String(name))
}

const getTarget = (field: PartField): PolicyTarget =>
  listPolicyTargets(PART_TYPES[field]).find((target) => target.field === field)!

/** Runs work with the errors of Keycloak for invalid bodies, and names that are in use. */
async function withPolicyErrors<T>(context: WriteContext, work: () => Promise<T>): Promise<T> {
  try {
    return await awaitWrites(context, work)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.form) throw error
    if (error.code === 'invalid')
      throw failure('invalid', error.message, { form: { error: 'invalid_request' }, cause: error })
    if (error.code !== 'conflict') throw error
    throw failure('conflict', error.message, { form: 'error', reason: 'Conflicting policy', cause: error })
  }
}

function toRepresentation(all: ServerPolicies, policy: LiveObject): Representation {
  const { id, key, representation } = policy
  const { description, logic = 'POSITIVE', decisionStrategy = 'UNANIMOUS', scopes } = representation
  const parts = listParts(all, policy)
  const targets = PART_FIELDS.flatMap((field): [string, Json][] => {
    const keys = parts.flatMap((part) => getRelationKeys(part, getTarget(field).field))
    return keys.length ? [[field, keys.map(formatName)]] : []
  })
  return omitUndefined({
    ...{ id, name: key.at(-1)!, description, type: 'uma', logic, decisionStrategy },
    scopes: readTexts(scopes),
    owner: getOwner(findResource(all, policy)!),
    ...Object.fromEntries(targets),
  })
}

/** Formats the key of a target: `name`, or `client/role`. */
const formatName = (key: Key): string => (key.length > 1 ? `${key.at(-2)}/${key.at(-1)}` : key[0]!)

// The writers of the resources, scopes and policies of clients with authorization services. Deleting a resource or scope also
// deletes the permissions that have no other target.
import { policyTargets } from '../../kinds/authorization-policy.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, readTexts } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import { selectReferrers } from '../../store/relations.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { createPlainWriters } from '../objects/plain-writers.ts'
import type { NewObject, Writers } from '../objects/writers.ts'

const policies = createWriters('authorizationPolicy')

/** The writers of policies and permissions. They check that a policy has only targets that its type allows. */
export const authorizationPolicies: Writers = {
  ...policies,
  create: async (context, objects) => checkTargets(await policies.create(context, objects)),
  update: async (context, updates) => checkTargets(await policies.update(context, updates)),
  delete: async (context, objects) => {
    const parts = await listPartsOfOwners(context, objects)
    await policies.delete(context, [...objects, ...parts])
  },
}

/** The names of policies that are parts of a policy of the owner of a resource. Keycloak: ids. */
const PART = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Whether a policy is part of a policy of an owner by its name, and has no other purpose. */
export const isPartOfOwners = (name: string, policies: readonly LiveObject[]): boolean =>
  PART.test(name) &&
  policies.some(({ representation: { type, policies } }) => type === 'uma' && readTexts(policies).includes(name))

/** Lists the policies that are parts of deleted policies of owners. One statement, or none. */
async function listPartsOfOwners(context: Context, deleted: readonly LiveObject[]): Promise<LiveObject[]> {
  const ofOwners = deleted.filter(({ representation: { type } }) => type === 'uma')
  const keys = ofOwners.flatMap(({ key, representation }) =>
    readTexts(representation.policies)
      .filter((name) => PART.test(name))
      .map((name) => [...key.slice(0, -1), name]),
  )
  const parts = keys.length ? await listObjects(context, 'authorizationPolicy', { keys }) : []
  return parts.filter(({ id }) => !deleted.some((object) => object.id === id))
}

/** The writers of resources. */
export const authorizationResources = createTargetWriters('authorizationResource', 'resources')

/** The writers of scopes. */
export const authorizationScopes = createTargetWriters('authorizationScope', 'scopes')

function createWriters(kind: KindName): Writers {
  const writers = createPlainWriters(kind)
  return {
    ...writers,
    async create(context, objects) {
      await requireAuthorizationServices(context, objects)
      return writers.create(context, objects)
    },
    async delete(context, objects) {
      await writers.delete(context, await listExisting(context, objects))
    },
  }
}

/** Creates the writers of a kind that permissions target. Keycloak: a permission is deleted with its last target. */
function createTargetWriters(kind: KindName, field: 'resources' | 'scopes'): Writers {
  const writers = createWriters(kind)
  return {
    ...writers,
    async delete(context, objects) {
      const deleted = new Set(objects.map(({ key, parent }) => JSON.stringify([parent?.id, key.at(-1)])))
      const permissions = await listPoliciesWithTarget(context, field, objects)
      const withoutTargets = permissions.filter(({ parent, representation }) =>
        readTexts(representation[field]).every((name) => deleted.has(JSON.stringify([parent?.id, name]))),
      )
      await authorizationPolicies.delete(context, withoutTargets)
      await writers.delete(context, objects)
    },
  }
}

/** Returns the policies. Throws invalid if one has a target that policies of its type cannot have. */
function checkTargets(policies: LiveObject[]): LiveObject[] {
  for (const { key, representation } of policies) {
    for (const { field, flagged, type } of policyTargets) {
      const isOfOtherType = type !== undefined && type !== representation.type
      const isDeclared = [field, flagged?.field].some((name) => name !== undefined && !isEmpty(representation[name]))
      if (isOfOtherType && isDeclared)
        throw failure('invalid', `Policy ${key.at(-1)} is of type ${representation.type}, which has no ${field}`)
    }
  }
  return policies
}

/** Lists the policies that have one of the objects in a field. Two statements, or none. */
export async function listPoliciesWithTarget(
  context: Context,
  field: string,
  objects: readonly LiveObject[],
): Promise<LiveObject[]> {
  if (!objects.length) return []
  const { tx, realm } = context
  const targets = objects.map(({ id }) => id)
  const referring = [{ kind: 'authorizationPolicy' as const, fields: [field] }]
  const ids = (await selectReferrers(tx, realm.number, { referring, targets })).map(({ id }) => id)
  return ids.length ? listObjects(context, 'authorizationPolicy', { ids }) : []
}

/** Deletes the resources of owners who are deleted. */
export async function deleteResourcesOfOwners(context: WriteContext, owners: readonly LiveObject[]): Promise<void> {
  if (!owners.length) return
  const { tx, realm } = context
  const targets = owners.map(({ id }) => id)
  const referring = [{ kind: 'authorizationResource' as const, fields: ['owner'] }]
  const ids = (await selectReferrers(tx, realm.number, { referring, targets })).map(({ id }) => id)
  if (ids.length) {
    await authorizationResources.delete(context, await listObjects(context, 'authorizationResource', { ids }))
  }
}

/** Throws invalid if a client has no authorization services. One statement. */
async function requireAuthorizationServices(context: Context, objects: readonly NewObject[]): Promise<void> {
  const ids = [...new Set(objects.map(({ parent }) => parent!.id))]
  const clients = await listObjects(context, 'client', { ids })
  const client = clients.find(({ representation }) => representation.authorizationServicesEnabled !== true)
  if (!client) return
  const advice = 'Set "authorizationServicesEnabled: true".'
  throw failure('invalid', `${kinds.client.title} ${client.key[0]} has no authorization services. ${advice}`)
}

/** Returns the objects that still exist: some are deleted with their client's services or with their targets. One statement. */
async function listExisting(context: Context, objects: readonly LiveObject[]): Promise<readonly LiveObject[]> {
  if (!objects.length) return objects
  const ids = objects.map(({ id }) => id)
  const existing = new Set((await listObjects(context, objects[0]!.kind, { ids })).map(({ id }) => id))
  return objects.filter(({ id }) => existing.has(id))
}

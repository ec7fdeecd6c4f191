// Resources, scopes and policies of clients that decide permissions: whose they may be, and which permissions end with them.
import { policyTargets } from '../../kinds/authorization-policy.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import { selectReferrers } from '../../store/relations.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'
import { plain } from '../objects/objects.ts'
import type { NewObject, Writers } from '../objects/writers.ts'

const policies = writersOf('authorizationPolicy')

/** The writers of policies and permissions: each names what its type names. */
export const authorizationPolicies: Writers = {
  ...policies,
  create: async (context, objects) => ofTheirTypes(await policies.create(context, objects)),
  update: async (context, updates) => ofTheirTypes(await policies.update(context, updates)),
}

/** The writers of resources. */
export const authorizationResources = withPermissions('authorizationResource', 'resources')

/** The writers of scopes. */
export const authorizationScopes = withPermissions('authorizationScope', 'scopes')

function writersOf(kind: KindName): Writers {
  const writers = plain(kind)
  return {
    ...writers,
    async create(context, objects) {
      await demandEnabled(context, objects)
      return writers.create(context, objects)
    },
    async delete(context, objects) {
      await writers.delete(context, await stillThere(context, objects))
    },
  }
}

/** The writers of a kind that permissions name in a field. Keycloak: a permission ends with the last that it names. */
function withPermissions(kind: KindName, field: 'resources' | 'scopes'): Writers {
  const writers = writersOf(kind)
  return {
    ...writers,
    async delete(context, objects) {
      const gone = new Set(objects.map(({ key, parent }) => JSON.stringify([parent?.id, key.at(-1)])))
      const permissions = await namingAny(context, field, objects)
      const ending = permissions.filter(({ parent, representation }) =>
        (representation[field] as string[]).every((name) => gone.has(JSON.stringify([parent?.id, name]))),
      )
      await authorizationPolicies.delete(context, ending)
      await writers.delete(context, objects)
    },
  }
}

/** Throws invalid where a policy names what only others name. */
function ofTheirTypes(all: LiveObject[]): LiveObject[] {
  for (const { key, representation } of all) {
    for (const { field, flagged, type } of policyTargets) {
      const foreign = type !== undefined && type !== representation.type
      if (foreign && [field, flagged?.field].some((one) => one !== undefined && !isEmpty(representation[one])))
        throw failure('invalid', `Policy ${key.at(-1)} of type ${representation.type} names no ${field}`)
    }
  }
  return all
}

/** The policies that name one of the objects in a field. Statements: two, or none. */
export async function namingAny(
  context: Context,
  field: string,
  objects: readonly LiveObject[],
): Promise<LiveObject[]> {
  if (!objects.length) return []
  const { tx, realm } = context
  const targets = objects.map(({ id }) => id)
  const ids = await selectReferrers(tx, realm.number, { kind: 'authorizationPolicy', fields: [field], targets })
  return ids.length ? listObjects(context, 'authorizationPolicy', { ids }) : []
}

/** Deletes the resources that people own. Keycloak: they go with their owners. */
export async function deleteResourcesOf(context: WriteContext, owners: readonly LiveObject[]): Promise<void> {
  if (!owners.length) return
  const { tx, realm } = context
  const targets = owners.map(({ id }) => id)
  const ids = await selectReferrers(tx, realm.number, { kind: 'authorizationResource', fields: ['owner'], targets })
  if (ids.length) {
    await authorizationResources.delete(context, await listObjects(context, 'authorizationResource', { ids }))
  }
}

/** Throws invalid where a client does not decide permissions. One statement. */
async function demandEnabled(context: Context, objects: readonly NewObject[]): Promise<void> {
  const ids = [...new Set(objects.map(({ parent }) => parent!.id))]
  const clients = await listObjects(context, 'client', { ids })
  const without = clients.find(({ representation }) => representation.authorizationServicesEnabled !== true)
  if (!without) return
  const advice = 'state "authorizationServicesEnabled: true"'
  throw failure('invalid', `${kinds.client.title} ${without.key[0]} has no authorization services: ${advice}`)
}

/** Without those that have gone already, with their client's services or with what they named. One statement. */
async function stillThere(context: Context, objects: readonly LiveObject[]): Promise<readonly LiveObject[]> {
  if (!objects.length) return objects
  const ids = objects.map(({ id }) => id)
  const left = new Set((await listObjects(context, objects[0]!.kind, { ids })).map(({ id }) => id))
  return objects.filter(({ id }) => left.has(id))
}

// The REST operations on client profiles and client policies. Each is one document of the realm.
import { isDeepStrictEqual } from 'node:util'
import { completePolicy, globalProfiles } from '../../../kinds/client-policies.ts'
import { type Json, type Representation, readObjects } from '../../../kinds/json.ts'
import { checkConditions, checkExecutors } from '../../clients/client-policy-checks.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { toReplacement } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'

/** Returns the client profiles of the realm; `global`: also those that every realm has. */
export async function getClientProfiles(context: Context, global: boolean): Promise<Representation> {
  requirePermissions(context, 'view-realm')
  const { representation } = await getCurrentRealm(context)
  return { profiles: representation.clientProfiles ?? [], ...(global && { globalProfiles: [...globalProfiles] }) }
}

/** Replaces the client profiles of the realm. Throws invalid. */
export async function replaceClientProfiles(context: WriteContext, body: Representation): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const { profiles, globalProfiles: sentGlobalProfiles } = body
  if (sentGlobalProfiles != null && !isDeepStrictEqual(sentGlobalProfiles, globalProfiles))
    throw failure('invalid', 'Global profiles cannot be updated')
  checkExecutors(readObjects(profiles))
  await updateRealm(context, { clientProfiles: profiles ?? [] })
}

/** Returns the client policies of the realm. Keycloak: there are no global policies. */
export async function getClientPolicies(context: Context, global: boolean): Promise<Representation> {
  requirePermissions(context, 'view-realm')
  const { representation } = await getCurrentRealm(context)
  return { policies: representation.clientPolicies ?? [], ...(global && { globalPolicies: [] }) }
}

/** Replaces the client policies of the realm. Throws invalid. */
export async function replaceClientPolicies(context: WriteContext, body: Representation): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const policies = readObjects(body.policies)
  checkConditions(policies)
  await updateRealm(context, { clientPolicies: policies.map(completePolicy) })
}

async function updateRealm(context: WriteContext, fields: Record<string, Json>): Promise<void> {
  const live = await getCurrentRealm(context)
  const names = Object.keys(fields)
  const changes = Object.entries(toReplacement(live, fields)).filter(([path]) => names.includes(path))
  await writers.realm.update(context, [{ live, set: Object.fromEntries(changes) }])
}

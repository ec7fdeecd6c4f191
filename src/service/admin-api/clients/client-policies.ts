// What REST does with client profiles and client policies: each is one document.
import { isDeepStrictEqual } from 'node:util'
import { globalProfiles, wholePolicy } from '../../../kinds/client-policies.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import { demandConditions, demandExecutors } from '../../clients/client-policy-checks.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { replacement } from '../../objects/put.ts'
import { demand } from '../../permissions/administrators.ts'
import { ownRealm } from '../common/own-realm.ts'

/** The profiles of the realm; `global`: also those that every realm has. */
export async function getProfiles(context: Context, global: boolean): Promise<Representation> {
  demand(context, 'view-realm')
  const { representation } = await ownRealm(context)
  return { profiles: representation.clientProfiles ?? [], ...(global && { globalProfiles: [...globalProfiles] }) }
}

/** Makes the profiles of the realm those that the body states. Throws invalid. */
export async function replaceProfiles(context: WriteContext, body: Representation): Promise<void> {
  demand(context, 'manage-realm')
  const { profiles, globalProfiles: stated } = body
  if (stated != null && !isDeepStrictEqual(stated, globalProfiles))
    throw failure('invalid', 'Global profiles cannot be updated')
  demandExecutors((profiles ?? []) as Representation[])
  await set(context, { clientProfiles: profiles ?? [] })
}

/** The policies of the realm; `global`: also those that every realm has. Keycloak: there are none. */
export async function getPolicies(context: Context, global: boolean): Promise<Representation> {
  demand(context, 'view-realm')
  const { representation } = await ownRealm(context)
  return { policies: representation.clientPolicies ?? [], ...(global && { globalPolicies: [] }) }
}

/** Makes the policies of the realm those that the body states. Throws invalid. */
export async function replacePolicies(context: WriteContext, { policies }: Representation): Promise<void> {
  demand(context, 'manage-realm')
  const stated = (policies ?? []) as Representation[]
  demandConditions(stated)
  await set(context, { clientPolicies: stated.map(wholePolicy) })
}

async function set(context: WriteContext, stated: Record<string, Json>): Promise<void> {
  const live = await ownRealm(context)
  const own = Object.keys(stated)
  const changes = Object.entries(replacement(live, stated)).filter(([path]) => own.includes(path))
  await writers.realm.update(context, [{ live, set: Object.fromEntries(changes) }])
}

// Checks of client profiles and policies. Keycloak: the messages are its own.
import { conditions, executors, globalProfiles, policyModes } from '../../kinds/client-policies.ts'
import { type Json, type Representation, readObjects, readTexts } from '../../kinds/json.ts'
import { failure } from '../context/errors.ts'

const listNames = (list: readonly Representation[]) => list.map(({ name }) => name)
const isGlobal = (name: Json | undefined) => globalProfiles.some((profile) => profile.name === name)

/** Throws invalid where the name of a profile is missing or used twice. */
export function checkClientProfiles({ clientProfiles }: Representation): void {
  const names = listNames(readObjects(clientProfiles))
  if (!names.every(Boolean))
    throw failure('invalid', 'client profile without its name not allowed.', { field: 'clientProfiles' })
  if (new Set(names).size < names.length)
    throw failure('invalid', 'proposed client profile name duplicated.', { field: 'clientProfiles' })
  const global = names.find(isGlobal)
  if (global !== undefined)
    throw failure('invalid', `Proposed profile name '${global}' is duplicated as a global profile`, {
      field: 'clientProfiles',
    })
}

/** Throws invalid where the name of a policy is missing or used twice, or a policy refers to a profile that does not exist. */
export function checkClientPolicies({ clientPolicies, clientProfiles }: Representation): void {
  const policies = readObjects(clientPolicies)
  const names = listNames(policies)
  if (!names.every(Boolean))
    throw failure('invalid', 'client policy without name not allowed', { field: 'clientPolicies' })
  if (new Set(names).size < names.length)
    throw failure('invalid', 'proposed client policy name duplicated', { field: 'clientPolicies' })
  const profileNames = listNames(readObjects(clientProfiles))
  for (const { name, profiles, mode = null } of policies) {
    if (mode !== null && !policyModes.includes(String(mode)))
      throw failure('invalid', `Policy ${name} has invalid mode`, { field: 'clientPolicies' })
    const unknown = readTexts(profiles).find((profile) => !profileNames.includes(profile) && !isGlobal(profile))
    if (unknown !== undefined)
      throw failure('invalid', `Policy ${name} contains invalid profile ${unknown}`, { field: 'clientPolicies' })
  }
}

/** Throws invalid where a profile contains an unknown executor. Documents may contain one: the plan warns of it. */
export function checkExecutors(profiles: readonly Representation[]): void {
  const entries = profiles.flatMap((profile) => readObjects(profile.executors))
  if (entries.every(({ executor }) => executors.has(String(executor)))) return
  throw failure(
    'invalid',
    'proposed client profile contains the executor, which does not have valid provider, or has invalid configuration.',
  )
}

/** Throws invalid where a policy contains an unknown condition. Documents may contain one: the plan warns of it. */
export function checkConditions(policies: readonly Representation[]): void {
  for (const { name, conditions: entries } of policies) {
    const unknown = readObjects(entries).find(({ condition }) => !conditions.has(String(condition)))
    if (unknown) throw failure('invalid', `Policy ${name} contains invalid condition ${unknown.condition ?? null}`)
  }
}

// What client profiles and policies must fulfil, and what the reference server says of those that do not.
import { conditions, executors, globalProfiles } from '../../kinds/client-policies.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { failure } from '../context/errors.ts'

const listOf = (value: Json | undefined) => (value ?? []) as Representation[]
const namesOf = (list: readonly Representation[]) => list.map(({ name }) => name)
const isGlobal = (name: Json | undefined) => globalProfiles.some((one) => one.name === name)

/** Throws invalid when the profiles cannot be told apart. */
export function checkProfiles({ clientProfiles }: Representation): void {
  const names = namesOf(listOf(clientProfiles))
  if (!names.every(Boolean)) throw failure('invalid', 'client profile without its name not allowed.')
  if (new Set(names).size < names.length) throw failure('invalid', 'proposed client profile name duplicated.')
  const global = names.find(isGlobal)
  if (global !== undefined)
    throw failure('invalid', `Proposed profile name '${global}' is duplicated as a global profile`)
}

/** Throws invalid when the policies cannot be told apart, or name profiles that do not exist. */
export function checkPolicies({ clientPolicies, clientProfiles }: Representation): void {
  const policies = listOf(clientPolicies)
  const names = namesOf(policies)
  if (!names.every(Boolean)) throw failure('invalid', 'client policy without name not allowed')
  if (new Set(names).size < names.length) throw failure('invalid', 'proposed client policy name duplicated')
  const own = namesOf(listOf(clientProfiles))
  for (const { name, profiles } of policies) {
    const unknown = ((profiles ?? []) as string[]).find((profile) => !own.includes(profile) && !isGlobal(profile))
    if (unknown !== undefined) throw failure('invalid', `Policy ${name} contains invalid profile ${unknown}`)
  }
}

/** Throws invalid when a profile demands what the server does not know. Documents may: the plan says so. */
export function demandExecutors(profiles: readonly Representation[]): void {
  const all = profiles.flatMap(({ executors: own }) => listOf(own))
  if (all.every(({ executor }) => executors.has(String(executor)))) return
  throw failure(
    'invalid',
    'proposed client profile contains the executor, which does not have valid provider, or has invalid configuration.',
  )
}

/** Throws invalid when a policy tells clients by what the server does not know. Documents may: the plan says so. */
export function demandConditions(policies: readonly Representation[]): void {
  for (const { name, conditions: own } of policies) {
    const unknown = listOf(own).find(({ condition }) => !conditions.has(String(condition)))
    if (unknown) throw failure('invalid', `Policy ${name} contains invalid condition ${unknown.condition ?? null}`)
  }
}

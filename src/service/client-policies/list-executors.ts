// The executors that apply at an event: those of the profiles of each enabled policy whose conditions are met, in order.
import { globalProfiles } from '../../kinds/client-policies.ts'
import { type Representation, readObject, readObjects, readTexts } from '../../kinds/json.ts'
import { meetsConditions } from './policy-conditions.ts'
import type { PolicyEvent } from './policy-event.ts'

/** An executor that applies, and where it comes from. */
export interface AppliedExecutor {
  /** The id of its provider. */
  readonly executor: string
  readonly configuration: Representation
  readonly policy: string
  readonly profile: string
}

/** Lists the executors that apply at an event. `undecided`: whether conditions that cannot be evaluated count as met. */
export function listExecutors(
  { clientPolicies, clientProfiles }: Representation,
  event: PolicyEvent,
  { undecided = 'met' }: { readonly undecided?: 'met' | 'not met' } = {},
): AppliedExecutor[] {
  const profiles = new Map(
    [...globalProfiles, ...readObjects(clientProfiles)].map((profile) => [String(profile.name), profile]),
  )
  return readObjects(clientPolicies)
    .filter((policy) => policy.enabled === true && meetsConditions(policy, event, { undecided }))
    .flatMap(({ name: policy, profiles: names }) =>
      readTexts(names).flatMap((profile) =>
        readObjects(profiles.get(profile)?.executors).map(({ executor, configuration }) => ({
          executor: String(executor),
          configuration: readObject(configuration),
          policy: String(policy),
          profile,
        })),
      ),
    )
}

/** Whether an enabled policy of a realm has a condition of one of the types. */
export function hasConditions({ clientPolicies }: Representation, types: ReadonlySet<string>): boolean {
  return readObjects(clientPolicies).some(
    ({ enabled, conditions }) =>
      enabled === true && readObjects(conditions).some(({ condition }) => types.has(String(condition))),
  )
}

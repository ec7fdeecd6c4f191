// The client profiles that apply to a client: those of the enabled policies whose conditions it meets.
import { globalProfiles } from '../../kinds/client-policies.ts'
import { type Representation, readObject, readObjects, readTexts } from '../../kinds/json.ts'

/** Whether conditions that are not evaluated, such as those about requests, count as met. */
interface ConditionOptions {
  readonly unknownConditions: 'met' | 'not met'
}

/** Returns the profiles of a realm that apply to a client. */
export function listMatchingProfiles(
  { clientPolicies, clientProfiles }: Representation,
  client: Representation,
  options: ConditionOptions,
): Representation[] {
  const names = new Set(
    readObjects(clientPolicies)
      .filter(({ enabled, conditions }) => enabled === true && meetsAll(readObjects(conditions), client, options))
      .flatMap(({ profiles }) => readTexts(profiles)),
  )
  return [...readObjects(clientProfiles), ...globalProfiles].filter(({ name }) => names.has(String(name)))
}

function meetsAll(conditions: readonly Representation[], client: Representation, options: ConditionOptions): boolean {
  return conditions.length > 0 && conditions.every((condition) => isMet(condition, client, options))
}

function isMet(
  { condition, configuration }: Representation,
  client: Representation,
  { unknownConditions }: ConditionOptions,
): boolean {
  const { type, 'is-negative-logic': isNegative = false } = readObject(configuration)
  if (condition !== 'any-client' && condition !== 'client-access-type') return unknownConditions === 'met'
  const isMatch = condition === 'any-client' || readTexts(type).includes(getAccessType(client))
  return isMatch !== (String(isNegative) === 'true')
}

function getAccessType({ publicClient, bearerOnly }: Representation): string {
  if (publicClient === true) return 'public'
  return bearerOnly === true ? 'bearer-only' : 'confidential'
}

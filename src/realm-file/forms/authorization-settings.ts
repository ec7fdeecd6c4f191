// The resources, scopes and policies of a client as Keycloak exports them.
import { type PolicyTarget, policyTargets, targetsOf } from '../../kinds/authorization-policy.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { relationKeys } from '../../kinds/relations.ts'

const { fields } = kinds.authorizationPolicy

/** The lists inside the settings, and the fields of the client that their elements are kept in. */
export const settingsLists = [
  ['scopes', 'authorizationScopes'],
  ['resources', 'authorizationResources'],
  ['policies', 'authorizationPolicies'],
] as const

/** The settings of a client, its resources, scopes and policies, as Keycloak exports them; undefined where it has none. */
export function settingsOf(client: Representation): Representation | undefined {
  const lists = settingsLists.flatMap(([list, field]): [string, Json][] => {
    const elements = client[field] as Representation[] | undefined
    return elements ? [[list, elements.map(writers[list])]] : []
  })
  const settings = client.authorizationSettings as Representation | null | undefined
  return settings || lists.length ? { ...settings, ...Object.fromEntries(lists) } : undefined
}

const writers = { scopes: (scope: Representation) => scope, resources: writeResource, policies: writePolicy }

function writeResource({ owner, scopes, ...rest }: Representation): Representation {
  const names = (scopes ?? []) as string[]
  return {
    ...rest,
    ...(typeof owner === 'string' && { owner: { name: owner } }),
    ...(names.length && { scopes: names.map((name) => ({ name })) }),
  }
}

function writePolicy(policy: Representation): Representation {
  const named = policyTargets.flatMap(({ field, flagged }) => (flagged ? [field, flagged.field] : [field]))
  const own = Object.entries(policy).filter(([field]) => !named.includes(field))
  const settings = targetsOf(policy.type).flatMap((target): [string, Json][] => {
    const elements = elementsOf(target, policy)
    // What a policy of a type is about stands there even if it is nothing.
    return elements.length || target.type !== undefined ? [[target.setting, JSON.stringify(elements)]] : []
  })
  const config = { ...(policy.config as Representation | undefined), ...Object.fromEntries(settings) }
  return { ...Object.fromEntries(own), config }
}

function elementsOf({ field, flagged }: PolicyTarget, policy: Representation): Json[] {
  const namesOf = (one: string) => relationKeys(fields[one]!, policy[one] ?? (fields[one]!.type === 'set' ? [] : {}))
  const name = (key: Key) => (key.length > 1 ? `${key.at(-2)}/${key.at(-1)}` : key[0]!)
  if (!flagged) return namesOf(field).map(name)
  const { flag, names } = flagged
  return [
    ...namesOf(field).map((key) => ({ [names[0]!]: name(key), [flag]: false })),
    ...namesOf(flagged.field).map((key) => ({ [names[0]!]: name(key), [flag]: true })),
  ]
}

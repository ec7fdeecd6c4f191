// Writes the authorization settings of a client as Keycloak exports them.
import { listPolicyTargets, type PolicyTarget, policyTargets } from '../../kinds/authorization-policy.ts'
import { kinds } from '../../kinds/index.ts'
import { isObject, type Json, type Representation, readObject, readObjects, readTexts } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { toRelationKeys } from '../../kinds/relations.ts'

const { fields } = kinds.authorizationPolicy

/** The lists in the settings, with the fields of the client that contain their elements. */
export const settingsLists = [
  ['scopes', 'authorizationScopes'],
  ['resources', 'authorizationResources'],
  ['policies', 'authorizationPolicies'],
] as const

/** Returns the settings of a client with its resources, scopes and policies; undefined if it has none. */
export function writeAuthorizationSettings(client: Representation): Representation | undefined {
  const lists = settingsLists.flatMap(([list, field]): [string, Json][] => {
    const elements = client[field]
    return elements ? [[list, readObjects(elements).map(writers[list])]] : []
  })
  const settings = client.authorizationSettings
  return isObject(settings) || lists.length ? { ...readObject(settings), ...Object.fromEntries(lists) } : undefined
}

const writers = { scopes: (scope: Representation) => scope, resources: writeResource, policies: writePolicy }

function writeResource({ owner, scopes, ...rest }: Representation): Representation {
  const names = readTexts(scopes)
  return {
    ...rest,
    ...(typeof owner === 'string' && { owner: { name: owner } }),
    ...(names.length && { scopes: names.map((name) => ({ name })) }),
  }
}

function writePolicy(policy: Representation): Representation {
  const targetFields = policyTargets.flatMap(({ field, flagged }) => (flagged ? [field, flagged.field] : [field]))
  const otherFields = Object.entries(policy).filter(([field]) => !targetFields.includes(field))
  const targets = listPolicyTargets(policy.type).flatMap((target): [string, Json][] => {
    const elements = listElements(target, policy)
    // The target that the type of a policy is about is written even if it is empty.
    return elements.length || target.type !== undefined ? [[target.configKey, JSON.stringify(elements)]] : []
  })
  const config = { ...readObject(policy.config), ...Object.fromEntries(targets) }
  return { ...Object.fromEntries(otherFields), config }
}

function listElements({ field, flagged }: PolicyTarget, policy: Representation): Json[] {
  const readNames = (name: string) => {
    const empty = fields[name]!.type === 'set' ? [] : {}
    return toRelationKeys(fields[name]!, policy[name] ?? empty).map(formatName)
  }
  if (!flagged) return readNames(field)
  const { flag, names } = flagged
  return [
    ...readNames(field).map((name) => ({ [names[0]!]: name, [flag]: false })),
    ...readNames(flagged.field).map((name) => ({ [names[0]!]: name, [flag]: true })),
  ]
}

/** Formats the key of a target: `name`, or `client/role`. */
const formatName = (key: Key): string => (key.length > 1 ? `${key.at(-2)}/${key.at(-1)}` : key[0]!)

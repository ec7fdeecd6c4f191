// The conditions of client policies. Keycloak: the providers of ClientPolicyConditionProvider, which abstain from events that they are not about.
import { isIP } from 'node:net'
import { STRICT } from '../../kinds/client-policies.ts'
import {
  isList,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readText,
  readTexts,
} from '../../kinds/json.ts'
import type { PolicyEvent, PolicyEventName } from './policy-event.ts'

/** The vote of a condition. `undecided`: it cannot be evaluated. */
type Vote = 'yes' | 'no' | 'abstain' | 'undecided'

/** Evaluates a condition with its configuration. */
type ClientCondition = (configuration: Representation, event: PolicyEvent) => Vote

const toVote = (isMet: boolean): Vote => (isMet ? 'yes' : 'no')

/** The conditions, by the id of their provider. Others are undecided. */
const conditions: Readonly<Record<string, ClientCondition>> = {
  'any-client': () => 'yes',
  'client-access-type': ({ type }, { name, client }) =>
    name === 'pre-authorization' ? 'abstain' : toVote(readTexts(type).includes(getAccessType(client))),
  'client-attributes': ({ attributes }, { client }) => toVote(hasAttributes(client, parseMap(attributes))),
  'client-roles': ({ roles }, { clientRoles }) =>
    clientRoles ? toVote(readTexts(roles).some((role) => clientRoles.includes(role))) : 'undecided',
  'client-scopes': evaluateScopes,
  'client-type': ({ protocol }, { name, client }) =>
    name === 'pre-authorization' ? 'abstain' : toVote(client.protocol === (protocol ?? 'saml')),
  'client-updater-context': (configuration, { updater }) =>
    updater ? toVote(readTexts(configuration['update-client-source']).includes(updater.source)) : 'abstain',
  'client-updater-source-groups': ({ groups }, { updater }) =>
    updater ? toVote(readTexts(groups).some((group) => updater.groups.includes(group))) : 'abstain',
  'client-updater-source-roles': ({ roles }, { updater }) =>
    updater ? toVote(readTexts(roles).some((role) => updater.roles.includes(role))) : 'abstain',
  'client-updater-source-host': evaluateHost,
  'grant-type': (configuration, { request }) =>
    request?.grantType === undefined
      ? 'abstain'
      : toVote(readTexts(configuration.grant_types).includes(request.grantType)),
  'acr-condition': (configuration, { name, request }) =>
    name === 'authorization' || name === 'pushed authorization'
      ? toVote(request?.acrValues?.includes(String(configuration['acr-property'])) === true)
      : 'abstain',
  // It is about the JWT authorization grant, which Regent does not have.
  'identity-provider-alias': () => 'abstain',
}

/** The ids of the conditions about the author of a change. */
export const updaterConditions: ReadonlySet<string> = new Set([
  'client-updater-source-groups',
  'client-updater-source-roles',
])

/** The ids of the conditions about the roles of the client. */
export const roleConditions: ReadonlySet<string> = new Set(['client-roles'])

/**
 * Whether all conditions of a policy are met. Those that abstain are ignored, unless they are all, or the mode of the policy is STRICT. Keycloak:
 * DefaultClientPolicyManager.
 */
export function meetsConditions(
  { conditions: conditionList, mode }: Representation,
  event: PolicyEvent,
  { undecided }: { readonly undecided: 'met' | 'not met' },
): boolean {
  const votes = readObjects(conditionList).map(({ condition, configuration }) => {
    const settings = readObject(configuration)
    const vote = getCondition(String(condition))(settings, event)
    if (vote === 'undecided') return undecided === 'met' ? 'yes' : 'no'
    return isSet(settings['is-negative-logic']) ? invert(vote) : vote
  })
  return votes.includes('yes') && !votes.includes('no') && (mode !== STRICT || !votes.includes('abstain'))
}

/** Whether a flag of a configuration is set, as a boolean or as a text. */
export const isSet = (value: Json | undefined): boolean => String(value) === 'true'

function getCondition(id: string): ClientCondition {
  return Object.hasOwn(conditions, id) ? conditions[id]! : () => 'undecided'
}

function invert(vote: Exclude<Vote, 'undecided'>): Vote {
  if (vote === 'abstain') return vote
  return vote === 'yes' ? 'no' : 'yes'
}

/** Keycloak: the access type of a client, as client policies name it. */
function getAccessType({ publicClient, bearerOnly }: Representation): string {
  if (publicClient === true) return 'public'
  return bearerOnly === true ? 'bearer-only' : 'confidential'
}

/** Returns the entries of a configured map: Keycloak stores it as a JSON text with a list of keys and values. */
function parseMap(value: Json | undefined): readonly (readonly [string, string])[] {
  const text = readText(value)
  if (text === undefined) return toEntries(value)
  try {
    return toEntries(JSON.parse(text))
  } catch {
    return []
  }
}

function toEntries(value: Json | undefined): readonly (readonly [string, string])[] {
  if (isList(value)) return readObjects(value).map((entry) => [String(entry.key), String(entry.value)])
  return Object.entries(readObject(value)).map(([key, member]) => [key, String(member)])
}

function hasAttributes({ attributes }: Representation, entries: readonly (readonly [string, string])[]): boolean {
  const live = readObject(attributes)
  return entries.length > 0 && entries.every(([key, value]) => live[key] === value)
}

/** The events about scopes. */
const scopeEvents: ReadonlySet<PolicyEventName> = new Set([
  'authorization',
  'pushed authorization',
  'token',
  'user info',
])

/** Keycloak: `Optional` counts only the scopes that the request names, `Default` those that the client always has. */
function evaluateScopes({ scopes, type = 'Optional' }: Representation, { name, client, request }: PolicyEvent): Vote {
  if (!scopeEvents.has(name)) return 'abstain'
  const expected = readTexts(scopes)
  const optional = readTexts(client.optionalClientScopes).filter((scope) => request?.scopes?.includes(scope))
  const defaults = readTexts(client.defaultClientScopes)
  const effective = type === 'Default' ? defaults : type === 'Optional' ? optional : [...defaults, ...optional]
  return toVote(expected.some((scope) => effective.includes(scope)))
}

/** Names of hosts would have to be resolved, so that only addresses are decided. */
function evaluateHost(configuration: Representation, { updater }: PolicyEvent): Vote {
  if (!updater) return 'abstain'
  const hosts = readTexts(configuration['trusted-hosts'])
  if (updater.address !== undefined && hosts.includes(updater.address)) return 'yes'
  return hosts.every((host) => isIP(host) !== 0) ? 'no' : 'undecided'
}

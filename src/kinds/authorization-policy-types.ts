// Keycloak: the types of policies that it has, recorded from it, and what each has besides what it names.

/** The types as they are listed. */
export const policyProviders = [
  { type: 'regex', name: 'Regex', group: 'Identity Based' },
  { type: 'role', name: 'Role', group: 'Identity Based' },
  { type: 'resource', name: 'Resource-Based', group: 'Permission' },
  { type: 'scope', name: 'Scope-Based', group: 'Permission' },
  { type: 'client', name: 'Client', group: 'Identity Based' },
  { type: 'time', name: 'Time', group: 'Time Based' },
  { type: 'user', name: 'User', group: 'Identity Based' },
  { type: 'client-scope', name: 'Client Scope', group: 'Identity Based' },
  { type: 'group', name: 'Group', group: 'Identity Based' },
  { type: 'aggregate', name: 'Aggregated', group: 'Others' },
] as const

/** The types that are permissions. */
export const PERMISSION_TYPES: readonly unknown[] = ['resource', 'scope']

/** Whether there is such a type. Keycloak: `uma` is what people make who manage their resources; it is not listed. */
export function isPolicyType(type: unknown): boolean {
  return type === 'uma' || policyProviders.some((provider) => provider.type === type)
}

/** One field of the representation of a type, and the setting that holds it as a text. */
export interface PolicySetting {
  readonly field: string
  readonly setting: string
  readonly flag?: true
  /** What the field shows where nothing is set. */
  readonly default?: boolean
  /** An update that does not state it leaves it. */
  readonly keptOnUpdate?: true
}

const same = (...names: string[]): PolicySetting[] => names.map((name) => ({ field: name, setting: name }))
const resourceType = { field: 'resourceType', setting: 'defaultResourceType' }

const settings: Readonly<Record<string, readonly PolicySetting[]>> = {
  role: [{ field: 'fetchRoles', setting: 'fetchRoles', flag: true, keptOnUpdate: true }],
  group: same('groupsClaim'),
  regex: [
    ...same('targetClaim', 'pattern'),
    { field: 'targetContextAttributes', setting: 'targetContextAttributes', flag: true, default: false },
  ],
  time: [
    { field: 'notBefore', setting: 'nbf' },
    { field: 'notOnOrAfter', setting: 'noa' },
    ...['dayMonth', 'month', 'year', 'hour', 'minute'].flatMap((unit) => same(unit, `${unit}End`)),
  ],
  resource: [resourceType],
  scope: [resourceType],
}

/** The fields of a type that are settings. */
export function listPolicySettings(type: unknown): readonly PolicySetting[] {
  return Object.hasOwn(settings, String(type)) ? settings[String(type)]! : []
}

/** Every field that some type has. */
export const policySettings: readonly PolicySetting[] = Object.values(settings).flat()

// Keycloak: the types of policies with their settings, recorded from it.

/** The types of policies, in the order of REST. */
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

/** The types of permissions. */
export const PERMISSION_TYPES: readonly unknown[] = ['resource', 'scope']

/** Whether a type of policies exists. Keycloak: `uma`, for resources that users manage themselves, is not listed. */
export function isPolicyType(type: unknown): boolean {
  return type === 'uma' || policyProviders.some((provider) => provider.type === type)
}

/** A field of the representation of a type, with the setting that stores it as a text. */
export interface PolicySetting {
  readonly field: string
  readonly configKey: string
  readonly isFlag?: true
  /** The value if there is no setting. */
  readonly default?: boolean
  /** An update without the field keeps the value. */
  readonly keptOnUpdate?: true
}

const toSettings = (...names: string[]): PolicySetting[] => names.map((name) => ({ field: name, configKey: name }))
const resourceType = { field: 'resourceType', configKey: 'defaultResourceType' }

const settings: Readonly<Record<string, readonly PolicySetting[]>> = {
  role: [{ field: 'fetchRoles', configKey: 'fetchRoles', isFlag: true, keptOnUpdate: true }],
  group: toSettings('groupsClaim'),
  regex: [
    ...toSettings('targetClaim', 'pattern'),
    { field: 'targetContextAttributes', configKey: 'targetContextAttributes', isFlag: true, default: false },
  ],
  time: [
    { field: 'notBefore', configKey: 'nbf' },
    { field: 'notOnOrAfter', configKey: 'noa' },
    ...['dayMonth', 'month', 'year', 'hour', 'minute'].flatMap((unit) => toSettings(unit, `${unit}End`)),
  ],
  resource: [resourceType],
  scope: [resourceType],
}

/** Returns the fields of a type that are stored as settings. */
export function listPolicySettings(type: unknown): readonly PolicySetting[] {
  return Object.hasOwn(settings, String(type)) ? settings[String(type)]! : []
}

/** The settings of all types of authorization policies. */
export const policySettings: readonly PolicySetting[] = Object.values(settings).flat()

// Checks of the config of components. Keycloak: the messages are its own.
import { parseComponentPath } from '../../kinds/component.ts'
import { PROFILE_SETTING } from '../../kinds/component-config.ts'
import { type ComponentType, findComponentType, type PropertyCheck } from '../../kinds/component-types.ts'
import { type Representation, readTextListMap } from '../../kinds/json.ts'
import type { ObjectProblem } from '../context/errors.ts'
import { findProfileTextProblem } from '../users/user-profile-checks.ts'
import { editModes } from '../users/user-store.ts'
import { parseCertificate, parsePrivateKey } from './realm-keys.ts'

/** Returns the first problem of a complete component; undefined if it has none or its provider is unknown. */
export function findComponentProblem({ path, providerId, config }: Representation): ObjectProblem | undefined {
  const type = findComponentType(parseComponentPath(String(path)).providerType, String(providerId))
  return type && findConfigProblem(type, String(providerId), readTextListMap(config))
}

/** Returns the first value of a setting, trimmed; undefined if it is missing or empty. */
type ReadSetting = (setting: string) => string | undefined
/** A check of a config, and the setting to correct. */
interface ComponentCheck {
  readonly setting: string
  /** Returns the message of the problem; undefined if there is none. */
  readonly findProblem: (read: ReadSetting) => string | undefined
}

function findConfigProblem(
  { checks = [] }: ComponentType,
  providerId: string,
  config: Readonly<Record<string, readonly string[]>>,
): ObjectProblem | undefined {
  for (const check of checks) {
    const problem = findPropertyProblem(check, config[check.property] ?? [])
    if (problem !== undefined) return { message: `'${check.label}' ${problem}`, field: `config.${check.property}` }
  }
  const read: ReadSetting = (setting) => config[setting]?.[0]?.trim() || undefined
  for (const { setting, findProblem } of providerChecks[providerId] ?? []) {
    const message = findProblem(read)
    if (message !== undefined) return { message, field: `config.${setting}` }
  }
  return undefined
}

function findPropertyProblem(
  { required, valueType: a, allowedValues: among }: PropertyCheck,
  values: readonly string[],
): string | undefined {
  const [value] = values
  if (values.length > 1) return 'should be a single entry'
  if (!value) return required ? 'is required' : undefined
  if (a === 'number' && !/^[+-]?\d+$/.test(value)) return 'should be a number'
  if (a === 'flag' && !/^(true|false)$/i.test(value)) return "should be 'true' or 'false'"
  return among && !among.includes(value) ? `should be ${among.slice(0, -1).join(', ')} or ${among.at(-1)}` : undefined
}

const check = (setting: string, findProblem: ComponentCheck['findProblem']): ComponentCheck => ({
  setting,
  findProblem,
})
const needs = (setting: string, label: string, message = `Missing configuration for ${label}`): ComponentCheck =>
  check(setting, (read) => (read(setting) === undefined ? message : undefined))
const number = (setting: string, label: string): ComponentCheck =>
  check(setting, (read) => (/^[+-]?\d+$/.test(read(setting) ?? '0') ? undefined : `${label} must be a number`))
const filter = (setting: string): ComponentCheck =>
  check(setting, (read) =>
    /^\(.*\)$/s.test(read(setting) ?? '()')
      ? undefined
      : 'Custom configured LDAP filter does not start with "(" or does not end with ")".',
  )
const isOn = (read: ReadSetting, setting: string) => read(setting)?.toLowerCase() === 'true'

const privateKey = check('privateKey', (read) => {
  const keyText = read('privateKey')
  const key = keyText === undefined ? undefined : parsePrivateKey(keyText)
  if (keyText !== undefined && key?.asymmetricKeyType !== 'rsa') return 'Failed to decode private key'
  const certificateText = read('certificate')
  const certificate = certificateText === undefined ? undefined : parseCertificate(certificateText)
  if (certificateText !== undefined && !certificate) return 'Failed to decode certificate'
  return key && certificate && !certificate.checkPrivateKey(key) ? 'Certificate does not match private key' : undefined
})

const profile = check(PROFILE_SETTING, (read) => {
  const text = read(PROFILE_SETTING)
  return text === undefined ? undefined : findProfileTextProblem(text)
})

const attribute: readonly ComponentCheck[] = [
  needs('user.model.attribute', 'User Model Attribute'),
  needs('ldap.attribute', 'LDAP Attribute'),
  check('always.read.value.from.ldap', (read) =>
    isOn(read, 'is.binary.attribute') && !isOn(read, 'always.read.value.from.ldap')
      ? "With Binary attribute enabled, the 'Always read value from LDAP' must be enabled too"
      : undefined,
  ),
]

/** The checks that only one provider has, in the order in which Keycloak runs them. */
const providerChecks: Readonly<Record<string, readonly ComponentCheck[]>> = {
  rsa: [privateKey],
  'declarative-user-profile': [profile],
  'rsa-enc': [privateKey],
  'rsa-generated': [privateKey],
  'rsa-enc-generated': [privateKey],
  'trusted-hosts': [
    check('host-sending-registration-request-must-match', (read) =>
      isOn(read, 'host-sending-registration-request-must-match') || isOn(read, 'client-uris-must-match')
        ? undefined
        : 'At least one of hosts verification or client URIs validation must be enabled',
    ),
  ],
  ldap: [
    filter('customUserSearchFilter'),
    number('connectionTimeout', 'Connection Timeout'),
    number('readTimeout', 'Read Timeout'),
    check('connectionPooling', (read) =>
      isOn(read, 'startTls') && isOn(read, 'connectionPooling')
        ? 'Can not enable both StartTLS and connection pooling.'
        : undefined,
    ),
    needs('editMode', 'Edit Mode', 'Edit Mode is mandatory'),
    check('editMode', (read) =>
      editModes.some((mode) => mode === read('editMode')) ? undefined : `Edit Mode must be ${editModes.join(', ')}`,
    ),
    number('fullSyncPeriod', 'Full Sync Period'),
    number('changedSyncPeriod', 'Changed Users Sync Period'),
    check('validatePasswordPolicy', (read) =>
      isOn(read, 'validatePasswordPolicy') && read('editMode') !== 'WRITABLE'
        ? 'Validate Password Policy is applicable only with WRITABLE edit mode'
        : undefined,
    ),
    check('importEnabled', (read) =>
      read('importEnabled') === 'false' && read('editMode') === 'UNSYNCED'
        ? 'Can not disable Importing users when LDAP provider mode is UNSYNCED'
        : undefined,
    ),
  ],
  'user-attribute-ldap-mapper': attribute,
  'certificate-ldap-mapper': attribute,
  'full-name-ldap-mapper': [needs('ldap.full.name.attribute', 'LDAP Full Name Attribute')],
  'group-ldap-mapper': [
    needs('groups.dn', 'LDAP Groups DN'),
    needs('mode', 'Mode'),
    check('membership.attribute.type', (read) =>
      isOn(read, 'preserve.group.inheritance') && read('membership.attribute.type') === 'UID'
        ? 'Not possible to preserve group inheritance and use UID membership type together.'
        : undefined,
    ),
    filter('groups.ldap.filter'),
  ],
  'role-ldap-mapper': [
    needs('roles.dn', 'LDAP Roles DN'),
    needs('mode', 'Mode'),
    check('client.id', (read) =>
      read('use.realm.roles.mapping') === 'false' && read('client.id') === undefined
        ? 'Client ID needs to be provided in config when Realm Roles Mapping is not used.'
        : undefined,
    ),
    filter('roles.ldap.filter'),
  ],
  'hardcoded-ldap-role-mapper': [needs('role', 'Role', 'Role cant be null')],
  'hardcoded-ldap-group-mapper': [needs('group', 'Group', 'Group cant be null')],
}

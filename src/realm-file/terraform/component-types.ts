// Resources of components: keys, user federation with its mappers, and policies of client registration.
import {
  CLIENT_REGISTRATION_POLICY,
  findComponentType,
  LDAP_MAPPER,
  USER_STORAGE,
} from '../../kinds/component-types.ts'
import type { Json } from '../../kinds/json.ts'
import { readObject } from '../../kinds/json.ts'
import { KEY_PROVIDER } from '../../kinds/key-providers.ts'
import {
  applied,
  block,
  converted,
  entries,
  ignored,
  type Rule,
  type Rules,
  readSeconds,
  reported,
  secret,
  toCamelCase,
  toDotted,
  toList,
} from './attribute-rules.ts'
import { getReferred, type ResourceType, type ResourceTypes } from './resource-type.ts'

/** Returns a function that gets a component of a type by the name of the resource. */
function component(type: string, providerId?: string): ResourceType['getNode'] {
  return ({ name = null }, { node }) =>
    node.getChild(['components', type], String(name), { name, ...(providerId && { providerId }) })
}

const toTexts = (value: Json): Json => [String(value)]

/** A rule for a setting, which is a list of texts. */
const setting = (name: string, convert: (value: Json) => Json = (value) => value) =>
  converted(['config', name], (value) => toTexts(convert(value)))

/** Rules for settings with the name of the attribute in camel case, or with dots. */
const settingsOf = (attributes: readonly string[], toSetting: (name: string) => string = toCamelCase): Rules =>
  Object.fromEntries(attributes.map((attribute) => [attribute, setting(toSetting(attribute))]))

const dotted = (...attributes: string[]): Rules => settingsOf(attributes, toDotted)

const joinedSetting = (name: string, separator: string): Rule => setting(name, (value) => toList(value).join(separator))

const milliseconds = (name: string): Rule => setting(name, (value) => readSeconds(value) * 1000)

/** A rule for a number that is -1 if it is not set. */
const notNegative = (name: string): Rule =>
  converted(['config', name], (value) => (Number(value) < 0 ? undefined : toTexts(value)))

const key = (providerId: string, rules: Rules = {}): ResourceType => ({
  getNode: component(KEY_PROVIDER, providerId),
  rules: {
    name: ignored,
    parent_id: ignored,
    ...settingsOf(['active', 'enabled', 'priority', 'algorithm', 'key_size', 'secret_size']),
    ...rules,
  },
})

const ldap: Rules = {
  name: ignored,
  ...settingsOf(['batch_size_for_sync', 'bind_dn', 'changed_sync_period', 'connection_pooling', 'connection_url']),
  ...settingsOf(['custom_user_search_filter', 'debug', 'edit_mode', 'enabled', 'full_sync_period', 'import_enabled']),
  ...settingsOf(['krb_principal_attribute', 'pagination', 'priority', 'relative_create_dn', 'start_tls']),
  ...settingsOf(['sync_registrations', 'trust_email', 'use_password_modify_extended_op', 'users_dn']),
  ...settingsOf(['validate_password_policy']),
  bind_credential: secret(setting('bindCredential')),
  bind_credential_wo_version: reported('belongs to a secret that no state contains: add the secret to the file'),
  cache: block({
    policy: setting('cachePolicy'),
    eviction_day: notNegative('evictionDay'),
    eviction_hour: notNegative('evictionHour'),
    eviction_minute: notNegative('evictionMinute'),
    max_lifespan: milliseconds('maxLifespan'),
  }),
  connection_timeout: milliseconds('connectionTimeout'),
  delete_default_mappers: ignored,
  kerberos: block({
    kerberos_realm: applied((value, node) => {
      node.set('config/allowKerberosAuthentication', ['true'])
      node.set('config/kerberosRealm', toTexts(value))
    }),
    ...settingsOf(['key_tab', 'server_principal', 'use_kerberos_for_password_authentication']),
  }),
  rdn_ldap_attribute: setting('rdnLDAPAttribute'),
  read_timeout: milliseconds('readTimeout'),
  search_scope: setting('searchScope', (scope) => (scope === 'ONE_LEVEL' ? '1' : '2')),
  use_truststore_spi: setting('useTruststoreSpi', (usage) =>
    usage === 'ONLY_FOR_LDAPS' ? 'ldapsOnly' : String(usage).toLowerCase(),
  ),
  user_object_classes: joinedSetting('userObjectClasses', ', '),
  username_ldap_attribute: setting('usernameLDAPAttribute'),
  uuid_ldap_attribute: setting('uuidLDAPAttribute'),
  vendor: setting('vendor', (vendor) => String(vendor).toLowerCase()),
}

/** Returns the resource type of an LDAP mapper. */
const ldapMapper = (providerId: string | undefined, rules: Rules): ResourceType => ({
  getNode: ({ ldap_user_federation_id: parent, name = null }, realm) =>
    getReferred('component', parent, realm).getChild(['subComponents', LDAP_MAPPER], String(name), {
      name,
      ...(providerId && { providerId }),
    }),
  rules: { ldap_user_federation_id: ignored, name: ignored, ...rules },
})

const membership = dotted(
  'memberof_ldap_attribute',
  'membership_attribute_type',
  'membership_ldap_attribute',
  'membership_user_ldap_attribute',
  'mode',
  'user_roles_retrieve_strategy',
)

const ldapMapperTypes: ResourceTypes = {
  keycloak_hardcoded_attribute_mapper: ldapMapper('hardcoded-attribute-mapper', {
    attribute_name: setting('user.model.attribute'),
    attribute_value: setting('attribute.value'),
  }),
  keycloak_ldap_custom_mapper: ldapMapper(undefined, {
    provider_id: 'providerId',
    provider_type: ignored,
    config: entries(['config'], toTexts),
  }),
  keycloak_ldap_full_name_mapper: ldapMapper(
    'full-name-ldap-mapper',
    dotted('ldap_full_name_attribute', 'read_only', 'write_only'),
  ),
  keycloak_ldap_group_mapper: ldapMapper('group-ldap-mapper', {
    ...membership,
    ...dotted('drop_non_existing_groups_during_sync', 'group_name_ldap_attribute', 'groups_ldap_filter', 'groups_path'),
    ...dotted('ignore_missing_groups', 'preserve_group_inheritance'),
    group_object_classes: joinedSetting('group.object.classes', ','),
    ldap_groups_dn: setting('groups.dn'),
    mapped_group_attributes: joinedSetting('mapped.group.attributes', ','),
  }),
  keycloak_ldap_hardcoded_attribute_mapper: ldapMapper('hardcoded-ldap-attribute-mapper', {
    attribute_name: setting('ldap.attribute.name'),
    attribute_value: setting('ldap.attribute.value'),
  }),
  keycloak_ldap_hardcoded_group_mapper: ldapMapper('hardcoded-ldap-group-mapper', dotted('group')),
  keycloak_ldap_hardcoded_role_mapper: ldapMapper('hardcoded-ldap-role-mapper', dotted('role')),
  keycloak_ldap_msad_lds_user_account_control_mapper: ldapMapper('msad-lds-user-account-control-mapper', {}),
  keycloak_ldap_msad_user_account_control_mapper: ldapMapper(
    'msad-user-account-control-mapper',
    dotted('ldap_password_policy_hints_enabled'),
  ),
  keycloak_ldap_role_mapper: ldapMapper('role-ldap-mapper', {
    ...membership,
    ...dotted('role_name_ldap_attribute', 'roles_ldap_filter', 'use_realm_roles_mapping'),
    client_id: setting('client.id'),
    ldap_roles_dn: setting('roles.dn'),
    role_object_classes: joinedSetting('role.object.classes', ','),
  }),
  keycloak_ldap_user_attribute_mapper: ldapMapper(
    'user-attribute-ldap-mapper',
    dotted(
      'always_read_value_from_ldap',
      'attribute_default_value',
      'attribute_force_default',
      'is_binary_attribute',
      'is_mandatory_in_ldap',
      'ldap_attribute',
      'read_only',
      'user_model_attribute',
    ),
  ),
}

/** The settings of a registration policy. The provider joins several values by commas. */
const registrationConfig: Rule = applied((config, node, { attributes }) => {
  const { properties = [] } = findComponentType(CLIENT_REGISTRATION_POLICY, String(attributes.provider_id)) ?? {}
  for (const [name, value] of Object.entries(readObject(config))) {
    const { type = '' } = properties.find((property) => property.name === name) ?? {}
    const isList = type.startsWith('MultivaluedL') || type.startsWith('MultivaluedS')
    node.set(['config', name], isList ? String(value).split(/\s*,\s*/) : toTexts(value))
  }
})

/** Resource types of components. */
export const componentTypes: ResourceTypes = {
  keycloak_realm_keystore_aes_generated: key('aes-generated'),
  keycloak_realm_keystore_ecdsa_generated: key('ecdsa-generated', {
    elliptic_curve_key: setting('ecdsaEllipticCurveKey'),
  }),
  keycloak_realm_keystore_hmac_generated: key('hmac-generated'),
  keycloak_realm_keystore_java_keystore: key('java-keystore', {
    ...settingsOf(['key_alias', 'key_use', 'keystore']),
    key_password: secret(setting('keyPassword')),
    keystore_password: secret(setting('keystorePassword')),
  }),
  keycloak_realm_keystore_rsa: key('rsa', {
    provider_id: 'providerId',
    certificate: setting('certificate'),
    private_key: secret(setting('privateKey')),
    extra_config: entries(['config'], toTexts),
  }),
  keycloak_realm_keystore_rsa_generated: key('rsa-generated'),
  keycloak_realm_client_registration_policy: {
    getNode: ({ name = null, sub_type: subType = null }, { node }) =>
      node.getChild(['components', CLIENT_REGISTRATION_POLICY], JSON.stringify([subType, name]), { name, subType }),
    rules: { name: ignored, sub_type: ignored, provider_id: 'providerId', config: registrationConfig },
  },
  keycloak_custom_user_federation: {
    getNode: component(USER_STORAGE),
    rules: {
      name: ignored,
      parent_id: ignored,
      provider_id: 'providerId',
      config: applied((config, node) => {
        for (const [name, value] of Object.entries(readObject(config)))
          node.set(['config', name], String(value).split('##'))
      }),
      ...settingsOf(['cache_policy', 'changed_sync_period', 'enabled', 'full_sync_period', 'priority']),
    },
  },
  keycloak_ldap_user_federation: { getNode: component(USER_STORAGE, 'ldap'), rules: ldap },
  ...ldapMapperTypes,
}

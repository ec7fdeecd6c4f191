// Resources of the realm as a whole: settings, events, texts, user profile, required actions, client policies, client scopes by default.
import recorded from '../../kinds/built-in/realm.json' with { type: 'json' }
import { type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import {
  applied,
  block,
  converted,
  entries,
  ifTrue,
  ignored,
  parseJsonTexts,
  positive,
  type Rules,
  seconds,
  secret,
  sentList,
  settings,
  text,
  textIfTrue,
  toCamelCase,
  toList,
  toSentOrder,
} from './attribute-rules.ts'
import { inList, inRealm, type ResourceTypes } from './resource-type.ts'

const durations = [
  'access_code_lifespan',
  'access_code_lifespan_login',
  'access_code_lifespan_user_action',
  'access_token_lifespan',
  'access_token_lifespan_for_implicit_flow',
  'action_token_generated_by_admin_lifespan',
  'action_token_generated_by_user_lifespan',
  'client_session_idle_timeout',
  'client_session_max_lifespan',
  'oauth2_device_code_lifespan',
  'offline_session_idle_timeout',
  'offline_session_max_lifespan',
  'sso_session_idle_timeout',
  'sso_session_idle_timeout_remember_me',
  'sso_session_max_lifespan',
  'sso_session_max_lifespan_remember_me',
]

const smtp: Rules = {
  ...settings('smtpServer', [
    'envelope_from',
    'from',
    'from_display_name',
    'host',
    'port',
    'reply_to',
    'reply_to_display_name',
  ]),
  ssl: textIfTrue('smtpServer/ssl'),
  starttls: textIfTrue('smtpServer/starttls'),
  allow_utf8: textIfTrue('smtpServer/allowutf8'),
  auth: block({
    username: applied((user, node) => {
      node.set('smtpServer/auth', 'true')
      node.set('smtpServer/user', user)
    }),
    password: secret(text('smtpServer/password')),
  }),
  token_auth: block({
    username: applied((user, node) => {
      node.set('smtpServer/auth', 'true')
      node.set('smtpServer/authType', 'token')
      node.set('smtpServer/user', user)
    }),
    url: 'smtpServer/authTokenUrl',
    client_id: 'smtpServer/authTokenClientId',
    client_secret: secret(text('smtpServer/authTokenClientSecret')),
    scope: 'smtpServer/authTokenScope',
  }),
}

const bruteForceDetection: Rules = {
  permanent_lockout: applied((value, node) => {
    node.set('bruteForceProtected', true)
    node.set('permanentLockout', value)
  }),
  brute_force_strategy: 'bruteForceStrategy',
  max_temporary_lockouts: 'maxTemporaryLockouts',
  max_login_failures: 'failureFactor',
  wait_increment_seconds: 'waitIncrementSeconds',
  quick_login_check_milli_seconds: 'quickLoginCheckMilliSeconds',
  minimum_quick_login_wait_seconds: 'minimumQuickLoginWaitSeconds',
  max_failure_wait_seconds: 'maxFailureWaitSeconds',
  failure_reset_time_seconds: 'maxDeltaTimeSeconds',
}

const headers: Rules = {
  ...settings('browserSecurityHeaders', [
    'content_security_policy',
    'content_security_policy_report_only',
    'referrer_policy',
    'strict_transport_security',
    'x_content_type_options',
    'x_frame_options',
    'x_robots_tag',
  ]),
  x_xss_protection: text('browserSecurityHeaders/xXSSProtection'),
}

const otpPolicy: Rules = {
  algorithm: 'otpPolicyAlgorithm',
  code_reusable: 'otpPolicyCodeReusable',
  digits: 'otpPolicyDigits',
  initial_counter: 'otpPolicyInitialCounter',
  look_ahead_window: 'otpPolicyLookAheadWindow',
  period: 'otpPolicyPeriod',
  type: 'otpPolicyType',
}

/** The algorithms of a new realm. Their order in a state is not that of Keycloak, if it set them itself. */
const newAlgorithms: Json = recorded.settings.webAuthnPolicySignatureAlgorithms

const isSameSet = (a: Json, b: Json): boolean =>
  toList(a).length === toList(b).length && toList(a).every((element) => toList(b).includes(element))

const webAuthnPolicy = (prefix: string): Rules => ({
  acceptable_aaguids: sentList(`${prefix}AcceptableAaguids`),
  attestation_conveyance_preference: `${prefix}AttestationConveyancePreference`,
  authenticator_attachment: `${prefix}AuthenticatorAttachment`,
  avoid_same_authenticator_register: `${prefix}AvoidSameAuthenticatorRegister`,
  create_timeout: `${prefix}CreateTimeout`,
  discoverable_credential: `${prefix}ResidentKey`,
  extra_origins: sentList(`${prefix}ExtraOrigins`),
  passwordless_passkeys_enabled: ifTrue(`${prefix}PasskeysEnabled`),
  relying_party_entity_name: `${prefix}RpEntityName`,
  relying_party_id: `${prefix}RpId`,
  require_resident_key: `${prefix}RequireResidentKey`,
  signature_algorithms: converted(`${prefix}SignatureAlgorithms`, (algorithms) =>
    isSameSet(algorithms, newAlgorithms) ? undefined : toSentOrder(algorithms),
  ),
  user_verification_requirement: `${prefix}UserVerificationRequirement`,
})

const realm: Rules = {
  ...Object.fromEntries(durations.map((attribute) => [attribute, seconds(toCamelCase(attribute))])),
  attributes: entries(['attributes']),
  default_default_client_scopes: 'defaultDefaultClientScopes',
  default_optional_client_scopes: 'defaultOptionalClientScopes',
  internationalization: block({
    supported_locales: applied((locales, node) => {
      node.set('internationalizationEnabled', true)
      node.set('supportedLocales', locales)
    }),
    default_locale: 'defaultLocale',
  }),
  oauth2_device_polling_interval: positive('oauth2DevicePollingInterval'),
  otp_policy: block(otpPolicy),
  security_defenses: block({ headers: block(headers), brute_force_detection: block(bruteForceDetection) }),
  smtp_server: block(smtp),
  terraform_deletion_protection: ignored,
  user_managed_access: 'userManagedAccessAllowed',
  web_authn_policy: block(webAuthnPolicy('webAuthnPolicy')),
  web_authn_passwordless_policy: block(webAuthnPolicy('webAuthnPolicyPasswordless')),
}

/** Returns executors or conditions of client policies. `nameField` is the field with their name. */
const readPolicyParts =
  (nameField: string) =>
  (parts: Json): Json =>
    readObjects(parts).map(({ name = null, configuration = null }) => ({
      [nameField]: name,
      // Keycloak: the attributes of this condition are one text.
      configuration:
        name === 'client-attributes' ? readObject(configuration) : parseJsonTexts(readObject(configuration)),
    }))

const readSteps = (steps: Json): Json =>
  readObjects(steps).map((step) =>
    withoutEmpty({
      uses: step.uses ?? null,
      after: step.after ?? null,
      with: step.config ?? null,
    }),
  )

const withoutEmpty = (members: Representation): Representation =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== '' && value !== null && (typeof value !== 'object' || Object.keys(value).length > 0),
    ),
  )

function readProfileAttribute(attribute: Representation): Representation {
  const { permissions = null, validator = null, multi_valued: multivalued = null } = attribute
  const [permission] = readObjects(permissions)
  const validations = readObjects(validator).map(({ name = null, config = null }) => [
    String(name),
    parseJsonTexts(readObject(config)),
  ])
  const scopes = toList(attribute.enabled_when_scope ?? null)
  const required = withoutEmpty({
    roles: toList(attribute.required_for_roles ?? null),
    scopes: toList(attribute.required_for_scopes ?? null),
  })
  return withoutEmpty({
    name: attribute.name ?? null,
    displayName: attribute.display_name ?? null,
    defaultValue: attribute.default_value ?? null,
    group: attribute.group ?? null,
    ...(multivalued === true && { multivalued }),
    validations: Object.fromEntries(validations),
    annotations: parseJsonTexts(readObject(attribute.annotations)),
    required,
    selector: scopes.length ? { scopes } : {},
    ...(permission && {
      permissions: { view: toList(permission.view ?? null), edit: toList(permission.edit ?? null) },
    }),
  })
}

const readProfileGroup = (group: Representation): Representation =>
  withoutEmpty({
    name: group.name ?? null,
    displayHeader: group.display_header ?? null,
    displayDescription: group.display_description ?? null,
    annotations: parseJsonTexts(readObject(group.annotations)),
  })

/** Resource types of the realm. */
export const realmTypes: ResourceTypes = {
  keycloak_realm: { kind: 'realm', getNode: inRealm, rules: realm },
  keycloak_realm_events: { kind: 'realm', getNode: inRealm, rules: {} },
  keycloak_authentication_bindings: { kind: 'realm', getNode: inRealm, rules: {} },
  keycloak_realm_default_client_scopes: {
    getNode: inRealm,
    rules: { default_scopes: 'defaultDefaultClientScopes' },
  },
  keycloak_realm_optional_client_scopes: {
    getNode: inRealm,
    rules: { optional_scopes: 'defaultOptionalClientScopes' },
  },
  keycloak_realm_localization: {
    getNode: inRealm,
    rules: {
      locale: ignored,
      texts: applied((texts, node, { attributes }) =>
        node.set(['localizationTexts', String(attributes.locale)], texts),
      ),
    },
  },
  keycloak_realm_user_profile: {
    getNode: inRealm,
    rules: {
      attribute: converted('userProfile/attributes', (attributes) => readObjects(attributes).map(readProfileAttribute)),
      group: converted('userProfile/groups', (groups) => readObjects(groups).map(readProfileGroup)),
      unmanaged_attribute_policy: converted('userProfile/unmanagedAttributePolicy', (policy) =>
        policy === 'DISABLED' ? undefined : policy,
      ),
    },
  },
  keycloak_required_action: {
    kind: 'requiredAction',
    getNode: inList('requiredActions', ['alias', 'alias']),
    rules: { config: entries(['config']), priority: positive('priority') },
  },
  keycloak_realm_client_policy_profile: {
    getNode: inList('clientProfiles/profiles', ['name', 'name'], { description: '' }),
    rules: {
      name: 'name',
      description: 'description',
      executor: converted('executors', readPolicyParts('executor')),
    },
  },
  keycloak_realm_client_policy_profile_policy: {
    getNode: inList('clientPolicies/policies', ['name', 'name'], { description: '' }),
    rules: {
      name: 'name',
      description: 'description',
      enabled: 'enabled',
      profiles: sentList('profiles'),
      condition: converted('conditions', readPolicyParts('condition')),
    },
  },
  keycloak_workflow: {
    kind: 'workflow',
    getNode: inList('workflows', ['name', 'name']),
    rules: {
      cancel_in_progress: ['concurrency', 'cancel-in-progress'],
      conditions: 'if',
      restart_in_progress: ['concurrency', 'restart-in-progress'],
      schedule: block({ after: 'schedule/after', batch_size: ['schedule', 'batch-size'] }),
      state: ignored,
      step: converted('steps', readSteps),
    },
  },
}

// The providers, types, enumerations and features of the server, from the tables that Regent works by.
import { EVENT_OPERATIONS, EVENT_TYPES } from '../../../kinds/admin-events.ts'
import {
  authenticators,
  clientAuthenticators,
  formActions,
  formAuthenticators,
  type Providers,
  requiredActionProviders,
  type StepProvider,
} from '../../../kinds/authentication-providers.ts'
import { policyProviders } from '../../../kinds/authorization-policy-types.ts'
import { ANY_REALM, builtInObjects } from '../../../kinds/built-in/index.ts'
import { conditions, executors } from '../../../kinds/client-policies.ts'
import { SERVICE_ACCOUNT_SCOPE } from '../../../kinds/client-scope.ts'
import { CLIENT_REGISTRATION_POLICY, componentTypes } from '../../../kinds/component-types.ts'
import type { ConfigProperty } from '../../../kinds/config-property.ts'
import { CONTENT_ENCRYPTION_ALGORITHMS, KEY_ENCRYPTION_ALGORITHMS } from '../../../kinds/encryption-algorithms.ts'
import { identityProviderMapperTypes, identityProviderTypes } from '../../../kinds/identity-provider-types.ts'
import type { Json } from '../../../kinds/json.ts'
import { SIGNING_ALGORITHMS } from '../../../kinds/key-providers.ts'
import { loginProtocols } from '../../../kinds/login-protocols.ts'
import { mapperTypes } from '../../../kinds/mapper-types.ts'
import { type PasswordPolicyValue, passwordPolicies } from '../../../kinds/password-policies.ts'
import { furtherBuiltInMappers, providerSettings } from '../../../kinds/provider-settings.ts'
import { USER_EVENT_TYPES } from '../../../kinds/user-events.ts'
import { stepTypes, workflowConditions } from '../../../kinds/workflow-steps.ts'
import { memoize } from '../../../lib/timing/memoize.ts'
import { DEFAULT_HASHING, hashAlgorithms } from '../../users/password-hashing.ts'
import { EVENT_LISTENERS } from './events.ts'

/** A provider with its help text and settings. */
export interface ProviderInfo {
  readonly id: string
  readonly helpText: string
  readonly properties: readonly ConfigProperty[]
  readonly metadata?: Readonly<Record<string, Json>>
  /** Of an authenticator of clients: the settings of each client. */
  readonly clientProperties?: readonly ConfigProperty[]
}

const JAVA = 'org.keycloak'

/** Keycloak: the validators that a user profile can declare, of those that exist. */
const CONFIGURABLE_VALIDATORS = [
  'double',
  'email',
  'integer',
  'iso-date',
  'length',
  'local-date',
  'multivalued',
  'options',
  'pattern',
  'person-name-prohibited-characters',
  'up-username-not-idn-homograph',
  'uri',
  'username-prohibited-characters',
]

/** Keycloak: the types of the parameter of a client scope. */
/** Keycloak: the hash algorithms of selective disclosure, which the console offers for verifiable credentials. */
const HASH_ALGORITHMS = ['SHA-256', 'SHA-384', 'SHA-512']

const SCOPE_TYPES = [
  { name: 'boolean', repeatable: false },
  { name: 'custom', repeatable: true },
  { name: 'delegation', repeatable: false },
  { name: 'integer', repeatable: true },
  { name: 'string', repeatable: true },
  { name: 'username', repeatable: true },
]

const types = Object.entries(identityProviderTypes).map(([id, { name, social }]) => ({ id, name, social: !!social }))

const socialTypes = types.filter((type) => type.social)
const userDefinedTypes = types.filter((type) => !type.social)
const toGroup = (groupName: string, members: typeof types) => members.map(({ id, name }) => ({ groupName, name, id }))
const socialProviders = toGroup('Social', socialTypes)
const identityProviders = [...toGroup('User-defined', userDefinedTypes), ...socialProviders]

/** The providers by the Java name of their type. */
const providersByType: Readonly<Record<string, readonly ProviderInfo[]>> = {
  [`${JAVA}.authentication.Authenticator`]: describeSteps(authenticators),
  [`${JAVA}.authentication.ClientAuthenticator`]: describeSteps(clientAuthenticators).map((provider) => ({
    ...provider,
    clientProperties: getSettings('clientAuthenticators', provider.id),
  })),
  [`${JAVA}.authentication.FormAction`]: describeSteps(formActions),
  [`${JAVA}.authentication.FormAuthenticator`]: describeSteps(formAuthenticators),
  [`${JAVA}.broker.provider.IdentityProvider`]: toBareProviderInfos(userDefinedTypes.map(({ id }) => id)),
  [`${JAVA}.broker.provider.IdentityProviderMapper`]: toProviderInfos(identityProviderMapperTypes),
  [`${JAVA}.broker.social.SocialIdentityProvider`]: toBareProviderInfos(
    socialTypes.map(({ id }) => id),
    'socialProviders',
  ),
  [`${JAVA}.models.workflow.WorkflowProvider`]: toBareProviderInfos(['default']),
  [`${JAVA}.models.workflow.WorkflowStepProvider`]: toBareProviderInfos(Object.keys(stepTypes)),
  [`${JAVA}.protocol.ProtocolMapper`]: toBareProviderInfos(Object.keys(mapperTypes), 'protocolMappers'),
  [`${JAVA}.services.clientpolicy.condition.ClientPolicyConditionProvider`]: toBareProviderInfos(
    [...conditions],
    'conditions',
  ),
  [`${JAVA}.services.clientpolicy.executor.ClientPolicyExecutorProvider`]: toBareProviderInfos(
    [...executors],
    'executors',
  ),
  [`${JAVA}.validate.Validator`]: toBareProviderInfos(CONFIGURABLE_VALIDATORS, 'validators'),
  ...Object.fromEntries(Object.entries(componentTypes).map(([type, typesById]) => [type, toProviderInfos(typesById)])),
}

/** The ids of the same providers by the SPI that they implement. Keycloak has more SPIs. */
const providerIds: Readonly<Record<string, readonly string[]>> = {
  authenticator: [...authenticators.keys()],
  cekmanagement: KEY_ENCRYPTION_ALGORITHMS,
  'client-authenticator': [...clientAuthenticators.keys()],
  'client-policy-condition': [...conditions],
  'client-policy-executor': [...executors],
  'client-registration': ['default', 'install', 'openid-connect', 'saml2-entity-descriptor'],
  'client-registration-policy': Object.keys(componentTypes[CLIENT_REGISTRATION_POLICY]!),
  clientSignature: SIGNING_ALGORITHMS,
  contentencryption: CONTENT_ENCRYPTION_ALGORITHMS,
  eventsListener: EVENT_LISTENERS,
  'form-action': [...formActions.keys()],
  'form-authenticator': [...formAuthenticators.keys()],
  hash: HASH_ALGORITHMS,
  'identity-provider-mapper': Object.keys(identityProviderMapperTypes),
  identity_provider: userDefinedTypes.map(({ id }) => id),
  keys: listIdsOfType(`${JAVA}.keys.KeyProvider`),
  'ldap-mapper': listIdsOfType(`${JAVA}.storage.ldap.mappers.LDAPStorageMapper`),
  'login-protocol': loginProtocols,
  'parameterized-scope-type': SCOPE_TYPES.map(({ name }) => name),
  'password-hashing': Object.keys(hashAlgorithms),
  'password-policy': Object.keys(passwordPolicies),
  policy: policyProviders.map(({ type }) => type),
  'protocol-mapper': Object.keys(mapperTypes),
  'required-action': [...requiredActionProviders.keys()],
  signature: SIGNING_ALGORITHMS,
  social: socialTypes.map(({ id }) => id),
  storage: listIdsOfType(`${JAVA}.storage.UserStorageProvider`),
  validator: CONFIGURABLE_VALIDATORS,
  'workflow-condition': [...workflowConditions],
  'workflow-step': Object.keys(stepTypes),
}

/** Returns the providers, types and enumerations. The result is the same for every realm, and is built once. */
export const listProviders = memoize(() => ({
  socialProviders,
  identityProviders,
  providers: Object.fromEntries(
    Object.entries(providerIds).map(([name, ids]) => [
      name,
      { internal: true, providers: Object.fromEntries(ids.map((id) => [id, { order: 0 }])) },
    ]),
  ),
  protocolMapperTypes: groupByProtocol(
    Object.entries(mapperTypes).map(([id, { protocol, name, category, priority = 0 }]) => ({
      protocol,
      representation: { id, name, category, helpText: '', priority, properties: getSettings('protocolMappers', id) },
    })),
  ),
  builtinProtocolMappers: groupByProtocol(listBuiltInMappers()),
  componentTypes: providersByType,
  passwordPolicies: Object.entries(passwordPolicies).map(([id, policy]) => describePasswordPolicy(id, policy)),
  enums: {
    operationType: [...EVENT_OPERATIONS].sort(),
    eventType: [...USER_EVENT_TYPES].sort(),
    resourceType: [...EVENT_TYPES],
    type: ['ORGANIZATION', 'REALM'],
  },
  parameterizedScopeTypes: SCOPE_TYPES,
}))

function describeSteps(providers: Providers<StepProvider>): ProviderInfo[] {
  return [...providers].map(([id, { description, config }]) => ({ id, helpText: description, properties: config }))
}

function toProviderInfos(typesById: Readonly<Record<string, Partial<ProviderInfo>>>): ProviderInfo[] {
  return Object.entries(typesById).map(([id, { helpText = '', properties = [], metadata = {} }]) => ({
    id,
    helpText,
    properties,
    metadata,
  }))
}

/** Describes providers without help texts. Those of a kind have settings. */
function toBareProviderInfos(ids: readonly string[], kind?: keyof typeof providerSettings): ProviderInfo[] {
  return ids.map((id) => ({ id, helpText: '', properties: kind ? getSettings(kind, id) : [] }))
}

function getSettings(kind: keyof typeof providerSettings, id: string): readonly ConfigProperty[] {
  return (providerSettings[kind][id] ?? []).map((setting) => ({ helpText: '', ...setting }))
}

function listIdsOfType(type: string): string[] {
  return providersByType[type]!.map(({ id }) => id)
}

/** An element of a list that is grouped by protocol. */
interface OfProtocol<T> {
  readonly protocol: string
  readonly representation: T
}

function groupByProtocol<T>(elements: readonly OfProtocol<T>[]): Record<string, T[]> {
  const groups = Map.groupBy(elements, ({ protocol }) => protocol)
  return Object.fromEntries(
    [...groups].map(([protocol, members]) => [protocol, members.map(({ representation }) => representation)]),
  )
}

/**
 * Lists the mappers of which administrators add copies to clients. Keycloak: those of the client scopes that every realm has, without the
 * ones of service accounts and of organizations in tokens, and some that no scope has.
 */
function listBuiltInMappers() {
  const ofScopes = builtInObjects(ANY_REALM).flatMap(({ kind, key: [parent, scope], representation }) =>
    kind === 'protocolMapper' &&
    parent === 'clientScope' &&
    scope !== SERVICE_ACCOUNT_SCOPE &&
    representation.protocolMapper !== 'oidc-organization-membership-mapper'
      ? [representation]
      : [],
  )
  return [...ofScopes, ...furtherBuiltInMappers].map((mapper) => ({
    protocol: String(mapper.protocol),
    representation: { consentRequired: false, ...mapper },
  }))
}

/** Describes a password policy. Keycloak: default values are texts, also of numbers, and may be empty. */
function describePasswordPolicy(id: string, policy: PasswordPolicyValue & { readonly label: string }) {
  const displayName = policy.label
  if (policy.type === 'none') return { id, displayName, multipleSupported: false }
  const defaultValue = id === 'hashAlgorithm' ? DEFAULT_HASHING.algorithm : (policy.default ?? '')
  const isText = policy.type === 'text' || id === 'forceExpiredPasswordChange'
  return {
    id,
    displayName,
    configType: isText ? 'String' : 'int',
    defaultValue: String(defaultValue),
    multipleSupported: id === 'regexPattern',
  }
}

/** A feature that clients look up by name. Keycloak: its features can be switched on and off. */
export interface ServerFeature {
  readonly name: string
  readonly label: string
  readonly type: 'DEFAULT'
  readonly dependencies: readonly string[]
  readonly enabled: boolean
}

const SUPPORTED: Readonly<Record<string, string>> = {
  ADMIN_API: 'Admin API',
  ADMIN_FINE_GRAINED_AUTHZ_V2: 'Fine-Grained Admin Permissions version 2',
  AUTHORIZATION: 'Authorization Service',
  CLIENT_POLICIES: 'Client configuration policies',
  CLIENT_SECRET_ROTATION: 'Client Secret Rotation',
  DPOP: 'OAuth 2.0 Demonstrating Proof-of-Possession at the Application Layer',
  IMPERSONATION: 'Ability for admins to impersonate users',
  ORGANIZATION: 'Organization support within realms',
  PAR: 'OAuth 2.0 Pushed Authorization Requests (PAR)',
  STEP_UP_AUTHENTICATION: 'Step-up Authentication',
  WORKFLOWS: 'Workflows',
}

const UNSUPPORTED: Readonly<Record<string, string>> = {
  ACCOUNT_API: 'Account Management REST API',
  ADMIN_FINE_GRAINED_AUTHZ: 'Fine-Grained Admin Permissions',
  CIBA: 'OpenID Connect Client Initiated Backchannel Authentication (CIBA)',
  DEVICE_FLOW: 'OAuth 2.0 Device Authorization Grant',
  DOCKER: 'Docker Registry protocol',
  JWT_AUTHORIZATION_GRANT: 'JWT Profile for OAuth 2.0 Authorization Grant',
  KERBEROS: 'Kerberos',
  PASSKEYS: 'Passkeys',
  RECOVERY_CODES: 'Recovery codes',
  SCRIPTS: 'Custom authenticators and mappers in JavaScript',
  TOKEN_EXCHANGE_STANDARD_V2: 'Standard Token Exchange version 2',
  UPDATE_EMAIL: 'Update Email Action',
  WEB_AUTHN: 'W3C Web Authentication (WebAuthn)',
}

const toFeatures = (features: Readonly<Record<string, string>>, enabled: boolean): ServerFeature[] =>
  Object.entries(features).map(([name, label]) => ({ name, label, type: 'DEFAULT', dependencies: [], enabled }))

/** The features of Keycloak: first those that Regent supports (`enabled`), then the others. */
export const features: readonly ServerFeature[] = [...toFeatures(SUPPORTED, true), ...toFeatures(UNSUPPORTED, false)]

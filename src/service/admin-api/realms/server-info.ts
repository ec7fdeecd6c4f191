// What there is to choose from: the providers, types and words that Regent knows, from the tables that it works by.
import { EVENT_OPERATIONS, EVENT_TYPES } from '../../../kinds/admin-events.ts'
import {
  authenticators,
  clientAuthenticators,
  formActions,
  forms,
  type Providers,
  requiredActionProviders,
  type StepProvider,
} from '../../../kinds/authentication-providers.ts'
import { policyProviders } from '../../../kinds/authorization-policy-types.ts'
import { ANY_REALM, builtInObjects } from '../../../kinds/built-in/index.ts'
import { conditions, executors } from '../../../kinds/client-policies.ts'
import { componentTypes } from '../../../kinds/component-types.ts'
import { identityProviderMapperTypes, identityProviderTypes } from '../../../kinds/identity-provider-types.ts'
import { mapperTypes } from '../../../kinds/mapper-types.ts'
import { type PasswordPolicyValue, passwordPolicies } from '../../../kinds/password-policies.ts'
import type { ConfigProperty } from '../../../kinds/config-property.ts'
import { USER_EVENT_TYPES } from '../../../kinds/user-events.ts'
import { stepTypes, workflowConditions } from '../../../kinds/workflow-steps.ts'
import { memoize } from '../../../lib/timing/memoize.ts'
import { DEFAULT_HASHING } from '../../users/password-hashing.ts'

/** One provider: what it does, and its settings. */
export interface ProviderInfo {
  readonly id: string
  readonly helpText: string
  readonly properties: readonly ConfigProperty[]
}

const JAVA = 'org.keycloak'
const types = Object.entries(identityProviderTypes).map(([id, { name, social }]) => ({ id, name, social: !!social }))

const social = types.filter((one) => one.social)
const userDefined = types.filter((one) => !one.social)
/** Keycloak: social networks stand in both lists. */
const inGroup = (groupName: string, of: typeof types) => of.map(({ id, name }) => ({ groupName, name, id }))
const socialProviders = inGroup('Social', social)
const identityProviders = [...inGroup('User-defined', userDefined), ...socialProviders]

/** Providers by the Java name of their type. */
const providersByType: Readonly<Record<string, readonly ProviderInfo[]>> = {
  [`${JAVA}.authentication.Authenticator`]: steps(authenticators),
  [`${JAVA}.authentication.ClientAuthenticator`]: steps(clientAuthenticators),
  [`${JAVA}.authentication.FormAction`]: steps(formActions),
  [`${JAVA}.authentication.FormAuthenticator`]: steps(forms),
  [`${JAVA}.broker.provider.IdentityProvider`]: named(userDefined.map(({ id }) => id)),
  [`${JAVA}.broker.provider.IdentityProviderMapper`]: described(identityProviderMapperTypes),
  [`${JAVA}.broker.social.SocialIdentityProvider`]: named(social.map(({ id }) => id)),
  [`${JAVA}.models.workflow.WorkflowStepProvider`]: named(Object.keys(stepTypes)),
  [`${JAVA}.protocol.ProtocolMapper`]: named(Object.keys(mapperTypes)),
  [`${JAVA}.services.clientpolicy.condition.ClientPolicyConditionProvider`]: named([...conditions]),
  [`${JAVA}.services.clientpolicy.executor.ClientPolicyExecutorProvider`]: named([...executors]),
  ...Object.fromEntries(Object.entries(componentTypes).map(([type, known]) => [type, described(known)])),
}

/** What the same providers are called by what they are for. Keycloak: only some are called so. */
const providerIds: Readonly<Record<string, readonly string[]>> = {
  authenticator: [...authenticators.keys()],
  'client-authenticator': [...clientAuthenticators.keys()],
  'client-policy-condition': [...conditions],
  'client-policy-executor': [...executors],
  'form-action': [...formActions.keys()],
  'form-authenticator': [...forms.keys()],
  'identity-provider-mapper': Object.keys(identityProviderMapperTypes),
  identity_provider: userDefined.map(({ id }) => id),
  keys: idsOf(`${JAVA}.keys.KeyProvider`),
  'ldap-mapper': idsOf(`${JAVA}.storage.ldap.mappers.LDAPStorageMapper`),
  'login-protocol': [...new Set(Object.values(mapperTypes).map(({ protocol }) => protocol))],
  'password-policy': Object.keys(passwordPolicies),
  policy: policyProviders.map(({ type }) => type),
  'protocol-mapper': Object.keys(mapperTypes),
  'required-action': [...requiredActionProviders.keys()],
  social: social.map(({ id }) => id),
  storage: idsOf(`${JAVA}.storage.UserStorageProvider`),
  'workflow-condition': [...workflowConditions],
  'workflow-step': Object.keys(stepTypes),
}

/** All of it, made once: it is the same for every realm. */
export const whatThereIs = memoize(() => ({
  socialProviders,
  identityProviders,
  providers: Object.fromEntries(
    Object.entries(providerIds).map(([name, ids]) => [
      name,
      { internal: true, providers: Object.fromEntries(ids.map((id) => [id, { order: 0 }])) },
    ]),
  ),
  protocolMapperTypes: byProtocol(
    Object.entries(mapperTypes).map(([id, { protocol, name, category, priority = 0 }]) => ({
      protocol,
      shown: { id, name, category, priority },
    })),
  ),
  builtinProtocolMappers: byProtocol(mappersOfScopes()),
  componentTypes: providersByType,
  passwordPolicies: Object.entries(passwordPolicies).map(([id, policy]) => policyInfo(id, policy)),
  enums: {
    operationType: [...EVENT_OPERATIONS].sort(),
    eventType: [...USER_EVENT_TYPES].sort(),
    resourceType: [...EVENT_TYPES],
  },
}))

function steps(providers: Providers<StepProvider>): ProviderInfo[] {
  return [...providers].map(([id, { description, config }]) => ({ id, helpText: description, properties: config }))
}

function described(known: Readonly<Record<string, Partial<ProviderInfo>>>): ProviderInfo[] {
  return Object.entries(known).map(([id, { helpText = '', properties = [] }]) => ({ id, helpText, properties }))
}

function named(ids: readonly string[]): ProviderInfo[] {
  return ids.map((id) => ({ id, helpText: '', properties: [] }))
}

function idsOf(type: string): string[] {
  return providersByType[type]!.map(({ id }) => id)
}

function byProtocol<T>(all: readonly { readonly protocol: string; readonly shown: T }[]): Record<string, T[]> {
  const groups = Map.groupBy(all, ({ protocol }) => protocol)
  return Object.fromEntries([...groups].map(([protocol, own]) => [protocol, own.map(({ shown }) => shown)]))
}

/** The mappers of the client scopes that every realm has: what people add to clients without writing it. */
function mappersOfScopes() {
  return builtInObjects(ANY_REALM).flatMap(({ kind, key, representation }) =>
    kind === 'protocolMapper' && key[0] === 'clientScope'
      ? [{ protocol: String(representation.protocol), shown: { consentRequired: false, ...representation } }]
      : [],
  )
}

/** Keycloak: everything is a text here, numbers too, and what has a usual value shows one, be it empty. */
function policyInfo(id: string, policy: PasswordPolicyValue & { readonly label: string }) {
  const displayName = policy.label
  if (policy.type === 'none') return { id, displayName, multipleSupported: false }
  const usual = id === 'hashAlgorithm' ? DEFAULT_HASHING.algorithm : (policy.default ?? '')
  const isText = policy.type === 'text' || id === 'forceExpiredPasswordChange'
  return {
    id,
    displayName,
    configType: isText ? 'String' : 'int',
    defaultValue: String(usual),
    multipleSupported: id === 'regexPattern',
  }
}

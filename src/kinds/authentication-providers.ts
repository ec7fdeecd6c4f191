// The supported providers of executions and required actions, recorded from Keycloak.
import recorded from './built-in/authentication-providers.json' with { type: 'json' }
import type { ConfigProperty } from './config-property.ts'

/** A provider of executions. */
export interface StepProvider {
  readonly displayName: string
  readonly description: string
  /** The requirements that an execution can have. */
  readonly requirements: readonly string[]
  readonly config: readonly ConfigProperty[]
  /** For a client authenticator: whether the client has a secret. */
  readonly supportsSecret: boolean
  /** For a client authenticator: its settings in the client. */
  readonly perClient: readonly ConfigProperty[]
}

/** A provider of a required action. */
export interface RequiredActionProvider {
  readonly name: string
  /** The settings; absent if the required action cannot be configured. */
  readonly config?: readonly ConfigProperty[]
}

/** Providers by id. */
export type Providers<P> = ReadonlyMap<string, P>

/** The authenticators of users. */
export const authenticators = createStepProviders(recorded.authenticators)
/** The authenticators of clients. */
export const clientAuthenticators = createStepProviders(recorded.clientAuthenticators)
/** The providers of form actions. */
export const formActions = createStepProviders(recorded.formActions)
/** The providers of forms, for subflows of form actions. */
export const formAuthenticators = createStepProviders(recorded.forms)
/** All providers of executions. */
export const allStepProviders: Providers<StepProvider> = new Map([
  ...authenticators,
  ...clientAuthenticators,
  ...formActions,
  ...formAuthenticators,
])
/** The providers of required actions. */
export const requiredActionProviders: Providers<RequiredActionProvider> = new Map(
  Object.entries<RecordedProvider>(recorded.requiredActions).map(([id, { name, config }]) => [
    id,
    { name: name!, ...(config && { config: createProperties(config) }) },
  ]),
)

/** The types of flows: the providers of their executions, and the requirements that a subflow of the type can have. */
export const flowTypes: Providers<{ readonly steps: Providers<StepProvider>; readonly requirements: string[] }> =
  new Map([
    ['basic-flow', { steps: authenticators, requirements: ['REQUIRED', 'ALTERNATIVE', 'DISABLED', 'CONDITIONAL'] }],
    ['form-flow', { steps: formActions, requirements: ['REQUIRED', 'DISABLED'] }],
    ['client-flow', { steps: clientAuthenticators, requirements: ['ALTERNATIVE', 'REQUIRED', 'DISABLED'] }],
  ])

/** The types of credentials that the unsupported authenticators require, by provider id. Users without them skip alternative steps. */
export const unsupportedCredentials: Readonly<Record<string, string>> = {
  'webauthn-authenticator': 'webauthn',
  'webauthn-authenticator-passwordless': 'webauthn-passwordless',
  'auth-recovery-authn-code-form': 'recovery-authn-codes',
}

/** The settings of executions that are secrets. */
export const secretAuthenticatorSettings: readonly string[] = [
  ...new Set([...allStepProviders.values()].flatMap(({ config }) => config.filter(({ secret }) => secret))),
].map(({ name }) => name)

/** A recorded provider. Its settings are names of shared properties, or properties. */
interface RecordedProvider {
  readonly name?: string
  readonly displayName?: string
  readonly description?: string
  readonly requirements?: readonly string[]
  readonly config?: readonly RecordedProperty[]
  readonly supportsSecret?: boolean
  readonly perClient?: readonly RecordedProperty[]
}

type RecordedProperty = string | (Pick<ConfigProperty, 'name' | 'type'> & Partial<ConfigProperty>)

function createStepProviders(providers: Readonly<Record<string, RecordedProvider>>): Providers<StepProvider> {
  return new Map(
    Object.entries(providers).map(([id, provider]) => [
      id,
      {
        displayName: provider.displayName!,
        description: provider.description!,
        requirements: provider.requirements!,
        config: createProperties(provider.config),
        supportsSecret: provider.supportsSecret ?? false,
        perClient: createProperties(provider.perClient),
      },
    ]),
  )
}

function createProperties(properties: readonly RecordedProperty[] = []): ConfigProperty[] {
  const sharedProperties: Readonly<Record<string, Omit<ConfigProperty, 'name'>>> = recorded.properties
  return properties.map((property) => ({
    secret: false,
    required: false,
    readOnly: false,
    ...(typeof property === 'string' ? { name: property, ...sharedProperties[property]! } : property),
  }))
}

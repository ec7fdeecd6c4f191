// What authentication is made of: the steps of flows and the required actions that Regent knows, recorded facts.
import recorded from './built-in/authentication-providers.json' with { type: 'json' }
import type { ConfigProperty } from './config-property.ts'

/** What a step of a flow can be. */
export interface StepProvider {
  readonly displayName: string
  readonly description: string
  /** What the step may mean for its flow. */
  readonly requirements: readonly string[]
  readonly config: readonly ConfigProperty[]
  /** Of a client authenticator: whether the client has a secret then, and its settings in the client. */
  readonly supportsSecret: boolean
  readonly perClient: readonly ConfigProperty[]
}

/** Something that people may have to do at log-in. */
export interface RequiredActionProvider {
  readonly name: string
  /** Absent: there is nothing to be set. */
  readonly config?: readonly ConfigProperty[]
}

/** Providers by id. */
export type Providers<P> = ReadonlyMap<string, P>

/** Steps in which people prove who they are. */
export const authenticators = stepProviders(recorded.authenticators)
/** Steps in which clients do. */
export const clientAuthenticators = stepProviders(recorded.clientAuthenticators)
/** Steps of a form. */
export const formActions = stepProviders(recorded.formActions)
/** Forms: what a step is that is a flow of form actions. */
export const forms = stepProviders(recorded.forms)
/** Everything that a step can be. */
export const allStepProviders: Providers<StepProvider> = new Map([
  ...authenticators,
  ...clientAuthenticators,
  ...formActions,
  ...forms,
])
/** What people may have to do at log-in. */
export const requiredActionProviders: Providers<RequiredActionProvider> = new Map(
  Object.entries(recorded.requiredActions as Record<string, Recorded>).map(([id, { name, config }]) => [
    id,
    { name: name!, ...(config && { config: properties(config) }) },
  ]),
)

/** The types of flows: what their steps can be, and what a step may mean that is such a flow. */
export const flowTypes: Providers<{ readonly steps: Providers<StepProvider>; readonly requirements: string[] }> =
  new Map([
    ['basic-flow', { steps: authenticators, requirements: ['REQUIRED', 'ALTERNATIVE', 'DISABLED', 'CONDITIONAL'] }],
    ['form-flow', { steps: formActions, requirements: ['REQUIRED', 'DISABLED'] }],
    ['client-flow', { steps: clientAuthenticators, requirements: ['ALTERNATIVE', 'REQUIRED', 'DISABLED'] }],
  ])

/** Settings of steps that hold a secret. */
export const secretSettings: readonly string[] = [
  ...new Set([...allStepProviders.values()].flatMap(({ config }) => config.filter(({ secret }) => secret))),
].map(({ name }) => name)

/** A provider as it is recorded: settings by name, or as they are where another provider has one of that name. */
interface Recorded {
  readonly name?: string
  readonly displayName?: string
  readonly description?: string
  readonly requirements?: readonly string[]
  readonly config?: readonly (string | object)[]
  readonly supportsSecret?: boolean
  readonly perClient?: readonly (string | object)[]
}

function stepProviders(providers: object): Providers<StepProvider> {
  return new Map(
    Object.entries(providers as Record<string, Recorded>).map(([id, provider]) => [
      id,
      {
        displayName: provider.displayName!,
        description: provider.description!,
        requirements: provider.requirements!,
        config: properties(provider.config),
        supportsSecret: provider.supportsSecret ?? false,
        perClient: properties(provider.perClient),
      },
    ]),
  )
}

function properties(names: readonly (string | object)[] = []): ConfigProperty[] {
  const known = recorded.properties as Readonly<Record<string, object>>
  return names.map((one) => ({
    secret: false,
    required: false,
    readOnly: false,
    ...((typeof one === 'string' ? { name: one, ...known[one] } : one) as Omit<
      ConfigProperty,
      'secret' | 'required' | 'readOnly'
    >),
  }))
}

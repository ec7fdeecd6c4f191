// Flows and required actions as earlier versions stated them, as the reference server's import has it; and as it wants them.
import type { Json, Representation } from '../../kinds/json.ts'
import { isObject } from '../form.ts'
import type { Form, Notes } from './form.ts'

/**
 * Optional steps, names of actions in small letters and authenticator configs of one alias read as what they mean today; steps
 * written with whether they are flows.
 */
export const authentication: Form = {
  read(realm, notes) {
    const { authenticationFlows: flows, authenticatorConfig: configs, requiredActions: actions, users } = realm
    return {
      ...realm,
      ...(Array.isArray(flows) && { authenticationFlows: withoutOptionalSteps(flows, notes) }),
      ...(Array.isArray(configs) && { authenticatorConfig: withoutTwins(configs, notes) }),
      ...(Array.isArray(actions) && { requiredActions: actions.map(inCapitals) }),
      ...(Array.isArray(users) && { users: users.map(withActionsInCapitals) }),
    }
  },
  write(realm) {
    const flows = realm.authenticationFlows as Representation[] | undefined
    return { ...realm, ...(flows && { authenticationFlows: flows.map(withFlags) }) }
  },
}

/** An optional step becomes a conditional flow: of whether its user has set the step up, and of the step. */
function withoutOptionalSteps(flows: readonly Json[], { moved }: Notes): Json[] {
  const taken = new Set(flows.filter(isObject).map(({ alias }) => alias))
  const added: Representation[] = []
  const changed = flows.map((flow, place) => {
    if (!isObject(flow) || !Array.isArray(flow.authenticationExecutions)) return flow
    const steps = flow.authenticationExecutions.map((step, at): Json => {
      if (!isObject(step) || step.requirement !== 'OPTIONAL') return step
      const { priority = null, ...rest } = step
      const name = `${step.authenticator ?? step.flowAlias}`
      const alias = free(`${flow.alias} - ${name} - Conditional`, taken)
      const from = ['authenticationFlows', place, 'authenticationExecutions', at]
      const to = ['authenticationFlows', flows.length + added.length]
      moved(to, from)
      moved([...to, 'authenticationExecutions', 1], from)
      added.push({
        alias,
        description: `${name}, for people who have set it up`,
        providerId: 'basic-flow',
        topLevel: false,
        builtIn: false,
        authenticationExecutions: [
          { authenticator: 'conditional-user-configured', requirement: 'REQUIRED', priority: 10 },
          { ...rest, requirement: 'REQUIRED', priority: 20 },
        ],
      })
      return { flowAlias: alias, requirement: 'CONDITIONAL', ...(priority !== null && { priority }) }
    })
    return { ...flow, authenticationExecutions: steps }
  })
  return [...changed, ...added]
}

/** Keycloak: knows authenticator configs by id, and takes several of one alias. Steps name them by alias and get the first. */
function withoutTwins(configs: readonly Json[], { note }: Notes): Json[] {
  const taken = new Set<Json>()
  return configs.map((config, at) => {
    if (!isObject(config) || typeof config.alias !== 'string') return config
    const { alias } = config
    if (!taken.has(alias)) {
      taken.add(alias)
      return config
    }
    note(
      ['authenticatorConfig', at],
      `authenticator config ${alias} is declared again: the first is used, this one is ignored`,
    )
    return null
  })
}

/** The name, or with a number behind it where it is taken. */
function free(name: string, taken: Set<Json | undefined>): string {
  let alias = name
  for (let number = 2; taken.has(alias); number++) alias = `${name} ${number}`
  taken.add(alias)
  return alias
}

/** The only required action whose name changed: it was in small letters. */
function inCapitals(action: Json): Json {
  if (!isObject(action)) return action
  const names = ['alias', 'providerId'].filter((name) => String(action[name]).toUpperCase() === TERMS)
  return { ...action, ...Object.fromEntries(names.map((name) => [name, TERMS])) }
}

const TERMS = 'TERMS_AND_CONDITIONS'

/** Keycloak: what people must do is read in any case where it comes with every server. */
function withActionsInCapitals(user: Json): Json {
  if (!isObject(user) || !Array.isArray(user.requiredActions)) return user
  const actions = user.requiredActions.map((action) => {
    const name = String(action).toUpperCase()
    return ACTIONS.has(name) ? name : action
  })
  return { ...user, requiredActions: actions }
}

const ACTIONS: ReadonlySet<string> = new Set([
  TERMS,
  'CONFIGURE_RECOVERY_AUTHN_CODES',
  'CONFIGURE_TOTP',
  'UPDATE_EMAIL',
  'UPDATE_PASSWORD',
  'UPDATE_PROFILE',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
])

/** Keycloak: a step that names a flow and does not say that it is one is none. */
function withFlags(flow: Representation): Representation {
  const steps = flow.authenticationExecutions as Representation[] | undefined
  return {
    ...flow,
    ...(steps && {
      authenticationExecutions: steps.map((step) => ({ ...step, authenticatorFlow: step.flowAlias !== undefined })),
    }),
  }
}

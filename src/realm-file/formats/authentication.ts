// Authentication flows and required actions in the formats of early versions, as Keycloak's import reads them.
import { isList, isObject, type Json, type Representation, readObjects } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/**
 * Reads optional executions, required actions in lower case, and authenticator configs with the same alias. Writes the flag
 * `authenticatorFlow` of executions.
 */
export const authentication: FormatConverter = {
  read(realm, context) {
    const { authenticationFlows: flows, authenticatorConfig: configs, requiredActions: actions, users } = realm
    return {
      ...realm,
      ...(isList(flows) && { authenticationFlows: replaceOptionalExecutions(flows, context) }),
      ...(isList(configs) && { authenticatorConfig: removeDuplicateConfigs(configs, context) }),
      ...(isList(actions) && { requiredActions: actions.map(renameTermsAction) }),
      ...(isList(users) && { users: users.map(upperCaseRequiredActions) }),
    }
  },
  write(realm) {
    const flows = realm.authenticationFlows
    return { ...realm, ...(flows && { authenticationFlows: readObjects(flows).map(addFlowFlags) }) }
  },
}

/** Replaces each optional execution with a conditional flow, which runs the execution if the user has configured it. */
function replaceOptionalExecutions(flows: readonly Json[], { recordMove }: ConversionContext): Json[] {
  const usedAliases = new Set(flows.filter(isObject).map(({ alias }) => alias))
  const conditionalFlows: Representation[] = []
  const replaced = flows.map((flow, flowIndex) => {
    if (!isObject(flow) || !isList(flow.authenticationExecutions)) return flow
    const executions = flow.authenticationExecutions.map((execution, at): Json => {
      if (!isObject(execution) || execution.requirement !== 'OPTIONAL') return execution
      const { priority = null } = execution
      const name = `${execution.authenticator ?? execution.flowAlias}`
      const alias = findUnusedAlias(`${flow.alias} - ${name} - Conditional`, usedAliases)
      const from = ['authenticationFlows', flowIndex, 'authenticationExecutions', at]
      const to = ['authenticationFlows', flows.length + conditionalFlows.length]
      recordMove(to, from)
      recordMove([...to, 'authenticationExecutions', 1], from)
      conditionalFlows.push(createConditionalFlow(alias, name, execution))
      return { flowAlias: alias, requirement: 'CONDITIONAL', ...(priority !== null && { priority }) }
    })
    return { ...flow, authenticationExecutions: executions }
  })
  return [...replaced, ...conditionalFlows]
}

function createConditionalFlow(alias: string, name: string, execution: Representation): Representation {
  return {
    alias,
    description: `${name}, if the user has configured it`,
    providerId: 'basic-flow',
    topLevel: false,
    builtIn: false,
    authenticationExecutions: [
      { authenticator: 'conditional-user-configured', requirement: 'REQUIRED', priority: 10 },
      { ...execution, requirement: 'REQUIRED', priority: 20 },
    ],
  }
}

/** Keycloak: accepts several authenticator configs with the same alias. Executions refer to the first one. */
function removeDuplicateConfigs(configs: readonly Json[], { warn }: ConversionContext): Json[] {
  const usedAliases = new Set<Json>()
  return configs.map((config, at) => {
    if (!isObject(config) || typeof config.alias !== 'string') return config
    const { alias } = config
    if (!usedAliases.has(alias)) {
      usedAliases.add(alias)
      return config
    }
    warn(
      ['authenticatorConfig', at],
      `authenticator config ${alias} is declared again: the first is used, this one is ignored`,
    )
    return null
  })
}

/** Returns the alias, with a number if it is used. */
function findUnusedAlias(name: string, usedAliases: Set<Json | undefined>): string {
  let alias = name
  for (let number = 2; usedAliases.has(alias); number++) alias = `${name} ${number}`
  usedAliases.add(alias)
  return alias
}

/** Converts the only required action that was renamed: its name was in lower case. */
function renameTermsAction(action: Json): Json {
  if (!isObject(action)) return action
  const names = ['alias', 'providerId'].filter((name) => String(action[name]).toUpperCase() === TERMS)
  return { ...action, ...Object.fromEntries(names.map((name) => [name, TERMS])) }
}

const TERMS = 'TERMS_AND_CONDITIONS'

/** Keycloak: ignores the case of built-in required actions of users. */
function upperCaseRequiredActions(user: Json): Json {
  if (!isObject(user) || !isList(user.requiredActions)) return user
  const actions = user.requiredActions.map((action) => {
    const name = String(action).toUpperCase()
    return BUILT_IN_ACTIONS.has(name) ? name : action
  })
  return { ...user, requiredActions: actions }
}

const BUILT_IN_ACTIONS: ReadonlySet<string> = new Set([
  TERMS,
  'CONFIGURE_RECOVERY_AUTHN_CODES',
  'CONFIGURE_TOTP',
  'UPDATE_EMAIL',
  'UPDATE_PASSWORD',
  'UPDATE_PROFILE',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
])

/** Keycloak: requires the flag `authenticatorFlow` of an execution that is a flow. */
function addFlowFlags(flow: Representation): Representation {
  const executions = flow.authenticationExecutions
  return {
    ...flow,
    ...(executions && {
      authenticationExecutions: readObjects(executions).map((execution) => ({
        ...execution,
        authenticatorFlow: execution.flowAlias !== undefined,
      })),
    }),
  }
}

import { MASTER } from '../../kinds/built-in/index.ts'
import { isList, isObject, type Representation, readObjects } from '../../kinds/json.ts'
import type { VersionStep } from './version-step.ts'

const ORGANIZATION = 'Organization'

/** Adds the step for organizations to the flow `browser`. Keycloak: MigrateTo26_6_1. */
export const toVersion26_6_1: VersionStep = {
  version: '26.6.1',
  migrate(realm, { warn }) {
    const { authenticationFlows: flows } = realm
    if (!isList(flows) || realm.realm === MASTER) return realm
    const declared = readObjects(flows)
    if (hasAuthenticator(declared, 'browser') || declared.some(({ alias }) => alias === ORGANIZATION)) return realm
    const migrated = flows.map((flow, at) => {
      if (!isObject(flow) || flow.alias !== 'browser') return flow
      const { authenticationExecutions: executions } = flow
      if (!isList(executions)) return flow
      warn(
        ['authenticationFlows', at],
        'flow browser gets the step of organizations, without effect where there are none',
      )
      const step = { flowAlias: ORGANIZATION, requirement: 'ALTERNATIVE', priority: 26 }
      return { ...flow, authenticationExecutions: [...executions, step] }
    })
    return { ...realm, authenticationFlows: migrated }
  },
}

/** Whether a flow or one of its subflows has the authenticator of organizations. */
function hasAuthenticator(flows: readonly Representation[], alias: string, visited = new Set<string>()): boolean {
  if (visited.has(alias)) return false
  visited.add(alias)
  const steps = flows
    .filter((flow) => flow.alias === alias)
    .flatMap((flow) => readObjects(flow.authenticationExecutions))
  return steps.some(
    ({ authenticator, flowAlias }) =>
      authenticator === 'organization' ||
      (typeof flowAlias === 'string' && hasAuthenticator(flows, flowAlias, visited)),
  )
}

import { isList, isObject, type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import type { VersionStep } from './version-step.ts'

const HTTP_CHALLENGE = 'http challenge'

/** Removes the flow `http challenge` unless it is used. Keycloak: MigrateTo22_0_0. */
export const toVersion22: VersionStep = {
  version: '22.0.0',
  migrate(realm, { warn }) {
    const { authenticationFlows: flows } = realm
    if (!isList(flows)) return realm
    const at = flows.findIndex((flow) => isObject(flow) && flow.alias === HTTP_CHALLENGE)
    if (at < 0 || listUsedFlows(realm).has(HTTP_CHALLENGE) || listUsedFlows(realm).has(readObject(flows[at]).id))
      return realm
    warn(['authenticationFlows', at], `flow ${HTTP_CHALLENGE} is removed with its subflows, since it is not used`)
    const removed = listRemovedFlows(readObjects(flows))
    const isRemoved = (flow: Json) => isObject(flow) && removed.has(flow.alias)
    return { ...realm, authenticationFlows: flows.map((flow) => (isRemoved(flow) ? null : flow)) }
  },
}

/** Returns the aliases and ids of the flows that the realm, its clients, identity providers and other flows refer to. */
function listUsedFlows(realm: Representation): ReadonlySet<Json | undefined> {
  const ofRealm = Object.entries(realm).filter(([field]) => field.endsWith('Flow'))
  const ofClients = readObjects(realm.clients).flatMap(({ authenticationFlowBindingOverrides: overrides }) =>
    Object.values(readObject(overrides)),
  )
  const ofProviders = readObjects(realm.identityProviders).flatMap((provider) => [
    provider.firstBrokerLoginFlowAlias,
    provider.postBrokerLoginFlowAlias,
  ])
  const ofFlows = readObjects(realm.authenticationFlows).flatMap(listSubflows)
  return new Set([...ofRealm.map(([, flow]) => flow), ...ofClients, ...ofProviders, ...ofFlows])
}

const listSubflows = ({ authenticationExecutions: executions }: Representation): (Json | undefined)[] =>
  readObjects(executions).flatMap(({ flowAlias = null }) => (flowAlias === null ? [] : [flowAlias]))

/** Returns the aliases of the flow and of the subflows that only it has. */
function listRemovedFlows(flows: readonly Representation[]): ReadonlySet<Json | undefined> {
  const removed = new Set<Json | undefined>([HTTP_CHALLENGE])
  for (const alias of removed) {
    const remaining = new Set(flows.filter((flow) => !removed.has(flow.alias)).flatMap(listSubflows))
    for (const subflow of flows.filter((flow) => flow.alias === alias).flatMap(listSubflows))
      if (!remaining.has(subflow)) removed.add(subflow)
  }
  return removed
}

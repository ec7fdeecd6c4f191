// Resources of authentication flows: flows, subflows, executions and their configs.
import type { Json, Representation } from '../../kinds/json.ts'
import { applied, entries, ignored, positive, type Rules } from './attribute-rules.ts'
import type { ObjectNode } from './object-node.ts'
import { MissingReference, type RealmScope } from './references.ts'
import { inList, type ResourceType, type ResourceTypes } from './resource-type.ts'

const getFlow = (alias: Json | undefined, { node }: RealmScope): ObjectNode =>
  node.getChild('authenticationFlows', String(alias), { alias: alias ?? null })

/** Returns the execution of a resource, in the flow with its parent alias. */
const getExecution: ResourceType['getNode'] = ({ parent_flow_alias: flow, id = null }, realm) =>
  getFlow(flow, realm).getChild('authenticationExecutions', String(id), {})

const execution: Rules = {
  parent_flow_alias: ignored,
  authenticator: 'authenticator',
  requirement: 'requirement',
  priority: positive('priority'),
}

/** Returns the config of an execution, which gets its alias. */
function getConfig({ execution_id: id = null, alias = null }: Representation, realm: RealmScope): ObjectNode {
  const attributes = realm.references.findExecution(id)
  if (!attributes) throw new MissingReference('authenticationFlow', String(id))
  getExecution(attributes, realm).set('authenticatorConfig', alias)
  return realm.node.getChild('authenticatorConfig', String(alias), { alias })
}

/** Resource types of authentication flows. */
export const authenticationTypes: ResourceTypes = {
  keycloak_authentication_flow: {
    kind: 'authenticationFlow',
    getNode: inList('authenticationFlows', ['alias', 'alias'], { topLevel: true, builtIn: false }),
    rules: {},
  },
  keycloak_authentication_subflow: {
    getNode: getExecution,
    rules: {
      ...execution,
      alias: applied((alias, node, { realm }) => {
        node.set('flowAlias', alias)
        getFlow(alias, realm).set('topLevel', false)
      }),
      description: applied((description, _node, { attributes, realm }) =>
        getFlow(attributes.alias, realm).set('description', description),
      ),
      provider_id: applied((type, _node, { attributes, realm }) =>
        getFlow(attributes.alias, realm).set('providerId', type),
      ),
    },
  },
  keycloak_authentication_execution: { getNode: getExecution, rules: execution },
  keycloak_authentication_execution_config: {
    getNode: getConfig,
    rules: { alias: ignored, execution_id: ignored, config: entries(['config']) },
  },
}

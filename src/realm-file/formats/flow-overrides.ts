// Flows of clients: Keycloak writes their ids, Regent their aliases.
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { FormatConverter } from './format-converter.ts'

const OVERRIDES = 'authenticationFlowBindingOverrides'

/** Flow overrides of clients that name flows of the document by id, read as aliases. */
export const flowOverrides: FormatConverter = {
  read(realm) {
    const { authenticationFlows: flows, clients } = realm
    if (!Array.isArray(flows) || !Array.isArray(clients)) return realm
    return { ...realm, clients: withFlowAliases(clients, flows.filter(isObject)) }
  },
  write: (realm) => realm,
}

/** Returns the clients with the aliases of these flows in place of their ids. What is no id of a flow stays. */
export function withFlowAliases(clients: readonly Json[], flows: readonly Representation[]): Json[] {
  const aliases = new Set(flows.map(({ alias }) => alias))
  const byId = new Map(flows.map(({ id, alias }) => [id, alias]))
  const aliasOf = (flow: Json) => (aliases.has(flow) ? flow : (byId.get(flow) ?? flow))
  return clients.map((client) => {
    if (!isObject(client) || !isObject(client[OVERRIDES] ?? null)) return client
    const overrides = Object.entries(client[OVERRIDES] as Representation).map(([binding, flow]) => [
      binding,
      aliasOf(flow),
    ])
    return { ...client, [OVERRIDES]: Object.fromEntries(overrides) }
  })
}

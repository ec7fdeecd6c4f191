// Flow overrides of clients: Keycloak writes the ids of flows, and Regent their aliases.
import { isList, isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { FormatConverter } from './format-converter.ts'

const OVERRIDES = 'authenticationFlowBindingOverrides'

/** Replaces flow ids in the flow overrides of clients with aliases. */
export const flowOverrides: FormatConverter = {
  read(realm) {
    const { authenticationFlows: flows, clients } = realm
    if (!isList(flows) || !isList(clients)) return realm
    return { ...realm, clients: replaceFlowIds(clients, flows.filter(isObject)) }
  },
  write: (realm) => realm,
}

/** Replaces the ids of these flows in the overrides of clients with their aliases. */
export function replaceFlowIds(clients: readonly Json[], flows: readonly Representation[]): Json[] {
  const aliases = new Set(flows.map(({ alias }) => alias))
  const aliasesById = new Map(flows.map(({ id, alias }) => [id, alias]))
  const toAlias = (flow: Json) => (aliases.has(flow) ? flow : (aliasesById.get(flow) ?? flow))
  return clients.map((client) => {
    if (!isObject(client) || !isObject(client[OVERRIDES])) return client
    const overrides = Object.entries(client[OVERRIDES]).map(([binding, flow]) => [binding, toAlias(flow)])
    return { ...client, [OVERRIDES]: Object.fromEntries(overrides) }
  })
}

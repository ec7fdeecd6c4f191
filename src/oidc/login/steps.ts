// The flows of a realm as trees of steps.
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../../service/context/context.ts'
import { listObjects } from '../../service/objects/live.ts'
import { listFlows } from '../../service/realms/authentication-executions.ts'
import type { Step } from './flow.ts'
import { type Login, reading } from './login.ts'
import { type Binding, bindings } from './session/state.ts'

/** Keycloak: what clients call the flows that they may replace. */
const overrides: Partial<Record<Binding, string>> = { browser: 'browser', directGrant: 'direct_grant' }

/** The steps of the flow that the realm, or the client in its place, has for the purpose. Three statements. */
async function stepsOf(
  context: Context,
  settings: Representation,
  client: Representation,
  binding: Binding,
): Promise<readonly Step[]> {
  const own = (client.authenticationFlowBindingOverrides ?? {}) as Record<string, string>
  const override = overrides[binding]
  const alias = (override && own[override]) ?? settings[bindings[binding]]
  const flows = await listFlows(context, {})
  const configs = new Map((await listObjects(context, 'authenticatorConfig', {})).map((live) => [live.id, live]))
  const below = (id: string): Step[] =>
    flows
      .find(({ live }) => live.id === id)!
      .executions.map(({ id, authenticator, subFlow, config, body }) => ({
        id,
        requirement: String(body.requirement ?? 'REQUIRED'),
        ...(authenticator !== null && { authenticator }),
        config: (config ? (configs.get(config.id)?.representation.config ?? {}) : {}) as Record<string, string>,
        steps: subFlow ? below(subFlow.id) : [],
      }))
  const flow = flows.find(({ live }) => live.key[0] === alias)
  return flow ? below(flow.live.id) : []
}

/** The steps of the flow of a log-in. Three statements. */
export function flowOf(login: Login): Promise<readonly Step[]> {
  const { realm, client, state } = login
  return reading(login, (context) => stepsOf(context, realm.settings, client.representation, state.binding))
}

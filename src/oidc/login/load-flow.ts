// The authentication flows of a realm, as trees of steps.
import { readText, readTextMap } from '../../kinds/json.ts'
import type { Context } from '../../service/context/context.ts'
import { listObjects } from '../../service/objects/live-objects.ts'
import { listFlows } from '../../service/realms/authentication-executions.ts'
import { viewClient } from '../views.ts'
import type { FlowStep } from './flow.ts'
import { type Login, readRealm } from './login.ts'
import { type FlowBinding, flowBindings } from './session/login-state.ts'

/** The keys of a client's flow overrides, by flow binding. */
const overrideKeys: Partial<Record<FlowBinding, string>> = { browser: 'browser', directGrant: 'direct_grant' }

/** Loads the steps of a login's flow. Three statements. */
export function loadFlow(login: Login): Promise<readonly FlowStep[]> {
  return readRealm(login, (context) => readFlow(context, findFlowAlias(login)))
}

/** Returns the alias of the flow: that of the client, or of the realm. */
function findFlowAlias({ realm, client, state: { binding } }: Login): string | undefined {
  const overrideKey = overrideKeys[binding]
  const override = overrideKey && viewClient(client).authenticationFlowBindingOverrides?.[overrideKey]
  return override ?? realm.settings[flowBindings[binding]]
}

/** Reads the steps of a flow; none if the realm does not have it. Three statements. */
export async function readFlow(context: Context, alias: string | undefined): Promise<readonly FlowStep[]> {
  const flows = await listFlows(context, {})
  const configs = new Map((await listObjects(context, 'authenticatorConfig', {})).map((live) => [live.id, live]))
  const listSteps = (flowId: string): FlowStep[] =>
    flows
      .find(({ live }) => live.id === flowId)!
      .executions.map(({ id, authenticator, subFlow, config, body }) => ({
        id,
        requirement: readText(body.requirement) ?? 'REQUIRED',
        ...(authenticator !== null && { authenticator }),
        config: readTextMap(config ? configs.get(config.id)?.representation.config : undefined),
        steps: subFlow ? listSteps(subFlow.id) : [],
      }))
  const flow = flows.find(({ live }) => live.key[0] === alias)
  return flow ? listSteps(flow.live.id) : []
}

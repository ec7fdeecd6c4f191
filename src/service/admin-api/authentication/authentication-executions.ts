// What REST shows of the executions of authentication flows.
import { requirements } from '../../../kinds/authentication-flow.ts'
import { allStepProviders, flowTypes, type StepProvider } from '../../../kinds/authentication-providers.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { StoredExecution } from '../../../store/authentication-flows.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { demand } from '../../permissions/administrators.ts'
import type { Flow } from '../../realms/authentication-executions.ts'
import { type Flows, readFlows } from './authentication-flows.ts'

/** An execution, and the flow that it is a step of. */
export interface Found {
  readonly flow: Flow
  readonly execution: StoredExecution
}

/** The execution with that id. Throws not_found. */
export function executionIn({ byId }: Flows, id: string | null | undefined): Found {
  for (const flow of byId.values()) {
    const execution = flow.executions.find((one) => one.id === id)
    if (execution) return { flow, execution }
  }
  throw failure('not_found', 'Illegal execution')
}

/** All steps of a flow, each flow followed by what it consists of. */
export async function listExecutions(context: Context, alias: string): Promise<Representation[]> {
  demand(context, 'view-realm')
  const flows = await readFlows(context)
  const flow = flows.byAlias.get(alias)
  if (!flow) throw failure('not_found', 'Flow not found')
  return infos(flows, flow, 0)
}

/** The execution with that id. */
export async function getExecution(context: Context, id: string): Promise<Representation> {
  demand(context, 'view-realm')
  const { flow, execution } = executionIn(await readFlows(context), id)
  const { authenticator, subFlow, config, body } = execution
  return {
    id,
    parentFlow: flow.live.id,
    ...(authenticator !== null && { authenticator }),
    ...(config && { authenticatorConfig: config.id }),
    ...(subFlow && { flowId: subFlow.id }),
    authenticatorFlow: subFlow !== null,
    autheticatorFlow: subFlow !== null,
    requirement: body.requirement!,
    priority: body.priority!,
  }
}

/** What is known of a step's provider. Of a custom one nothing: it may mean anything and have any settings. */
export function providerOf({ authenticator }: StoredExecution): StepProvider | undefined {
  return authenticator === null ? undefined : allStepProviders.get(authenticator)
}

function infos(flows: Flows, flow: Flow, level: number): Representation[] {
  return flow.executions.flatMap((execution, index) => {
    const { id, authenticator, subFlow, config, body } = execution
    const common = { id, requirement: body.requirement!, level, index, priority: body.priority! }
    const settings = config && { authenticationConfig: config.id }
    if (!subFlow) return [{ ...common, ...settings, ...stepInfo(execution) }]
    const part = flows.byId.get(subFlow.id)!
    const { description, providerId } = part.live.representation
    const info = {
      ...common,
      ...settings,
      displayName: subFlow.alias,
      ...(description !== undefined && { description }),
      requirementChoices: flowTypes.get(String(providerId))?.requirements ?? [],
      configurable: false,
      authenticationFlow: true,
      ...(authenticator !== null && { providerId: authenticator }),
      flowId: subFlow.id,
    }
    return [info, ...infos(flows, part, level + 1)]
  })
}

function stepInfo(execution: StoredExecution): Representation {
  const provider = providerOf(execution)
  const configurable = provider ? provider.config.length > 0 : true
  return {
    displayName: provider?.displayName ?? execution.authenticator!,
    requirementChoices: [...(provider?.requirements ?? requirements)],
    configurable,
    providerId: execution.authenticator!,
    ...(configurable && execution.config && { alias: execution.config.alias }),
  }
}

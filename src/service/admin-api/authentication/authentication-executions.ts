// Reads the executions of authentication flows, as REST lists them.
import { requirements } from '../../../kinds/authentication-flow.ts'
import { allStepProviders, flowTypes, type StepProvider } from '../../../kinds/authentication-providers.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { StoredExecution } from '../../../store/authentication-flows.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import type { FlowWithExecutions } from '../../realms/authentication-executions.ts'
import { type FlowIndex, indexFlows } from './authentication-flows.ts'

/** An execution, and the flow that it is a step of. */
export interface ExecutionInFlow {
  readonly flow: FlowWithExecutions
  readonly execution: StoredExecution
}

/** Returns the execution with that id, with its flow. Throws not_found. */
export function getExecutionInFlow({ byId }: FlowIndex, id: string | null | undefined): ExecutionInFlow {
  for (const flow of byId.values()) {
    const execution = flow.executions.find((candidate) => candidate.id === id)
    if (execution) return { flow, execution }
  }
  throw failure('not_found', 'Illegal execution')
}

/** Lists all steps of a flow, each sub-flow followed by its own steps. */
export async function listExecutions(context: Context, alias: string): Promise<Representation[]> {
  requirePermissions(context, 'view-realm')
  const flows = await indexFlows(context)
  const flow = flows.byAlias.get(alias)
  if (!flow) throw failure('not_found', 'Flow not found')
  return listStepInfos(flows, flow, 0)
}

/** Returns the representation of the execution with that id. Throws not_found. */
export async function getExecution(context: Context, id: string): Promise<Representation> {
  requirePermissions(context, 'view-realm')
  const { flow, execution } = getExecutionInFlow(await indexFlows(context), id)
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

/** Returns the provider of a step, or undefined for a custom one: Regent does not know its settings. */
function findStepProvider({ authenticator }: StoredExecution): StepProvider | undefined {
  return authenticator === null ? undefined : allStepProviders.get(authenticator)
}

function listStepInfos(flows: FlowIndex, flow: FlowWithExecutions, level: number): Representation[] {
  return flow.executions.flatMap((execution, index) => {
    const { id, authenticator, subFlow, config, body } = execution
    const common = { id, requirement: body.requirement!, level, index, priority: body.priority! }
    const settings = config && { authenticationConfig: config.id }
    if (!subFlow) return [{ ...common, ...settings, ...describeStep(execution) }]
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
    return [info, ...listStepInfos(flows, part, level + 1)]
  })
}

function describeStep(execution: StoredExecution): Representation {
  const provider = findStepProvider(execution)
  const configurable = provider ? provider.config.length > 0 : true
  return {
    displayName: provider?.displayName ?? execution.authenticator!,
    requirementChoices: [...(provider?.requirements ?? requirements)],
    configurable,
    providerId: execution.authenticator!,
    ...(configurable && execution.config && { alias: execution.config.alias }),
  }
}

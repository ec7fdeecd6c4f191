// The executions of authentication flows: an ordered list, stored in its own table and edited in place with stable ids.
import { randomUUID } from 'node:crypto'
import { type Representation, readText } from '../../kinds/json.ts'
import {
  deleteExecutions,
  type ExecutionRow,
  findFlowCycle,
  type StoredExecution,
  selectExecutions,
  upsertExecutions,
} from '../../store/authentication-flows.ts'
import type { ObjectFilter } from '../../store/object-filter.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { invalidObject } from '../context/errors.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { getIdsByKey } from '../objects/references.ts'

/** The field of a flow's representation that holds its executions. An element of it is called a step here. */
export const EXECUTIONS = 'authenticationExecutions'

/** A flow with its stored executions; its representation contains the steps. */
export interface FlowWithExecutions {
  readonly live: LiveObject
  readonly executions: readonly StoredExecution[]
}

/** The existing and the desired executions of a flow. */
export interface ExecutionsEdit {
  readonly flow: Pick<LiveObject, 'id' | 'key'>
  /** The desired steps. The id of a step is that of the existing execution, or the requested id of a new one. */
  readonly steps: readonly Representation[]
  readonly existing: readonly StoredExecution[]
}

/** Lists flows with their executions. Two statements. */
export async function listFlows(context: Context, filter: ObjectFilter): Promise<FlowWithExecutions[]> {
  const flows = await listObjects(context, 'authenticationFlow', filter)
  const executions = await getExecutionsByFlow(context, flows)
  return flows.map((flow) => {
    const ofFlow = executions.get(flow.id) ?? []
    return {
      live: { ...flow, representation: { ...flow.representation, [EXECUTIONS]: ofFlow.map(toStep) } },
      executions: ofFlow,
    }
  })
}

/** Returns the executions of flows, in order, by id of the flow. One statement. */
export async function getExecutionsByFlow(
  { tx, realm }: Context,
  flows: readonly LiveObject[],
): Promise<Map<string, StoredExecution[]>> {
  const ids = flows.map(({ id }) => id)
  return Map.groupBy(ids.length ? await selectExecutions(tx, realm.number, ids) : [], ({ flow }) => flow)
}

/** Converts an execution to a step of its flow's representation. */
export function toStep({ authenticator, subFlow, config, body }: StoredExecution): Representation {
  return {
    ...(authenticator !== null && { authenticator }),
    ...(subFlow && { flowAlias: subFlow.alias }),
    ...(config && { authenticatorConfig: config.alias }),
    ...body,
  }
}

/**
 * Replaces the executions of flows. Executions that remain keep their ids, so that logins in progress can continue. Five
 * statements.
 *
 * @throws invalid where a step is incomplete, refers to an object that does not exist, or makes a flow contain itself.
 */
export async function writeExecutions(context: WriteContext, edits: readonly ExecutionsEdit[]): Promise<void> {
  const { tx, realm } = context
  const steps = edits.flatMap((edit) => edit.steps)
  const flows = await getIdsByKey(context, 'authenticationFlow', listReferences(steps, 'flowAlias'))
  const configs = await getIdsByKey(context, 'authenticatorConfig', listReferences(steps, 'authenticatorConfig'))
  const rows = toExecutionRows(edits, flows, configs)
  const remaining = new Set(rows.map(({ id }) => id))
  const removed = edits.flatMap(({ existing }) => existing.map(({ id }) => id).filter((id) => !remaining.has(id)))
  if (removed.length) await deleteExecutions(tx, realm.number, removed)
  if (rows.length) await upsertExecutions(tx, realm.number, rows)
  const cycle = flows.size ? await findFlowCycle(tx, realm.number, [...flows.values()]) : undefined
  if (cycle !== undefined) throw invalidExecutions(`Authentication flow "${cycle}" would contain itself`)
}

/**
 * Returns the rows of all executions. `flows` and `configs` hold the ids of what steps refer to, by natural key as JSON.
 * Throws invalid where a step is incomplete.
 */
export function toExecutionRows(
  edits: readonly ExecutionsEdit[],
  flows: ReadonlyMap<string, string>,
  configs: ReadonlyMap<string, string>,
): ExecutionRow[] {
  for (const { flow, steps } of edits) for (const step of steps) checkStep(flow, step)
  return edits.flatMap(({ flow, steps, existing }) => {
    const ids = assignIds(steps, existing)
    return sortByPriority(steps).map(([step, priority], position): ExecutionRow => {
      const { id: _, authenticator, flowAlias = null, authenticatorConfig = null, ...rest } = step
      return {
        id: ids.get(step)!,
        flow: flow.id,
        position,
        authenticator: readText(authenticator) ?? null,
        sub_flow: flowAlias === null ? null : flows.get(JSON.stringify([flowAlias]))!,
        config: authenticatorConfig === null ? null : configs.get(JSON.stringify([authenticatorConfig]))!,
        body: { userSetupAllowed: false, ...rest, priority },
      }
    })
  })
}

/** Adds default values to steps, and sorts them by priority. */
export function withStepDefaults(steps: readonly Representation[]): Representation[] {
  return sortByPriority(steps).map(([step, priority]) => ({ userSetupAllowed: false, ...step, priority }))
}

function checkStep({ key: [alias] }: Pick<LiveObject, 'key'>, { authenticator, flowAlias }: Representation): void {
  if (authenticator || flowAlias) return
  throw invalidExecutions(`Authentication flow "${alias}": a step has neither an authenticator nor a flowAlias`)
}

const invalidExecutions = (message: string) => invalidObject({ message, field: 'authenticationExecutions' })

/**
 * Returns the steps with their priorities, sorted by them. If no step has a priority, they are numbered in their order;
 * otherwise a missing priority is 0, as in Keycloak.
 */
function sortByPriority(steps: readonly Representation[]): [step: Representation, priority: number][] {
  const isNumbered = steps.every(({ priority }) => (priority ?? null) === null)
  return steps
    .map((step, at): [Representation, number] => [step, isNumbered ? (at + 1) * 10 : Number(step.priority ?? 0)])
    .sort(([, a], [, b]) => a - b)
}

/**
 * Returns the id of each step: its own, else that of the first unused execution of the same authenticator or flow, else a
 * new one.
 */
function assignIds(
  steps: readonly Representation[],
  existing: readonly StoredExecution[],
): Map<Representation, string> {
  const requestedIds = new Set(steps.map(({ id }) => id))
  const unused = existing.filter(({ id }) => !requestedIds.has(id))
  return new Map(
    steps.map((step) => {
      if (typeof step.id === 'string') return [step, step.id]
      const at = unused.findIndex((execution) => toIdentity(toStep(execution)) === toIdentity(step))
      return [step, at < 0 ? randomUUID() : unused.splice(at, 1)[0]!.id]
    }),
  )
}

/** Returns a text that is the same for steps with the same authenticator or flow, whatever their settings. */
function toIdentity(step: Representation): string {
  return JSON.stringify([step.authenticator ?? null, step.flowAlias ?? null])
}

function listReferences(steps: readonly Representation[], field: 'flowAlias' | 'authenticatorConfig'): [string][] {
  const names = new Set(steps.flatMap((step) => readText(step[field]) ?? []))
  return [...names].map((name) => [name])
}

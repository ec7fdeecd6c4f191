// The executions of authentication flows: an ordered list in a table of its own, edited in place with stable ids.
import { randomUUID } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import {
  deleteExecutions,
  type ExecutionRow,
  findCycle,
  type StoredExecution,
  selectExecutions,
  upsertExecutions,
} from '../../store/authentication-flows.ts'
import type { ObjectFilter } from '../../store/object-filter.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'
import { idsOf } from '../objects/references.ts'

/** The field of a flow that holds its steps. */
export const EXECUTIONS = 'authenticationExecutions'

/** A flow with its executions; the representation has them as steps. */
export interface Flow {
  readonly live: LiveObject
  readonly executions: readonly StoredExecution[]
}

/** What an update makes of the executions of a flow. */
export interface Edit {
  readonly flow: Pick<LiveObject, 'id' | 'key'>
  /** Steps as documents state them. A step may have an id: of the execution that it is, or the wish of a new one. */
  readonly stated: readonly Representation[]
  readonly live: readonly StoredExecution[]
}

/** The flows with their executions. Two statements. */
export async function listFlows(context: Context, filter: ObjectFilter): Promise<Flow[]> {
  const flows = await listObjects(context, 'authenticationFlow', filter)
  const executions = await executionsOf(context, flows)
  return flows.map((flow) => {
    const own = executions.get(flow.id) ?? []
    return {
      live: { ...flow, representation: { ...flow.representation, [EXECUTIONS]: own.map(stepOf) } },
      executions: own,
    }
  })
}

/** The executions of the flows, by id of the flow. One statement. */
export async function executionsOf(
  { tx, realm }: Context,
  flows: readonly LiveObject[],
): Promise<Map<string, StoredExecution[]>> {
  const ids = flows.map(({ id }) => id)
  return Map.groupBy(ids.length ? await selectExecutions(tx, realm.number, ids) : [], ({ flow }) => flow)
}

/** An execution as a step of its flow's representation. */
export function stepOf({ authenticator, subFlow, config, body }: StoredExecution): Representation {
  return {
    ...(authenticator !== null && { authenticator }),
    ...(subFlow && { flowAlias: subFlow.alias }),
    ...(config && { authenticatorConfig: config.alias }),
    ...body,
  }
}

/**
 * Makes the executions of each flow what is stated. An execution that stays keeps its id, so that a login in flight goes on.
 * Throws invalid where a step cannot be one, names what is not there, or makes a flow a part of itself. Five statements.
 */
export async function writeExecutions(context: WriteContext, edits: readonly Edit[]): Promise<void> {
  const { tx, realm } = context
  const steps = edits.flatMap(({ stated }) => stated)
  const flows = await idsOf(context, 'authenticationFlow', named(steps, 'flowAlias'))
  const configs = await idsOf(context, 'authenticatorConfig', named(steps, 'authenticatorConfig'))
  const rows = executionRows(edits, flows, configs)
  const kept = new Set(rows.map(({ id }) => id))
  const gone = edits.flatMap(({ live }) => live.map(({ id }) => id).filter((id) => !kept.has(id)))
  if (gone.length) await deleteExecutions(tx, realm.number, gone)
  if (rows.length) await upsertExecutions(tx, realm.number, rows)
  const cycle = flows.size ? await findCycle(tx, realm.number, [...flows.values()]) : undefined
  if (cycle !== undefined) throw failure('invalid', `authentication flow ${cycle} would be a part of itself`)
}

/** The executions of flows; ids of flows and settings by natural key. Throws invalid where a step cannot be one. Pure. */
export function executionRows(
  edits: readonly Edit[],
  flows: ReadonlyMap<string, string>,
  configs: ReadonlyMap<string, string>,
): ExecutionRow[] {
  for (const { flow, stated } of edits) for (const step of stated) checkStep(flow, step)
  return edits.flatMap(({ flow, stated, live }) => {
    const ids = identify(stated, live)
    return ordered(stated).map(([step, priority], place): ExecutionRow => {
      const { id: _, authenticator = null, flowAlias = null, authenticatorConfig = null, ...rest } = step
      return {
        id: ids.get(step)!,
        flow: flow.id,
        place,
        authenticator: authenticator as string | null,
        sub_flow: flowAlias === null ? null : flows.get(JSON.stringify([flowAlias]))!,
        config: authenticatorConfig === null ? null : configs.get(JSON.stringify([authenticatorConfig]))!,
        body: { userSetupAllowed: false, ...rest, priority },
      }
    })
  })
}

/** Steps with what they have that state nothing of it. */
export function completed(steps: readonly Representation[]): Representation[] {
  return ordered(steps).map(([step, priority]) => ({ userSetupAllowed: false, ...step, priority }))
}

function checkStep({ key: [alias] }: Pick<LiveObject, 'key'>, { authenticator, flowAlias }: Representation): void {
  if (authenticator || flowAlias) return
  throw failure('invalid', `a step of authentication flow ${alias} names neither an authenticator nor a flow`)
}

/**
 * The steps in the order of their priorities, with these. Where none states one, they count up; otherwise a step
 * without one has 0, as in the reference server.
 */
function ordered(steps: readonly Representation[]): [step: Representation, priority: number][] {
  const counted = steps.every(({ priority }) => (priority ?? null) === null)
  return steps
    .map((step, at): [Representation, number] => [step, counted ? (at + 1) * 10 : Number(step.priority ?? 0)])
    .sort(([, a], [, b]) => a - b)
}

/** The id of each step: that of the execution which it is. The same authenticator may stand twice, then in order. */
function identify(steps: readonly Representation[], live: readonly StoredExecution[]): Map<Representation, string> {
  const meant = new Set(steps.map(({ id }) => id))
  const free = live.filter(({ id }) => !meant.has(id))
  return new Map(
    steps.map((step) => {
      if (typeof step.id === 'string') return [step, step.id]
      const at = free.findIndex((one) => nameOf(stepOf(one)) === nameOf(step))
      return [step, at < 0 ? randomUUID() : free.splice(at, 1)[0]!.id]
    }),
  )
}

/** What an execution is, apart from its settings. */
function nameOf(step: Representation): string {
  return JSON.stringify([step.authenticator ?? null, step.flowAlias ?? null])
}

function named(steps: readonly Representation[], member: string): [string][] {
  const names = steps.map((step) => step[member]).filter((name) => name !== undefined && name !== null)
  return [...new Set(names as string[])].map((name) => [name])
}

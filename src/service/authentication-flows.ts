// Authentication flows: their executions are an ordered list in a table of its own, edited in place with stable ids.
import { randomUUID } from 'node:crypto'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
import {
  deleteExecutions,
  type ExecutionRow,
  type StoredExecution,
  selectExecutions,
  selectFlowsNaming,
  upsertExecutions,
} from '../store/authentication-flows.ts'
import { touchObjects } from '../store/objects.ts'
import { type Context, journal, type WriteContext } from './context.ts'
import { deleteAll } from './deletion.ts'
import { type LiveObject, listObjects } from './live.ts'
import { createObjects, plain, type Update, updateAll, type Writers } from './objects.ts'
import { idsOf } from './references.ts'

const kind = kinds.authenticationFlow
const EXECUTIONS = 'authenticationExecutions'
const plainConfigs = plain('authenticatorConfig')

/** The writers of authentication flows. */
export const authenticationFlows: Writers = {
  async list(context, filter) {
    const flows = await listObjects(context, kind.name, filter)
    const executions = await executionsOf(context, flows)
    return flows.map((flow) => ({
      ...flow,
      representation: { ...flow.representation, [EXECUTIONS]: (executions.get(flow.id) ?? []).map(representation) },
    }))
  },
  async create(context, objects) {
    const created = await createObjects(context, kind.name, objects)
    await writeExecutions(
      context,
      created.map((flow) => ({ flow, stated: stepsOf(flow), live: [] })),
    )
    return created
  },
  async update(context, updates) {
    await journalSteps(context, 'sub_flow', renamed(updates))
    const updated = await updateAll(context, kind.name, updates)
    const edited = updates.filter(({ set }) => EXECUTIONS in set)
    if (!edited.length) return updated
    const live = await executionsOf(
      context,
      edited.map((update) => update.live),
    )
    await writeExecutions(
      context,
      edited.map(({ live: flow, set }) => ({
        flow,
        stated: (set[EXECUTIONS] ?? []) as Representation[],
        live: live.get(flow.id) ?? [],
      })),
    )
    return updated
  },
  async delete(context, objects) {
    await journalSteps(context, 'sub_flow', objects)
    await deleteAll(context, kind.name, objects)
  },
}

/** The writers of the settings of steps. */
export const authenticatorConfigs: Writers = {
  ...plainConfigs,
  async update(context, updates) {
    await journalSteps(context, 'config', renamed(updates))
    return plainConfigs.update(context, updates)
  },
  async delete(context, objects) {
    await journalSteps(context, 'config', objects)
    await plainConfigs.delete(context, objects)
  },
}

function renamed(updates: readonly Update[]): LiveObject[] {
  return updates.filter(({ live, set }) => 'alias' in set && set.alias !== live.key[0]).map(({ live }) => live)
}

/** Journals the flows whose steps name the objects, which are about to go or to be called otherwise. */
async function journalSteps(
  context: WriteContext,
  column: 'sub_flow' | 'config',
  objects: readonly LiveObject[],
): Promise<void> {
  const { tx, realm, version } = context
  if (!objects.length) return
  const ids = objects.map(({ id }) => id)
  const owners = await selectFlowsNaming(tx, realm.number, column, ids)
  const staying = owners.filter((id) => column === 'config' || !ids.includes(id))
  if (!staying.length) return
  await touchObjects(tx, realm.number, kind.name, version, staying)
  for (const flow of await authenticationFlows.list(context, { ids: staying })) {
    journal(context, 'update', kind.name, flow, { [EXECUTIONS]: flow.representation[EXECUTIONS]! })
  }
}

interface Edit {
  readonly flow: LiveObject
  readonly stated: readonly Representation[]
  readonly live: readonly StoredExecution[]
}

async function executionsOf(context: Context, flows: readonly LiveObject[]): Promise<Map<string, StoredExecution[]>> {
  const rows = flows.length
    ? await selectExecutions(
        context.tx,
        context.realm.number,
        flows.map(({ id }) => id),
      )
    : []
  return Map.groupBy(rows, ({ flow }) => flow)
}

/** Makes the executions of each flow what is stated. An execution that stays keeps its id, so that a login in flight goes on. */
async function writeExecutions(context: WriteContext, edits: readonly Edit[]): Promise<void> {
  const { tx, realm } = context
  const steps = edits.flatMap(({ stated }) => stated)
  const flows = await idsOf(context, kind.name, named(steps, 'flowAlias'))
  const configs = await idsOf(context, 'authenticatorConfig', named(steps, 'authenticatorConfig'))
  const rows = edits.flatMap(({ flow, stated, live }) => {
    const free = [...live]
    return stated.map((step, place): ExecutionRow => {
      const at = free.findIndex((one) => stepName(representation(one)) === stepName(step))
      const [kept] = at < 0 ? [] : free.splice(at, 1)
      const { authenticator = null, flowAlias = null, authenticatorConfig = null, ...rest } = step
      return {
        id: kept?.id ?? randomUUID(),
        flow: flow.id,
        place,
        authenticator: authenticator as string | null,
        sub_flow: flowAlias === null ? null : flows.get(JSON.stringify([flowAlias]))!,
        config: authenticatorConfig === null ? null : configs.get(JSON.stringify([authenticatorConfig]))!,
        body: { priority: (place + 1) * 10, userSetupAllowed: false, ...rest },
      }
    })
  })
  const kept = new Set(rows.map(({ id }) => id))
  const gone = edits.flatMap(({ live }) => live.filter(({ id }) => !kept.has(id)))
  if (gone.length)
    await deleteExecutions(
      tx,
      realm.number,
      gone.map(({ id }) => id),
    )
  if (rows.length) await upsertExecutions(tx, realm.number, rows)
}

/** What an execution is, apart from its settings: the same authenticator may stand twice, then in order. */
function stepName(step: Representation): string {
  return JSON.stringify([step.authenticator ?? null, step.flowAlias ?? null])
}

function named(steps: readonly Representation[], member: string): [string][] {
  const names = steps.map((step) => step[member]).filter((name) => name !== undefined && name !== null)
  return [...new Set(names as string[])].map((name) => [name])
}

function stepsOf(flow: LiveObject): Representation[] {
  return (flow.representation[EXECUTIONS] ?? []) as Representation[]
}

/** An execution as a step of its flow's representation. */
function representation({ authenticator, subFlow, config, body }: StoredExecution): Representation {
  return {
    ...(authenticator !== null && { authenticator }),
    ...(subFlow && { flowAlias: subFlow.alias }),
    ...(config && { authenticatorConfig: config.alias }),
    ...body,
  }
}

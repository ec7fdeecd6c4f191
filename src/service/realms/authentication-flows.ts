// Authentication flows with their executions, and the settings of these.
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { selectFlowsNaming } from '../../store/authentication-flows.ts'
import { touchObjects } from '../../store/objects.ts'
import type { WriteContext } from '../context/context.ts'
import { journal } from '../journal/journal.ts'
import { deleteAll } from '../objects/deletion.ts'
import type { LiveObject } from '../objects/live.ts'
import { createObjects, plain, updateAll } from '../objects/objects.ts'
import type { Update, Writers } from '../objects/writers.ts'
import { completed, EXECUTIONS, executionsOf, listFlows, writeExecutions } from './authentication-executions.ts'

const kind = kinds.authenticationFlow
const plainConfigs = plain('authenticatorConfig')

/** The writers of authentication flows. A step may have the id of the execution that it is, or is to be. */
export const authenticationFlows: Writers = {
  async list(context, filter) {
    return (await listFlows(context, filter)).map(({ live }) => live)
  },
  async create(context, objects) {
    const created = await createObjects(context, kind.name, objects)
    await writeExecutions(
      context,
      created.map((flow) => ({ flow, stated: (flow.representation[EXECUTIONS] ?? []) as Representation[], live: [] })),
    )
    return created
  },
  additions: () => (stated) => ({
    [EXECUTIONS]: completed((stated[EXECUTIONS] ?? []) as Representation[]),
  }),
  async update(context, updates) {
    await journalSteps(context, 'sub_flow', renamed(updates))
    const updated = await updateAll(context, kind.name, updates.map(withoutIds))
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
  const owners = await selectFlowsNaming(tx, realm.number, { column, targets: ids })
  const staying = owners.filter((id) => column === 'config' || !ids.includes(id))
  if (!staying.length) return
  await touchObjects(tx, realm.number, { kind: kind.name, version, ids: staying })
  for (const flow of await authenticationFlows.list(context, { ids: staying })) {
    journal(context, 'update', kind.name, flow, { [EXECUTIONS]: flow.representation[EXECUTIONS]! })
  }
}

/** Ids say which execution is meant; nothing compares them. */
function withoutIds(update: Update): Update {
  if (!(EXECUTIONS in update.set)) return update
  const steps = ((update.set[EXECUTIONS] ?? []) as Representation[]).map(({ id: _, ...step }) => step)
  return { ...update, set: { ...update.set, [EXECUTIONS]: steps } }
}

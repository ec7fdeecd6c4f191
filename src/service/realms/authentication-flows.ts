// The writers of authentication flows with their executions, and of the configs of executions.
import { kinds } from '../../kinds/index.ts'
import { readObjects } from '../../kinds/json.ts'
import { selectReferringFlows } from '../../store/authentication-flows.ts'
import { updateVersions } from '../../store/objects.ts'
import type { WriteContext } from '../context/context.ts'
import { recordEntry } from '../journal/journal.ts'
import { deleteObjectsWithDependents } from '../objects/deletion.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { createObjects, createPlainWriters, updateLiveObjects } from '../objects/plain-writers.ts'
import type { ObjectUpdate, Writers } from '../objects/writers.ts'
import {
  EXECUTIONS,
  getExecutionsByFlow,
  listFlows,
  withStepDefaults,
  writeExecutions,
} from './authentication-executions.ts'

const kind = kinds.authenticationFlow
const plainConfigs = createPlainWriters('authenticatorConfig')

/** The writers of authentication flows. The id of a step is that of its execution, or the requested id of a new one. */
export const authenticationFlows: Writers = {
  async list(context, filter) {
    return (await listFlows(context, filter)).map(({ live }) => live)
  },
  async create(context, objects) {
    const created = await createObjects(context, kind.name, objects)
    await writeExecutions(
      context,
      created.map((flow) => ({ flow, steps: readObjects(flow.representation[EXECUTIONS]), existing: [] })),
    )
    return created
  },
  getCreationDefaults: () => (declared) => ({ [EXECUTIONS]: withStepDefaults(readObjects(declared[EXECUTIONS])) }),
  async update(context, updates) {
    await recordReferringFlows(context, 'sub_flow', listRenamed(updates))
    const updated = await updateLiveObjects(context, kind.name, updates.map(withoutStepIds))
    const edited = updates.filter(({ set }) => EXECUTIONS in set)
    if (!edited.length) return updated
    const executions = await getExecutionsByFlow(
      context,
      edited.map(({ live }) => live),
    )
    await writeExecutions(
      context,
      edited.map(({ live: flow, set }) => ({
        flow,
        steps: readObjects(set[EXECUTIONS]),
        existing: executions.get(flow.id) ?? [],
      })),
    )
    return updated
  },
  async delete(context, objects) {
    await recordReferringFlows(context, 'sub_flow', objects)
    await deleteObjectsWithDependents(context, kind.name, objects)
  },
}

/** The writers of the configs of executions. */
export const authenticatorConfigs: Writers = {
  ...plainConfigs,
  async update(context, updates) {
    await recordReferringFlows(context, 'config', listRenamed(updates))
    return plainConfigs.update(context, updates)
  },
  async delete(context, objects) {
    await recordReferringFlows(context, 'config', objects)
    await plainConfigs.delete(context, objects)
  },
}

function listRenamed(updates: readonly ObjectUpdate[]): LiveObject[] {
  return updates.filter(({ live, set }) => 'alias' in set && set.alias !== live.key[0]).map(({ live }) => live)
}

/** Records in the journal the flows whose steps refer to objects that are about to be deleted or renamed. */
async function recordReferringFlows(
  context: WriteContext,
  column: 'sub_flow' | 'config',
  objects: readonly LiveObject[],
): Promise<void> {
  const { tx, realm, version } = context
  if (!objects.length) return
  const ids = objects.map(({ id }) => id)
  const referring = await selectReferringFlows(tx, realm.number, { column, targets: ids })
  const remaining = referring.filter((id) => column === 'config' || !ids.includes(id))
  if (!remaining.length) return
  await updateVersions(tx, realm.number, { kind: kind.name, version, ids: remaining })
  for (const flow of await authenticationFlows.list(context, { ids: remaining })) {
    const fields = { [EXECUTIONS]: flow.representation[EXECUTIONS]! }
    recordEntry(context, { operation: 'update', kind: kind.name, object: flow, fields })
  }
}

/** Removes the ids of steps, which are not compared. */
function withoutStepIds(update: ObjectUpdate): ObjectUpdate {
  if (!(EXECUTIONS in update.set)) return update
  const steps = readObjects(update.set[EXECUTIONS]).map(({ id: _, ...step }) => step)
  return { ...update, set: { ...update.set, [EXECUTIONS]: steps } }
}

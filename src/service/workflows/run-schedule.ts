// The schedules of workflows: at each interval, a workflow starts for users or clients that meet its condition.
import { Rollback } from '../../store/database/transaction.ts'
import { selectEligible } from '../../store/workflows/executions.ts'
import { WORKFLOW_SCHEDULE } from '../realms/workflows.ts'
import type { TaskHandlers, TaskRun } from '../tasks/scheduled-tasks.ts'
import { startWorkflow } from './activation.ts'
import { resolveCondition } from './conditions.ts'
import { listDefinitions } from './definitions.ts'

/** The handler of the tasks that start workflows. */
export const workflowTasks: TaskHandlers = { [WORKFLOW_SCHEDULE]: runSchedule }

/** Starts a workflow for users or clients for which it is not in progress, at most as many as its batch size. */
async function runSchedule({ service, realm: name, subject, complete }: TaskRun): Promise<void> {
  await service.write({ actor: { kind: 'workflow' } }, name, async (context) => {
    const { tx, realm } = context
    if (!(await complete(tx))) throw new Rollback(undefined)
    const workflow = (await listDefinitions(context)).find(({ id, isEnabled }) => id === subject && isEnabled)
    if (!workflow) return
    const { id, type, batchSize } = workflow
    const condition = workflow.condition && (await resolveCondition(context, workflow.condition))
    const resources = await selectEligible(tx, realm.number, { workflow: id, type, condition, limit: batchSize })
    await startWorkflow(context, { workflow, resources })
  })
}

// The steps of workflows, and the users or clients for which they are executed.
import { writers } from '../kinds/index.ts'
import { notifyUsers } from './notify-user.ts'
import type { StepExecution } from './step-execution.ts'
import { userSteps } from './user-steps.ts'

/** Executes a step for users or clients. Those that do not exist any more are ignored. */
export async function executeStep(execution: StepExecution, resources: readonly string[]): Promise<void> {
  const { context, workflow, step } = execution
  const filter = { ids: resources }
  if (step.uses === 'notify-user') return notifyUsers(execution, await writers.user.list(context, filter))
  if (workflow.type === 'USERS') return userSteps[step.uses]?.(execution, await writers.user.list(context, filter))
  const clients = await writers.client.list(context, filter)
  if (step.uses === 'delete-client') return writers.client.delete(context, clients)
  const enabled = clients.filter(({ representation }) => representation.enabled === true)
  if (step.uses === 'disable-client' && enabled.length)
    await writers.client.update(
      context,
      enabled.map((live) => ({ live, set: { enabled: false } })),
    )
}

/** Whether a step deletes what the workflow is about, so that no other step follows. */
export const isDeletion = ({ step }: Pick<StepExecution, 'step'>): boolean =>
  step.uses === 'delete-user' || step.uses === 'delete-client'

// The writers of workflows, which check them. Regent stores workflows but does not run them.
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../context/context.ts'
import { failure, invalidObject } from '../context/errors.ts'
import { createCheckedWriters } from '../objects/checked-writers.ts'
import { listObjects } from '../objects/live-objects.ts'
import { findWorkflowProblem } from './workflow-checks.ts'

/** The writers of workflows. */
export const workflows = createCheckedWriters('workflow', checkWorkflows)

/** Throws invalid where a complete workflow has a problem. `ids` are those of the workflows that exist. One statement. */
async function checkWorkflows(
  context: Context,
  workflows: readonly Representation[],
  ids: readonly string[],
): Promise<void> {
  const keys = workflows.map(({ name }) => [String(name ?? '')])
  const otherWorkflows = keys.length
    ? (await listObjects(context, 'workflow', { keys })).filter(({ id }) => !ids.includes(id))
    : []
  const takenNames = new Set(otherWorkflows.map(({ key }) => key[0]))
  for (const workflow of workflows) {
    const name = String(workflow.name ?? '')
    if (takenNames.has(name)) {
      const message = `Workflow name must be unique. A workflow with name '${name}' already exists.`
      throw failure('invalid', message, { field: 'name' })
    }
    takenNames.add(name)
    const problem = findWorkflowProblem(workflow)
    if (problem) throw invalidObject(problem)
  }
}

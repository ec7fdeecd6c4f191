// Workflows: what they must fulfil. They are kept, and not carried out.
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { checkedWriters } from '../objects/checked.ts'
import { listObjects } from '../objects/live.ts'
import { workflowProblem } from './workflow-checks.ts'

/** The writers of workflows. */
export const workflows = checkedWriters('workflow', check)

/** Throws invalid when a workflow cannot be as it is; `ids`: of those that exist. One statement. */
async function check(context: Context, workflows: readonly Representation[], ids: readonly string[]): Promise<void> {
  const keys = workflows.map(({ name }) => [String(name ?? '')])
  const others = keys.length
    ? (await listObjects(context, 'workflow', { keys })).filter(({ id }) => !ids.includes(id))
    : []
  const taken = new Set(others.map(({ key }) => key[0]))
  for (const one of workflows) {
    const name = String(one.name ?? '')
    if (taken.has(name)) {
      const message = `Workflow name must be unique. A workflow with name '${name}' already exists.`
      throw failure('invalid', message)
    }
    taken.add(name)
    const problem = workflowProblem(one)
    if (problem !== undefined) throw failure('invalid', problem)
  }
}

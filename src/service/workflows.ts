// Workflows: what they must fulfil. They are kept, and not carried out.
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
import type { Context } from './context.ts'
import { failure } from './errors.ts'
import { changed, plain, type Writers } from './objects.ts'
import { workflowProblem } from './workflow-checks.ts'

const kind = kinds.workflow
const writers = plain(kind.name)

/** The writers of workflows. */
export const workflows: Writers = {
  ...writers,
  async create(context, objects) {
    const stated = objects.map(({ representation }) => representation)
    await check(context, stated, [])
    return writers.create(context, objects)
  },
  async update(context, updates) {
    const whole = updates.map(changed)
    await check(
      context,
      whole,
      updates.map(({ live }) => live.id),
    )
    return writers.update(context, updates)
  },
}

/** Throws invalid when a workflow cannot be as it is; `ids`: of those that exist. One statement. */
async function check(context: Context, workflows: readonly Representation[], ids: readonly string[]): Promise<void> {
  const keys = workflows.map(({ name }) => [String(name ?? '')])
  const others = keys.length ? (await writers.list(context, { keys })).filter(({ id }) => !ids.includes(id)) : []
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

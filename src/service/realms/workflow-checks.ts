// What a workflow must fulfil, and what the reference server says of one that does not.
import type { Json, Representation } from '../../kinds/json.ts'
import { stepTypes, workflowConditions, workflowEvents } from '../../kinds/workflow-steps.ts'
import { namesIn } from './workflow-expressions.ts'

/** What is wrong with a whole workflow; undefined when nothing is. */
export function workflowProblem({
  name,
  on,
  if: condition,
  schedule,
  concurrency,
  steps,
}: Representation): string | undefined {
  if (!name) return 'Workflow name cannot be null or empty.'
  const { after = null } = (schedule ?? {}) as Representation
  const values = Object.values((concurrency ?? {}) as Representation)
  return (
    expressionProblem(on, workflowEvents) ??
    expressionProblem(condition, workflowConditions) ??
    first(values, (value) => (value === 'true' ? undefined : expressionProblem(value, workflowEvents))) ??
    stepsProblem((steps ?? []) as Representation[]) ??
    (after === null ? undefined : delayProblem('Schedule', String(after)))
  )
}

function stepsProblem(steps: readonly Representation[]): string | undefined {
  const own = first(steps, stepProblem)
  if (own !== undefined) return own
  const types = new Set(steps.map(({ uses }) => stepTypes[String(uses)]).filter((type) => type !== 'any'))
  if (types.size > 1) return 'Steps provided are not compatible with each other.'
  if (!steps.length) return 'Steps provided should support a single type, actual: USERS, CLIENTS'
  const restart = steps.findIndex(({ uses }) => uses === 'restart')
  if (restart < 0) return undefined
  if (restart < steps.length - 1) return 'Workflow restart step must be the last step.'
  const { position = '0' } = (steps[restart]!.with ?? {}) as Representation
  const waits = steps.slice(Number(position)).some(({ after }) => after !== undefined && after !== null)
  return waits ? undefined : `No scheduled step found if restarting at position ${position}`
}

function stepProblem({ uses, after }: Representation): string | undefined {
  if (!uses) return "Step 'uses' cannot be null or empty."
  if (!Object.hasOwn(stepTypes, String(uses))) return `Could not find step provider: ${uses}`
  return after === undefined || after === null || after === '' ? undefined : delayProblem('Step', String(after))
}

/** Keycloak: a number, of milliseconds unless a unit follows, or a duration of ISO 8601. */
function delayProblem(whose: string, after: string): string | undefined {
  if (/^-(\d+(ms|[smhd])?|P.*)$/i.test(after)) return `${whose} 'after' configuration cannot be negative.`
  const known = /^(\d+(ms|[smhd])?|P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$/i.test(after)
  return known ? undefined : `${whose} 'after' configuration is not valid: ${after}`
}

function expressionProblem(expression: Json | undefined, known: ReadonlySet<string>): string | undefined {
  if (expression === undefined || expression === null || expression === '') return undefined
  const read = namesIn(String(expression))
  if ('problem' in read) return read.problem
  // Keycloak: events are written with underscores too, in any case.
  const names =
    known === workflowEvents ? read.names.map((name) => name.toLowerCase().replaceAll('_', '-')) : read.names
  const unknown = names.find((name) => !known.has(name))
  return unknown === undefined ? undefined : `Could not find provider factory with id: ${unknown}`
}

function first<T>(all: readonly T[], problemOf: (one: T) => string | undefined): string | undefined {
  return all.map(problemOf).find((problem) => problem !== undefined)
}

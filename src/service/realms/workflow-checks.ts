// Checks of workflows. Keycloak: the messages are its own.
import { type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import { stepTypes, workflowConditions, workflowEvents } from '../../kinds/workflow-steps.ts'
import type { ObjectProblem } from '../context/errors.ts'
import { parseExpressionNames } from './workflow-expressions.ts'

/** Returns the first problem of a complete workflow; undefined if it has none. */
export function findWorkflowProblem({
  name,
  on,
  if: condition,
  schedule,
  concurrency,
  steps,
}: Representation): ObjectProblem | undefined {
  const { after = null } = readObject(schedule)
  const values = Object.values(readObject(concurrency))
  const problems: readonly [field: string, message: string | undefined][] = [
    ['name', name ? undefined : 'Workflow name cannot be null or empty.'],
    ['on', findExpressionProblem(on, workflowEvents)],
    ['if', findExpressionProblem(condition, workflowConditions)],
    [
      'concurrency',
      findFirstProblem(values, (value) =>
        value === 'true' ? undefined : findExpressionProblem(value, workflowEvents),
      ),
    ],
    ['steps', findStepsProblem(readObjects(steps))],
    ['schedule', after === null ? undefined : findDelayProblem('Schedule', String(after))],
  ]
  return problems.flatMap(([field, message]) => (message === undefined ? [] : { field, message }))[0]
}

function findStepsProblem(steps: readonly Representation[]): string | undefined {
  const problem = findFirstProblem(steps, findStepProblem)
  if (problem !== undefined) return problem
  const types = new Set(steps.map(({ uses }) => stepTypes[String(uses)]).filter((type) => type !== 'any'))
  if (types.size > 1) return 'Steps provided are not compatible with each other.'
  if (!steps.length) return 'Steps provided should support a single type, actual: USERS, CLIENTS'
  const restart = steps.findIndex(({ uses }) => uses === 'restart')
  if (restart < 0) return undefined
  if (restart < steps.length - 1) return 'Workflow restart step must be the last step.'
  const { position = '0' } = readObject(steps[restart]!.with)
  const hasDelay = steps.slice(Number(position)).some(({ after }) => after !== undefined && after !== null)
  return hasDelay ? undefined : `No scheduled step found if restarting at position ${position}`
}

function findStepProblem({ uses, after }: Representation): string | undefined {
  if (!uses) return "Step 'uses' cannot be null or empty."
  if (!Object.hasOwn(stepTypes, String(uses))) return `Could not find step provider: ${uses}`
  return after === undefined || after === null || after === '' ? undefined : findDelayProblem('Step', String(after))
}

/** Keycloak: a delay is a number, of milliseconds unless a unit follows, or an ISO 8601 duration. */
function findDelayProblem(label: string, after: string): string | undefined {
  if (/^-(\d+(ms|[smhd])?|P.*)$/i.test(after)) return `${label} 'after' configuration cannot be negative.`
  const isValid = /^(\d+(ms|[smhd])?|P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$/i.test(after)
  return isValid ? undefined : `${label} 'after' configuration is not valid: ${after}`
}

function findExpressionProblem(expression: Json | undefined, providers: ReadonlySet<string>): string | undefined {
  if (expression === undefined || expression === null || expression === '') return undefined
  const parsed = parseExpressionNames(String(expression))
  if ('problem' in parsed) return parsed.problem
  // Keycloak: events may be written with underscores, in any case.
  const names =
    providers === workflowEvents ? parsed.names.map((name) => name.toLowerCase().replaceAll('_', '-')) : parsed.names
  const unknown = names.find((name) => !providers.has(name))
  return unknown === undefined ? undefined : `Could not find provider factory with id: ${unknown}`
}

function findFirstProblem<T>(
  elements: readonly T[],
  findProblem: (element: T) => string | undefined,
): string | undefined {
  return elements.map(findProblem).find((problem) => problem !== undefined)
}

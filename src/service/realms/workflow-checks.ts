// Checks of workflows. Keycloak: the messages are its own.
import { type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import {
  getResourceType,
  stepTypes,
  toEventName,
  workflowConditions,
  workflowEvents,
} from '../../kinds/workflow-steps.ts'
import { parseDuration } from '../../lib/keycloak/durations.ts'
import type { ObjectProblem } from '../context/errors.ts'
import { listExpressionNames, parseWorkflowExpression } from './workflow-expressions.ts'

/** Returns the first problem of a complete workflow; undefined if it has none. */
export function findWorkflowProblem({
  name,
  on,
  if: condition,
  schedule,
  concurrency,
  steps,
}: Representation): ObjectProblem | undefined {
  const stepList = readObjects(steps)
  const problems: readonly [field: string, message: string | undefined][] = [
    ['name', isBlank(name) ? 'Workflow name cannot be null or empty.' : undefined],
    ['on', findExpressionProblem(on, workflowEvents)],
    ['if', findExpressionProblem(condition, workflowConditions)],
    ['concurrency', findFirstProblem(Object.values(readObject(concurrency)), findConcurrencyProblem)],
    ['steps', findStepsProblem(stepList)],
    ['if', findConditionProblem(condition, stepList)],
    ['schedule', findScheduleProblem(schedule)],
  ]
  return problems.flatMap(([field, message]) => (message === undefined ? [] : { field, message }))[0]
}

function findStepsProblem(steps: readonly Representation[]): string | undefined {
  const problem = findFirstProblem(steps, findStepProblem) ?? findRestartProblem(steps)
  if (problem !== undefined) return problem
  const types = new Set(steps.map(({ uses }) => stepTypes[String(uses)]).filter((type) => type !== 'any'))
  if (types.size > 1) return 'Steps provided are not compatible with each other.'
  return types.size ? undefined : 'Steps provided should support a single type, actual: USERS, CLIENTS'
}

/** Returns the problem of a restart: without a delay in the steps that it repeats, they would be executed for ever. */
function findRestartProblem(steps: readonly Representation[]): string | undefined {
  const restarts = steps.filter(({ uses }) => uses === 'restart')
  if (!restarts.length) return undefined
  if (restarts.length > 1) return 'Workflow can have only one restart step.'
  if (restarts[0] !== steps.at(-1)) return 'Workflow restart step must be the last step.'
  const position = Number(readObject(restarts[0]!.with).position ?? 0)
  if (!Number.isInteger(position) || position < 0 || position >= steps.length)
    return `Workflow restart step has invalid position: ${readObject(restarts[0]!.with).position}`
  const hasDelay = steps.slice(position).some(({ after }) => (parseDuration(String(after ?? '')) ?? 0) > 0)
  return hasDelay ? undefined : `No scheduled step found if restarting at position ${position}`
}

function findStepProblem({ uses, after }: Representation): string | undefined {
  if (isBlank(uses)) return "Step 'uses' cannot be null or empty."
  const problem = isBlank(after) ? undefined : findDelayProblem('Step', after!)
  if (problem !== undefined) return problem
  return Object.hasOwn(stepTypes, String(uses)) ? undefined : `Could not find step provider: ${uses}`
}

function findDelayProblem(label: string, after: Json): string | undefined {
  const delay = parseDuration(String(after))
  if (delay === undefined) return `${label} 'after' configuration is not valid: ${after}`
  return delay < 0 ? `${label} 'after' configuration cannot be negative.` : undefined
}

/** Keycloak: it fails with the status 500. */
function findScheduleProblem(schedule: Json | undefined): string | undefined {
  const { after = null, 'batch-size': batchSize = null } = readObject(schedule)
  if (batchSize !== null && Number(batchSize) < 0) return "Schedule 'batch-size' configuration cannot be negative."
  if (after === null) return undefined
  const problem = findDelayProblem('Schedule', after)
  if (problem !== undefined) return problem
  return parseDuration(String(after))! < 1000
    ? "Schedule 'after' configuration must be at least one second."
    : undefined
}

/** Keycloak: all conditions are those of users. */
function findConditionProblem(condition: Json | undefined, steps: readonly Representation[]): string | undefined {
  const problem = findExpressionProblem(condition, workflowConditions)
  if (problem !== undefined || isBlank(condition) || getResourceType(steps) !== 'CLIENTS') return problem
  return 'Provided condition types (USERS) are not compatible with workflow type (CLIENTS).'
}

function findConcurrencyProblem(expression: Json): string | undefined {
  return String(expression).toLowerCase() === 'true' ? undefined : findExpressionProblem(expression, workflowEvents)
}

function findExpressionProblem(expression: Json | undefined, providers: ReadonlySet<string>): string | undefined {
  if (isBlank(expression)) return undefined
  const parsed = parseWorkflowExpression(String(expression))
  if ('problem' in parsed) return parsed.problem
  const names = listExpressionNames(parsed.expression)
  // Keycloak: the names of conditions are searched for as those of events first.
  const candidates = providers === workflowEvents ? names.map(toEventName) : [...names.map(toEventName), ...names]
  const unknown = candidates.find((name) => !providers.has(name))
  return unknown === undefined ? undefined : `Could not find provider factory with id: ${unknown}`
}

/** Whether a text is absent or has no other characters than white space. */
const isBlank = (text: Json | undefined): boolean => String(text ?? '').trim() === ''

function findFirstProblem<T>(
  elements: readonly T[],
  findProblem: (element: T) => string | undefined,
): string | undefined {
  return elements.map(findProblem).find((problem) => problem !== undefined)
}

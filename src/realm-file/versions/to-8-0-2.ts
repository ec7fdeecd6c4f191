import { isList, isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { ConversionContext } from '../formats/format-converter.ts'
import type { VersionStep } from './version-step.ts'

/** Moves alternatives beside required steps to subflows, since they would be ignored. Keycloak: MigrateTo8_0_2. */
export const toVersion8_0_2: VersionStep = {
  version: '8.0.2',
  migrate(realm, context) {
    const { authenticationFlows: flows } = realm
    if (!isList(flows)) return realm
    const subflows: Json[] = []
    const migrated = flows.map((flow, at) => {
      const steps = isObject(flow) ? sortSteps(flow) : []
      if (!isObject(flow) || !hasIgnoredAlternatives(steps)) return flow
      context.warn([FLOWS, at], `alternatives of flow ${flow.alias} move to a subflow, beside the required steps`)
      return moveAlternatives({ flow, at, steps }, context, (subflow, from) => {
        context.recordMove([FLOWS, flows.length + subflows.length], [FLOWS, at, STEPS, from[0]!])
        for (const [index, origin] of from.entries())
          context.recordMove([FLOWS, flows.length + subflows.length, STEPS, index], [FLOWS, at, STEPS, origin])
        subflows.push(subflow)
      })
    })
    return { ...realm, authenticationFlows: [...migrated, ...subflows] }
  },
}

const FLOWS = 'authenticationFlows'
const STEPS = 'authenticationExecutions'

/** A step of a flow, with its index in the document. */
interface Step {
  readonly execution: Representation
  readonly index: number
}

/** Returns the steps of a flow in the order of their priorities. Returns none if one is invalid. */
function sortSteps({ [STEPS]: executions }: Representation): readonly Step[] {
  if (!isList(executions) || !executions.every(isObject)) return []
  const getPriority = ({ execution }: Step) => Number(execution.priority ?? 0)
  return executions.map((execution, index) => ({ execution, index })).sort((a, b) => getPriority(a) - getPriority(b))
}

const isAlternative = ({ execution }: Step): boolean => execution.requirement === 'ALTERNATIVE'

/** Whether a step must be passed, under a condition or not. An optional step is read as a conditional one later. */
const isRequired = ({ execution }: Step): boolean =>
  ['REQUIRED', 'CONDITIONAL', 'OPTIONAL'].includes(String(execution.requirement ?? 'REQUIRED'))

const hasIgnoredAlternatives = (steps: readonly Step[]): boolean => steps.some(isAlternative) && steps.some(isRequired)

/**
 * Returns the flow with a subflow in the place of the alternatives between two required steps. `addSubflow` is called with each subflow and
 * with the indexes of its steps in the flow.
 */
function moveAlternatives(
  { flow, at, steps }: { readonly flow: Representation; readonly at: number; readonly steps: readonly Step[] },
  { recordMove }: ConversionContext,
  addSubflow: (subflow: Representation, from: readonly number[]) => void,
): Representation {
  const groups: Step[][] = []
  const remaining: Step[] = []
  let isOpen = false
  for (const step of steps) {
    if (!isAlternative(step)) {
      remaining.push(step)
      if (isRequired(step)) isOpen = false
    } else if (isOpen) groups.at(-1)!.push(step)
    else {
      remaining.push({ ...step, execution: createSubflowStep(getSubflowAlias(flow, groups.length), step.execution) })
      groups.push([step])
      isOpen = true
    }
  }
  for (const [number, group] of groups.entries())
    addSubflow(
      createSubflow(flow, { number, executions: group.map(({ execution }) => execution) }),
      group.map(({ index }) => index),
    )
  for (const [to, { index }] of remaining.entries()) recordMove([FLOWS, at, STEPS, to], [FLOWS, at, STEPS, index])
  return { ...flow, [STEPS]: remaining.map(({ execution }) => execution) }
}

const getSubflowAlias = ({ alias }: Representation, number: number): string => `${alias} - Alternatives - ${number}`

const createSubflowStep = (flowAlias: string, { priority }: Representation): Representation => ({
  flowAlias,
  requirement: 'REQUIRED',
  ...(priority !== undefined && { priority }),
})

function createSubflow(
  flow: Representation,
  { number, executions }: { readonly number: number; readonly executions: readonly Representation[] },
): Representation {
  return {
    alias: getSubflowAlias(flow, number),
    description: `Alternatives of ${flow.alias}`,
    providerId: 'basic-flow',
    topLevel: false,
    builtIn: flow.builtIn ?? false,
    [STEPS]: executions.map((execution, at) => ({ ...execution, priority: (at + 1) * 10 })),
  }
}

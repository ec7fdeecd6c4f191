// Walks an authentication flow. What its steps do is up to the walker.

/** A step of a flow: an authenticator, or a subflow. */
export interface FlowStep {
  readonly id: string
  readonly requirement: string
  /** The provider id of the authenticator; absent for a subflow. */
  readonly authenticator?: string
  readonly config: Readonly<Record<string, string>>
  /** The steps of the subflow. */
  readonly steps: readonly FlowStep[]
}

/** The outcome of a step: it succeeded, it did not apply, or the user must answer the challenge `C` first. */
export type StepOutcome<C> = 'success' | 'attempted' | C

/** Executes the steps and conditions of a flow. */
export interface FlowWalker<C extends object> {
  /** Whether a step is a condition of the subflow that contains it. */
  isCondition(step: FlowStep): boolean
  /** Whether a condition is met for a subflow with these steps. */
  isConditionMet(condition: FlowStep, flow: readonly FlowStep[]): Promise<boolean>
  /** Executes a step, or returns its earlier outcome. */
  runStep(step: FlowStep): Promise<StepOutcome<C>>
  /** Called after a conditional subflow has succeeded. */
  onConditionalFlowPassed(flow: FlowStep): void
}

/**
 * Walks a flow. Keycloak: alternative steps are ignored beside required or conditional ones. A flow in which no step was
 * executed is not successful, since no user was identified.
 */
export async function walkFlow<C extends object>(
  flow: readonly FlowStep[],
  walker: FlowWalker<C>,
): Promise<StepOutcome<C>> {
  const steps = flow.filter((step) => step.requirement !== 'DISABLED' && !walker.isCondition(step))
  const required = steps.filter(({ requirement }) => requirement === 'REQUIRED' || requirement === 'CONDITIONAL')
  return required.length ? walkRequired(required, walker) : walkAlternatives(steps, walker)
}

async function walkRequired<C extends object>(
  steps: readonly FlowStep[],
  walker: FlowWalker<C>,
): Promise<StepOutcome<C>> {
  let outcome: StepOutcome<C> = 'attempted'
  for (const step of steps) {
    if (step.requirement === 'CONDITIONAL' && !(await areConditionsMet(step, walker))) continue
    outcome = await execute(step, walker)
    if (outcome !== 'success') return outcome
    if (step.requirement === 'CONDITIONAL') walker.onConditionalFlowPassed(step)
  }
  return outcome
}

async function walkAlternatives<C extends object>(
  steps: readonly FlowStep[],
  walker: FlowWalker<C>,
): Promise<StepOutcome<C>> {
  for (const step of steps) {
    const outcome = await execute(step, walker)
    if (outcome !== 'attempted') return outcome
  }
  return 'attempted'
}

function execute<C extends object>(step: FlowStep, walker: FlowWalker<C>): Promise<StepOutcome<C>> {
  return step.authenticator === undefined ? walkFlow(step.steps, walker) : walker.runStep(step)
}

/** Keycloak: a conditional subflow without conditions is never executed. */
async function areConditionsMet<C extends object>({ steps }: FlowStep, walker: FlowWalker<C>): Promise<boolean> {
  const conditions = steps.filter((step) => step.requirement !== 'DISABLED' && walker.isCondition(step))
  for (const condition of conditions) if (!(await walker.isConditionMet(condition, steps))) return false
  return conditions.length > 0
}

/** Returns the step with an id, anywhere in a flow. */
export function findStep(flow: readonly FlowStep[], id: string): FlowStep | undefined {
  for (const step of flow) {
    const match = step.id === id ? step : findStep(step.steps, id)
    if (match) return match
  }
  return undefined
}

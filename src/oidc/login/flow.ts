// What a flow demands: walks its steps and asks for each what came of it. It knows nothing of what the steps do.

/** A step of a flow: something to be done, or a flow of its own. */
export interface Step {
  readonly id: string
  readonly requirement: string
  /** What is to be done; absent: the steps below. */
  readonly authenticator?: string
  readonly config: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

/** What came of a step: it is done, it does not lead anywhere, or somebody must answer `P` first. */
export type Outcome<P> = 'success' | 'attempted' | P

/** What a walk asks of whoever knows the steps. */
export interface Walker<P extends object> {
  /** Whether the step is a condition of the flow that it stands in. */
  isCondition(step: Step): boolean
  /** Whether a condition holds, for the flow with these steps. */
  holds(condition: Step, flow: readonly Step[]): Promise<boolean>
  /** Does a step, or says what came of it before. */
  run(step: Step): Promise<Outcome<P>>
  /** Hears of a conditional flow that was gone through. */
  passed(flow: Step): void
}

/**
 * Walks a flow. Keycloak: where a step is required or conditional, alternatives beside it do not count. A flow in which
 * nothing was to be done leads nowhere: who it is has not been asked.
 */
export async function walk<P extends object>(flow: readonly Step[], walker: Walker<P>): Promise<Outcome<P>> {
  const steps = flow.filter((step) => step.requirement !== 'DISABLED' && !walker.isCondition(step))
  const needed = steps.filter(({ requirement }) => requirement === 'REQUIRED' || requirement === 'CONDITIONAL')
  return needed.length ? everyOne(needed, walker) : firstOf(steps, walker)
}

async function everyOne<P extends object>(steps: readonly Step[], walker: Walker<P>): Promise<Outcome<P>> {
  let outcome: Outcome<P> = 'attempted'
  for (const step of steps) {
    if (step.requirement === 'CONDITIONAL' && !(await applies(step, walker))) continue
    outcome = await take(step, walker)
    if (outcome !== 'success') return outcome
    if (step.requirement === 'CONDITIONAL') walker.passed(step)
  }
  return outcome
}

async function firstOf<P extends object>(steps: readonly Step[], walker: Walker<P>): Promise<Outcome<P>> {
  for (const step of steps) {
    const outcome = await take(step, walker)
    if (outcome !== 'attempted') return outcome
  }
  return 'attempted'
}

function take<P extends object>(step: Step, walker: Walker<P>): Promise<Outcome<P>> {
  return step.authenticator === undefined ? walk(step.steps, walker) : walker.run(step)
}

/** Keycloak: a conditional flow without conditions never applies. */
async function applies<P extends object>({ steps }: Step, walker: Walker<P>): Promise<boolean> {
  const conditions = steps.filter((step) => step.requirement !== 'DISABLED' && walker.isCondition(step))
  for (const condition of conditions) if (!(await walker.holds(condition, steps))) return false
  return conditions.length > 0
}

/** The step with that id, wherever it stands in the flow. */
export function findStep(flow: readonly Step[], id: string): Step | undefined {
  for (const step of flow) {
    const found = step.id === id ? step : findStep(step.steps, id)
    if (found) return found
  }
  return undefined
}

// The turn of one realm: observed, planned, and what is done with the plan; anew where somebody was faster.
import { MASTER } from '../kinds/built-in/index.ts'
import { once } from '../lib/once.ts'
import { ServiceError } from '../service/errors.ts'
import { underCeilings } from '../service/power.ts'
import type { Caller, Service } from '../service/service.ts'
import type { Held } from '../service/sources.ts'
import { ActionError } from './apply.ts'
import { type Planned, planned, type RealmOutcome } from './execute.ts'
import { guardsOf } from './guarding.ts'
import { lint } from './lint/index.ts'
import { observe } from './observe.ts'
import type { Part } from './parts.ts'
import type { LiveState } from './plan-input.ts'
import { documentsIn, type SourceState, type Wanted } from './wanted.ts'

/** A plan that was overtaken is made anew so many times. */
const ATTEMPTS = 3

/** A realm whose turn it is. */
export interface Turn {
  readonly made: Planned
  readonly parts: readonly Part[]
  readonly held: Held | undefined
  /** The plan with the credentials of people who were there before. */
  readonly replan: (credentialsOf: ReadonlySet<string>) => Planned
}

/** What is done with the plan of a realm. */
export type Step = (turn: Turn) => Promise<RealmOutcome>

/** Plans the realm, and does with the plan what the step says. Throws what that throws, and DocumentError. */
export async function takeTurn(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  { desired, parts, calledNow, held }: Wanted,
  coming: readonly LiveState[],
  step: Step,
): Promise<RealmOutcome> {
  const ceiling = underCeilings(
    calledNow,
    sources.map(({ ceiling = {} }) => ceiling),
  )
  const before = desired.name === MASTER ? coming : []
  for (let attempt = 1; ; attempt++) {
    const seen = await service.snapshot(caller, calledNow, async (context) => {
      const input = await observe(context, parts, desired)
      const made = planned(desired, input, documentsIn(sources), before)
      return { input, made, guards: context && (await guardsOf(context, made.plan, made.input, parts)) }
    })
    // Whoever was faster took away what was to go.
    if (!seen.input.exists && !desired.objects.size) return nothingToDo(desired.name)
    const guards = seen.guards ?? (await guardsOf(service, seen.made.plan, seen.made.input, parts))
    const replan = (credentialsOf: ReadonlySet<string>) => ({
      ...planned(desired, { ...seen.input, credentialsOf }, documentsIn(sources), before),
      guards,
      ceiling,
    })
    try {
      const done = await step({ made: { ...seen.made, guards, ceiling }, parts, held, replan })
      // Not everybody who applies wants to know.
      const findings = once(() => lint(desired.name, [...desired.objects.values()]))
      return {
        ...done,
        get findings() {
          return findings()
        },
      }
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error
    }
  }
}

/** Whether somebody was faster: something that the plan knows has changed, or a name that it wanted was taken. */
function isOvertaken(error: unknown): boolean {
  const cause = error instanceof ActionError ? error.cause : error
  return cause instanceof ServiceError && ['changed', 'conflict', 'duplicate'].includes(cause.code)
}

/** The outcome for a realm of which nothing is new. */
export function nothingToDo(realm: string): RealmOutcome {
  return {
    plan: { realm, creates: false, actions: [], leftAlone: [], notes: [], knows: [] },
    consequences: [],
    effects: [],
    findings: [],
  }
}

// Finds the step of an authentication flow because of which nobody can pass the flow.
import { unsupportedCredentials } from '../authentication-providers.ts'
import { type Representation, readText } from '../json.ts'
import { effects } from './index.ts'

/** A step that nobody can pass, since Regent does not enforce its authenticator. */
export interface ImpassableStep {
  /** The alias of the flow that contains the step. */
  readonly flow: string
  readonly authenticator: string
}

/** The executions of flows, in order, by alias. */
export type FlowExecutions = ReadonlyMap<string, readonly Representation[]>

/** The best outcome of a step for any user without a session: some pass it, all skip it, or all fail. `step`: the reason, if it is known. */
interface BestOutcome {
  readonly outcome: 'success' | 'attempted' | 'failure'
  readonly step?: ImpassableStep
}

/** Authenticators that only pass users who have logged in before, or who log in at an identity provider, or that only ask for a name. */
const SKIPPED = new Set(['auth-cookie', 'identity-provider-redirector', 'organization'])
const USER_CONFIGURED = 'conditional-user-configured'

/**
 * Returns the step because of which nobody can pass a flow; undefined if a user can, or if none can for another reason, such as
 * deny-access-authenticator. It follows `src/oidc/login/flow.ts`:
 *
 * - An alternative that fails blocks the flow, unless an earlier one can be passed. Users without a credential of WebAuthn and without recovery
 *   codes skip alternatives that require them.
 * - The session of a browser is no way to pass, since it begins with a login.
 * - A disabled step does not count. Users pass a conditional subflow if its conditions are not met. The first condition is evaluated for
 *   each user, so that nobody passes a subflow that begins with an unsupported one, or one with only conditional-user-configured and
 *   unsupported steps.
 */
export function findImpassableStep(flow: string, flows: FlowExecutions): ImpassableStep | undefined {
  const { outcome, step } = evaluateFlow({ flows, path: [flow] })
  return outcome === 'success' ? undefined : step
}

/** Returns the step because of which no client can pass a client authentication flow. Keycloak: only the first required execution counts. */
export function findImpassableClientStep(flow: string, flows: FlowExecutions): ImpassableStep | undefined {
  const executions = flows.get(flow) ?? []
  const required = executions.filter((execution) => readRequirement(execution) === 'REQUIRED').slice(0, 1)
  const active = required.length
    ? required
    : executions.filter((execution) => readRequirement(execution) === 'ALTERNATIVE')
  const unsupported = active.flatMap(({ authenticator }) => listUnsupported(authenticator))
  return unsupported.length && unsupported.length === active.length
    ? { flow, authenticator: unsupported[0]! }
    : undefined
}

/** A flow to evaluate. `path`: its alias, after those of the flows that contain it. */
interface EvaluatedFlow {
  readonly flows: FlowExecutions
  readonly path: readonly string[]
}

const readRequirement = ({ requirement }: Representation): string => readText(requirement) ?? 'REQUIRED'

const isCondition = ({ authenticator }: Representation): boolean =>
  readText(authenticator)?.startsWith('conditional-') === true

/** Returns the id of an authenticator that is not enforced as a list; none for others. */
function listUnsupported(authenticator: Representation[string] | undefined): string[] {
  const effect = effects.authenticationFlow['authenticationExecutions.authenticator']!
  const id = readText(authenticator)
  if (id === undefined || effect.effect !== 'provider') return []
  const provider = Object.hasOwn(effect.providers, id) ? effect.providers[id]! : effect.unlisted
  return provider.effect === 'enforced' ? [] : [id]
}

const listActive = ({ flows, path }: EvaluatedFlow): readonly Representation[] =>
  (flows.get(path.at(-1)!) ?? []).filter((execution) => readRequirement(execution) !== 'DISABLED')

function evaluateFlow(flow: EvaluatedFlow): BestOutcome {
  const steps = listActive(flow).filter((execution) => !isCondition(execution))
  const required = steps.filter((execution) => readRequirement(execution) !== 'ALTERNATIVE')
  return required.length ? evaluateRequired(flow, required) : evaluateAlternatives(flow, steps)
}

function evaluateRequired(flow: EvaluatedFlow, steps: readonly Representation[]): BestOutcome {
  const outcomes = steps.map((step) => ({ step, result: evaluateStep(flow, step) }))
  const blocking = outcomes.find(
    ({ step, result: { outcome } }) =>
      outcome === 'failure' || (outcome === 'attempted' && readRequirement(step) === 'REQUIRED'),
  )
  if (blocking) return blocking.result
  const results = outcomes.map(({ result }) => result)
  return results.find(({ outcome }) => outcome === 'success') ?? findReason(results)
}

function evaluateAlternatives(flow: EvaluatedFlow, steps: readonly Representation[]): BestOutcome {
  const results = steps.map((step) => evaluateStep(flow, step))
  return results.find(({ outcome }) => outcome !== 'attempted') ?? findReason(results)
}

/** Returns the first outcome with a reason, of steps that are all skipped. */
const findReason = (results: readonly BestOutcome[]): BestOutcome =>
  results.find(({ step }) => step) ?? { outcome: 'attempted' }

function evaluateStep(flow: EvaluatedFlow, execution: Representation): BestOutcome {
  const authenticator = readText(execution.authenticator)
  const alias = readText(execution.flowAlias)
  const subflow = alias === undefined ? undefined : { ...flow, path: [...flow.path, alias] }
  if (authenticator !== undefined) return evaluateAuthenticator(flow, execution, subflow)
  // The store refuses a flow that contains itself.
  if (!subflow || flow.path.includes(alias!)) return { outcome: 'success' }
  return readRequirement(execution) === 'CONDITIONAL' ? evaluateConditional(subflow) : evaluateFlow(subflow)
}

function evaluateAuthenticator(
  { path }: EvaluatedFlow,
  execution: Representation,
  form: EvaluatedFlow | undefined,
): BestOutcome {
  const id = readText(execution.authenticator)!
  const flow = path.at(-1)!
  if (listUnsupported(id).length) {
    const isSkipped = readRequirement(execution) === 'ALTERNATIVE' && Object.hasOwn(unsupportedCredentials, id)
    return { outcome: isSkipped ? 'attempted' : 'failure', step: { flow, authenticator: id } }
  }
  const [action] = form ? listActive(form).flatMap(({ authenticator }) => listUnsupported(authenticator)) : []
  if (action !== undefined) return { outcome: 'failure', step: { flow: form!.path.at(-1)!, authenticator: action } }
  if (id === 'deny-access-authenticator') return { outcome: 'failure' }
  return { outcome: SKIPPED.has(id) ? 'attempted' : 'success' }
}

/** Whether an authenticator is unsupported, and not only one for users with a credential. */
const failsForAll = ({ authenticator }: Representation): boolean =>
  listUnsupported(authenticator).some((id) => !Object.hasOwn(unsupportedCredentials, id))

/** Keycloak: a conditional subflow without conditions is never executed. */
function evaluateConditional(subflow: EvaluatedFlow): BestOutcome {
  const active = listActive(subflow)
  const conditions = active.filter(isCondition)
  const [first] = conditions
  if (!first) return { outcome: 'attempted' }
  const [unsupported] = listUnsupported(first.authenticator)
  if (unsupported !== undefined)
    return { outcome: 'failure', step: { flow: subflow.path.at(-1)!, authenticator: unsupported } }
  const result = evaluateFlow(subflow)
  const isMetByAll =
    conditions.every(({ authenticator }) => authenticator === USER_CONFIGURED) &&
    active.every((step) => isCondition(step) || failsForAll(step))
  return result.outcome === 'success' || isMetByAll ? result : { ...result, outcome: 'attempted' }
}

// The guard of bound authentication flows that nobody can pass after the plan. Pure.
import type { FlatFields } from '../../kinds/compare.ts'
import {
  type FlowExecutions,
  findImpassableClientStep,
  findImpassableStep,
  type ImpassableStep,
} from '../../kinds/effects/find-impassable-step.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, readObjects, readText } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { formatPosition } from '../../lib/source-position.ts'
import type { FlowObject } from '../../service/sources/guard-queries.ts'
import { type Action, collectNewValues, type Guard, type RealmPlan } from '../model/action.ts'
import type { LiveState, PlanInput } from '../model/plan-input.ts'

/** A bound flow that nobody can pass. */
export interface ImpassableFlow {
  /** The address of the realm or client that binds it. */
  readonly owner: string
  readonly key: Key
  /** The path of the field that binds it. */
  readonly path: keyof typeof EFFECTS
  readonly flow: string
  readonly step: ImpassableStep
}

/** Facts from the store about flows. */
export interface FlowFacts {
  /** The live flows and the objects that bind them, if the plan changes some. */
  readonly flowObjects?: readonly FlowObject[] | undefined
  /** The bound flows that nobody could pass before the plan. */
  readonly formerlyImpassable?: readonly ImpassableFlow[] | undefined
}

/**
 * The fields that bind flows, with what nobody can do if nobody can pass the flow. Flows of identity providers and of Docker registries are
 * omitted, since Regent never executes them. A flow is bound even if the realm does not allow registrations, or no resets of passwords.
 */
const EFFECTS = {
  browserFlow: () => 'no user can log in in a browser',
  directGrantFlow: () => 'no user can log in by a direct access grant',
  registrationFlow: () => 'no user can register',
  resetCredentialsFlow: () => 'no user can reset a forgotten password',
  clientAuthenticationFlow: () => 'no client can authenticate',
  'authenticationFlowBindingOverrides.browser': ([client]: Key) =>
    `no user can log in to client ${client} in a browser`,
  'authenticationFlowBindingOverrides.direct_grant': ([client]: Key) =>
    `no user can log in to client ${client} by a direct access grant`,
} as const

/** The fields of a realm whose flows every login needs. */
const LOGIN_PATHS = new Set<string>(['browserFlow', 'directGrantFlow', 'clientAuthenticationFlow'])
const PATHS = Object.keys(EFFECTS) as (keyof typeof EFFECTS)[]
/** Effects that a message names. */
const NAMED_EFFECTS = 5

/** Whether a plan changes flows, or which flows are bound. */
export function changesFlows({ actions }: Pick<RealmPlan, 'actions'>): boolean {
  return actions.some(
    ({ kind, changes }) =>
      kind === 'authenticationFlow' || changes.some(({ path }) => PATHS.some((bindingPath) => bindingPath === path)),
  )
}

/** Whether an object is a flow, or may bind one. */
export function isFlowObject(object: Pick<LiveState, 'kind' | 'key' | 'fields'>): object is FlowObject {
  return object.kind === 'authenticationFlow' || object.kind === 'realm' || object.kind === 'client'
}

/** Returns the bound flows that nobody can pass. */
export function listImpassableFlows(objects: readonly FlowObject[]): ImpassableFlow[] {
  const flows: FlowExecutions = new Map(
    objects.flatMap(({ kind, key, fields }) =>
      kind === 'authenticationFlow' ? [[key[0]!, readObjects(fields.authenticationExecutions)]] : [],
    ),
  )
  return objects.flatMap(({ kind, key, fields }) =>
    PATHS.flatMap((path) => {
      const flow = readText(fields[path])
      if (flow === undefined) return []
      const find = path === 'clientAuthenticationFlow' ? findImpassableClientStep : findImpassableStep
      const step = find(flow, flows)
      return step ? [{ owner: formatAddress(kind, key), key, path, flow, step }] : []
    }),
  )
}

/**
 * Blocks a plan after which nobody can pass a bound flow, unless nobody could pass the flow of this binding before. The flows of a new client,
 * and those of a new realm for registrations and resets of passwords, block nothing: nobody loses what they could do before.
 */
export function guardImpassableFlows({
  plan,
  input,
  facts,
}: {
  readonly plan: RealmPlan
  readonly input: PlanInput
  readonly facts: FlowFacts
}): Guard[] {
  const { flowObjects, formerlyImpassable = [] } = facts
  if (!flowObjects) return []
  const created = new Set(
    plan.actions.flatMap(({ operation, kind, key }) =>
      operation === 'create' || (kind === 'realm' && plan.creates) ? [formatAddress(kind, key)] : [],
    ),
  )
  const added = listImpassableFlows(applyActions(flowObjects, plan.actions)).filter(
    ({ owner, path }) =>
      (LOGIN_PATHS.has(path) || !created.has(owner)) &&
      !formerlyImpassable.some((earlier) => earlier.owner === owner && earlier.path === path),
  )
  return [...Map.groupBy(added, ({ flow }) => flow).values()].map((impassable) => ({
    guard: 'impassableFlow',
    message: describeImpassable(impassable, input),
    objects: [impassable[0]!.flow],
  }))
}

/** Returns the objects after a plan, whether or not it was applied to them before. */
function applyActions(objects: readonly FlowObject[], actions: readonly Action[]): FlowObject[] {
  const state = new Map(objects.map((object) => [formatAddress(object.kind, object.key), object]))
  const flowNames = new Map<string, string>()
  for (const { operation, kind, key, changes } of actions) {
    const object = { kind, key, fields: collectNewValues(changes) }
    if (!isFlowObject(object)) continue
    const address = formatAddress(kind, key)
    const rename = changes.find(({ path }) => path === kinds[kind].naturalKey)
    const formerName = operation === 'update' && rename && 'from' in rename ? readText(rename.from) : undefined
    const formerAddress = formerName === undefined ? address : formatAddress(kind, [formerName])
    const fields = (state.get(address) ?? state.get(formerAddress))?.fields ?? {}
    state.delete(formerAddress)
    if (kind === 'authenticationFlow' && formerName !== undefined) flowNames.set(formerName, key[0]!)
    if (operation === 'delete') state.delete(address)
    else state.set(address, { ...object, fields: { ...fields, ...object.fields } })
  }
  return [...state.values()].map((object) => ({ ...object, fields: renameFlows(object.fields, flowNames) }))
}

/** Returns fields in which flows have their current names. */
function renameFlows(fields: FlatFields, flowNames: ReadonlyMap<string, string>): FlatFields {
  if (!flowNames.size) return fields
  const rename = (alias: Json | undefined): Json => flowNames.get(String(alias)) ?? alias ?? null
  return Object.fromEntries(
    Object.entries(fields).map(([path, value]): [string, Json] =>
      path === 'authenticationExecutions'
        ? [path, readObjects(value).map((step) => ({ ...step, flowAlias: rename(step.flowAlias) }))]
        : [path, PATHS.some((bindingPath) => bindingPath === path) ? rename(value) : value],
    ),
  )
}

function describeImpassable(impassable: readonly ImpassableFlow[], { declared }: Pick<PlanInput, 'declared'>): string {
  const { flow, step, owner, path } = impassable[0]!
  const declaredFlow = declared.get(formatAddress('authenticationFlow', [step.flow]))
  const position =
    (declaredFlow?.fields.has('authenticationExecutions') &&
      declaredFlow.origin.locate('authenticationExecutions', [step.authenticator])) ||
    declared.get(owner)?.origin.locate(path)
  const place = step.flow === flow ? '' : ` in its subflow ${step.flow}`
  const location = position ? ` (${formatPosition(position)})` : ''
  const effects = impassable.slice(0, NAMED_EFFECTS).map((binding) => EFFECTS[binding.path](binding.key))
  const rest = impassable.length - effects.length
  const consequences = [...effects, ...(rest ? [`${rest} more`] : [])].join(', ')
  return `binds the flow ${flow}, which nobody can pass: Regent does not have ${step.authenticator}${place}${location}, so ${consequences}. Disable this step or bind another flow instead of approving this`
}

// Compares what is stated with what is live. Pure: the same input gives the same plan.
import { MASTER } from '../../kinds/built-in/index.ts'
import { isSecret, misdirectedSecrets, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'
import { address, describe } from '../../kinds/tree.ts'
import {
  type Action,
  type FieldChange,
  type IgnoredDrift,
  type Note,
  type RealmPlan,
  valuesSetBy,
} from '../model/action.ts'
import type { DeclaredObject, LiveState, ManagedObject, PlanInput } from '../model/plan-input.ts'
import { bind, findRecreated } from './binding.ts'
import { changesOfField, findIgnoredFieldDrift, findIgnoredObjectDrift, releases } from './changes.ts'
import { Creation } from './creation.ts'
import { usersWithoutDefaultRole } from './default-role.ts'
import { isOwn, keptObjects, noteOf } from './kept.ts'
import { unknownProviders } from './unknown-providers.ts'

/** The plan. Actions come in the order in which they stand in the documents. */
export function plan(input: PlanInput): RealmPlan {
  const byId = new Map(input.live.filter((one) => one.id).map((one) => [`${one.kind} ${one.id}`, one]))
  const ownedByAddress = new Map(input.managed.map((one) => [address(one.kind, one.key), one]))
  const binding = bind(input)
  const bound = new Set(binding.values())
  const recreated = findRecreated(input, binding)
  const actions: Action[] = []
  const leftAlone: IgnoredDrift[] = []
  for (const [id, stated] of input.declared) {
    if (input.isSettled(id)) continue
    // Nothing was ever applied to an object that only has the name of one that was.
    const owned = recreated.has(id) ? undefined : ownedByAddress.get(id)
    const live = binding.get(id)
    if (live) leftAlone.push(...findIgnoredFieldDrift(input, stated, live, owned))
    else if (owned) leftAlone.push(...findIgnoredObjectDrift(input, owned))
    const action = live ? update(input, stated, live, owned) : create(input, stated, owned)
    if (action) actions.push(action)
  }
  const gone = input.managed.filter((one) => !input.declared.has(address(one.kind, one.key)))
  const kept = keptObjects(input)
  const going = kept.length ? gone.filter((one) => !kept.includes(one)) : gone
  const whole = endOfRealm(input)
  if (whole) actions.push(whole)
  else actions.push(...going.flatMap((one) => abandon(input, one, byId.get(`${one.kind} ${one.object}`), bound)))
  const beyond = input.live.filter((one) => one.undeclared && !bound.has(one))
  actions.push(...beyond.map((one): Action => ({ ...actionOn('delete', one), changes: [] })))
  return {
    realm: input.realm,
    ...(input.currentName !== input.realm && { currentName: input.currentName }),
    creates: !input.exists && input.declared.size > 0,
    actions,
    ignoredDrift: leftAlone,
    notes: [
      ...notes(input, actions),
      ...usersWithoutDefaultRole(input, actions),
      ...credentialsLeftAlone(input, binding, recreated),
      ...noteOf(kept),
    ],
    preconditions: input.live.flatMap(({ kind, id, version }) =>
      id === undefined || version === undefined ? [] : [{ kind, id, version }],
    ),
  }
}

function create(input: PlanInput, stated: DeclaredObject, owned: ManagedObject | undefined): Action | undefined {
  if (owned && findIgnoredObjectDrift(input, owned).length) return undefined
  return new Creation(stated, owned && input.changedBy(stated.kind, owned.object))
}

function update(
  input: PlanInput,
  stated: DeclaredObject,
  live: LiveState,
  owned: ManagedObject | undefined,
): Action | undefined {
  const kind = kinds[stated.kind]
  const changes = [
    ...[...stated.fields].flatMap(([path, { value, origin }]) =>
      changesOfField(input, kind, live, owned, path, value, origin),
    ),
    ...(owned ? releases(input, kind, stated, live, owned) : []),
  ]
  if (!changes.length) return undefined
  changes.push(...removals(kind, stated, live, changes))
  return { ...actionOn('update', live), changes, position: stated.origin.position }
}

/** Secrets that no document declares, and that the changes would have sent elsewhere than before: they are removed. */
function removals(kind: Kind, stated: DeclaredObject, live: LiveState, changes: readonly FieldChange[]): FieldChange[] {
  const set = valuesSetBy(changes)
  return misdirectedSecrets(kind, live.fields, set)
    .filter((path) => !stated.fields.has(path))
    .map((path) => ({ path, from: live.fields[path]!, to: null, reason: 'declared', position: stated.origin.position }))
}

/** The end of a realm that no source of any kind states any more, where one of those that did had made it its own. */
function endOfRealm({
  realm,
  declared: stated,
  managed: owned,
  otherSources: others,
  live,
}: PlanInput): Action | undefined {
  if (stated.size || others.length || realm === MASTER) return undefined
  const own = owned.some(({ kind, fields }) => kind === 'realm' && kinds.realm.naturalKey in fields)
  const it = own ? live.find(({ kind }) => kind === 'realm') : undefined
  return it && { ...actionOn('delete', it), changes: [] }
}

/** An object that was stated and is stated no more. */
function abandon(
  input: PlanInput,
  owned: ManagedObject,
  live: LiveState | undefined,
  bound: ReadonlySet<LiveState>,
): Action[] {
  if (!live || bound.has(live)) return []
  if (!isOwn(input, owned) || input.builtIn.has(address(live.kind, live.key))) {
    const changes = releases(input, kinds[owned.kind], undefined, live, owned)
    return changes.length ? [{ ...actionOn('update', live), changes }] : []
  }
  return [{ ...actionOn('delete', live), changes: [] }]
}

function actionOn(operation: 'update' | 'delete', live: LiveState): Omit<Action, 'changes'> {
  const { kind, key, id, version } = live
  return { operation, kind, key, ...(id !== undefined && { id }), ...(version !== undefined && { version }) }
}

/** Whoever was there before the documents keeps what they log in with. */
function credentialsLeftAlone(
  input: PlanInput,
  binding: ReadonlyMap<string, LiveState>,
  recreated: ReadonlyMap<string, unknown>,
): Note[] {
  const owned = new Set(input.managed.map(({ kind, key }) => address(kind, key)))
  return [...input.declared].flatMap(([id, { kind, key, fields }]) =>
    binding.has(id) && (!owned.has(id) || recreated.has(id)) && !input.credentialsOf?.has(binding.get(id)!.id!)
      ? [...fields]
          .filter(([path]) => resolve(kinds[kind], path).field.once && isSecret(kinds[kind], path))
          .map(([path, { origin }]) => ({
            message: `${describe(kind, key)}: ${path} are retained, since the ${kinds[kind].title} existed before`,
            position: origin.locate(path),
          }))
      : [],
  )
}

function notes({ notices, declared: stated }: PlanInput, actions: readonly Action[]): Note[] {
  const removed = new Set(
    actions.flatMap(({ kind, key, changes }) =>
      Object.entries(valuesSetBy(changes)).flatMap(([path, value]) =>
        value === null && isSecret(kinds[kind], path) ? [`${address(kind, key)} ${path}`] : [],
      ),
    ),
  )
  const masked = [...stated.values()].flatMap((one) =>
    one.masked
      .filter((path) => !one.fields.has(path))
      .map((path) => ({
        message: removed.has(`${address(one.kind, one.key)} ${path}`)
          ? `${describe(one.kind, one.key)}: ${path} is masked and is removed, since it would be sent elsewhere. Declare it, or set it again.`
          : `${describe(one.kind, one.key)}: ${path} is masked; the live value is retained`,
        position: one.origin.position,
      })),
  )
  return [...notices, ...masked, ...unknownProviders(stated.values())]
}

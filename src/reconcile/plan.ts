// Compares what is stated with what is live. Pure: the same input gives the same plan.
import { MASTER } from '../kinds/built-in/index.ts'
import { isSecret, resolve } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import { address, describe } from '../kinds/tree.ts'
import type { Action, LeftAlone, Note, RealmPlan } from './action.ts'
import { bind } from './binding.ts'
import { changeOf, fieldsLeftAlone, objectLeftAlone, releases } from './changes.ts'
import { Creation } from './creation.ts'
import { isOwn, keptObjects, noteOf } from './kept.ts'
import type { LiveState, Owned, PlanInput, Stated } from './plan-input.ts'
import { unknownProviders } from './unknown-providers.ts'

/** The plan. Actions come in the order in which they stand in the documents. */
export function plan(input: PlanInput): RealmPlan {
  const byId = new Map(input.live.filter((one) => one.id).map((one) => [`${one.kind} ${one.id}`, one]))
  const ownedByAddress = new Map(input.owned.map((one) => [address(one.kind, one.key), one]))
  const binding = bind(input)
  const bound = new Set(binding.values())
  const actions: Action[] = []
  const leftAlone: LeftAlone[] = []
  for (const [id, stated] of input.stated) {
    if (input.isSettled(id)) continue
    const owned = ownedByAddress.get(id)
    const live = binding.get(id)
    if (live) leftAlone.push(...fieldsLeftAlone(input, stated, live, owned))
    else if (owned) leftAlone.push(...objectLeftAlone(input, owned))
    const action = live ? update(input, stated, live, owned) : create(input, stated, owned)
    if (action) actions.push(action)
  }
  const gone = input.owned.filter((one) => !input.stated.has(address(one.kind, one.key)))
  const kept = keptObjects(input)
  const going = kept.length ? gone.filter((one) => !kept.includes(one)) : gone
  const whole = endOfRealm(input)
  if (whole) actions.push(whole)
  else actions.push(...going.flatMap((one) => abandon(input, one, byId.get(`${one.kind} ${one.object}`), bound)))
  const beyond = input.live.filter((one) => one.beyond && !bound.has(one))
  actions.push(...beyond.map((one): Action => ({ ...actionOn('delete', one), changes: [] })))
  return {
    realm: input.realm,
    ...(input.calledNow !== input.realm && { calledNow: input.calledNow }),
    creates: !input.exists && input.stated.size > 0,
    actions,
    leftAlone,
    notes: [...notes(input), ...credentialsLeftAlone(input, binding), ...noteOf(kept)],
    knows: input.live.flatMap(({ kind, id, version }) =>
      id === undefined || version === undefined ? [] : [{ kind, id, version }],
    ),
  }
}

function create(input: PlanInput, stated: Stated, owned: Owned | undefined): Action | undefined {
  if (owned && objectLeftAlone(input, owned).length) return undefined
  return new Creation(stated, owned && input.changedBy(stated.kind, owned.object))
}

function update(input: PlanInput, stated: Stated, live: LiveState, owned: Owned | undefined): Action | undefined {
  const kind = kinds[stated.kind]
  const changes = [
    ...[...stated.fields].flatMap(([path, { value, origin }]) =>
      changeOf(input, kind, live, owned, path, value, origin),
    ),
    ...(owned ? releases(input, kind, stated, live, owned) : []),
  ]
  if (!changes.length) return undefined
  return { ...actionOn('update', live), changes, position: stated.origin.position }
}

/** The end of a realm that no source of any kind states any more, where one of those that did had made it its own. */
function endOfRealm({ realm, stated, owned, others, live }: PlanInput): Action | undefined {
  if (stated.size || others.length || realm === MASTER) return undefined
  const own = owned.some(({ kind, fields }) => kind === 'realm' && kinds.realm.naturalKey in fields)
  const it = own ? live.find(({ kind }) => kind === 'realm') : undefined
  return it && { ...actionOn('delete', it), changes: [] }
}

/** An object that was stated and is stated no more. */
function abandon(input: PlanInput, owned: Owned, live: LiveState | undefined, bound: ReadonlySet<LiveState>): Action[] {
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
function credentialsLeftAlone(input: PlanInput, binding: ReadonlyMap<string, LiveState>): Note[] {
  const owned = new Set(input.owned.map(({ kind, key }) => address(kind, key)))
  return [...input.stated].flatMap(([id, { kind, key, fields }]) =>
    binding.has(id) && !owned.has(id) && !input.credentialsOf?.has(binding.get(id)!.id!)
      ? [...fields]
          .filter(([path]) => resolve(kinds[kind], path).field.once && isSecret(kinds[kind], path))
          .map(([path, { origin }]) => ({
            message: `${describe(kind, key)}: ${path} stay as they are, since the ${kinds[kind].title} was there before`,
            position: origin.locate(path),
          }))
      : [],
  )
}

function notes({ notices, stated }: PlanInput): Note[] {
  const masked = [...stated.values()].flatMap((one) =>
    one.masked
      .filter((path) => !one.fields.has(path))
      .map((path) => ({
        message: `${describe(one.kind, one.key)}: ${path} is masked; what is there stays`,
        position: one.origin.position,
      })),
  )
  return [...notices, ...masked, ...unknownProviders(stated.values())]
}

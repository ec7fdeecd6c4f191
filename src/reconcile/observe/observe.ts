// The live state that matters for a plan, in a constant number of statements: what is stated, referred to, or owned.
import { adminPermissionsObjects, builtInObjects } from '../../kinds/built-in/index.ts'
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { creationOrder } from '../../kinds/order.ts'
import { address } from '../../kinds/tree.ts'
import type { Context } from '../../service/context/context.ts'
import { digested } from '../../service/context/secrets.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import { driftPolicy } from '../../service/journal/drift-policy.ts'
import { entriesOf } from '../../service/journal/journal.ts'
import { writers } from '../../service/kinds/index.ts'
import { defaultRoleName } from '../../service/users/default-role.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import { blame } from '../model/attribution.ts'
import { STATED_NO_MORE } from '../model/declared-digest.ts'
import { exactInNewRealm, newDefaultRole } from '../model/default-role.ts'
import type { LiveState, ManagedObject, PlanInput } from '../model/plan-input.ts'
import { isStatedAgain, references } from '../model/references.ts'
import { calledBefore } from '../model/renames.ts'
import { fates, withFates } from '../read/unstated.ts'
import type { Observed } from './observed.ts'
import { inventoryAgainst, ownedTogether, type Stating, settledRows } from './owned.ts'
import { beyondLists } from './whole-lists.ts'

/**
 * What a plan for the realm is made of: `desired` is what the parts state together. No context: the realm does not exist
 * yet.
 */
export async function observe(
  context: Context | undefined,
  parts: readonly Stating[],
  desired: DesiredRealm,
): Promise<Observed> {
  const builtIn = new Map(builtInObjects(desired.name).map((one) => [address(one.kind, one.key), one]))
  const base = {
    realm: desired.name,
    declared: desired.objects,
    notices: desired.notices,
    named: desired.named,
    builtIn: new Map(
      [...builtIn.values(), ...adminPermissionsObjects()].map(({ kind, key, representation }) => [
        address(kind, key),
        flatten(kinds[kind], representation),
      ]),
    ),
  }
  const policyOf: PlanInput['policyOf'] = (kind, key, path, by) => {
    const id = address(kind, key)
    const states = ({ desired }: Stating) => path === undefined || desired.objects.get(id)?.fields.has(path)
    return driftPolicy(
      parts.filter((one) => one.desired.objects.has(id) && states(one)).map(({ settings }) => settings),
      kind,
      path,
      by,
    )
  }
  const isAuthoritative: PlanInput['isAuthoritative'] = (kind, key, path) =>
    !kinds[kind].people &&
    parts.some(
      ({ settings, desired }) =>
        settings.prune === 'all' && desired.objects.get(address(kind, key))?.fields.has(path) === true,
    )
  if (!context) {
    // A new realm will have its built-in objects: the plan says what is to change on them.
    const live = [...builtIn.values()].map(({ kind, key, representation }) => ({
      kind,
      key,
      fields: flatten(kinds[kind], representation),
    }))
    return {
      ...base,
      currentName: desired.name,
      exists: false,
      live,
      names: new Map(),
      isSettled: () => false,
      managed: [],
      otherSources: [],
      policyOf,
      isAuthoritative: exactInNewRealm(desired),
      defaultRole: newDefaultRole(desired),
      resettled: false,
      marked: new Map(),
      rows: [],
      changedBy: () => undefined,
    }
  }
  const resettled = parts.some((one) => one.resettled)
  const { rows, open } = await inventoryAgainst(context, parts)
  const isSettled = (id: string) => desired.objects.has(id) && !open.has(id)
  const read = new Set(parts.map(({ source }) => source))
  const fate = fates(parts)
  // What cannot be applied now counts as what is not read: it can only veto.
  const counts = (row: InventoryRow) => read.has(row.source) && fate(row) !== 'kept'
  const own = rows.filter(counts)
  const owned = withFates(own, fate, (some) => ownedTogether(some, parts))
  // Who settles something else may mean something else by what they state again.
  const settled = resettled ? new Map<string, ManagedObject>() : settledRows(desired, owned)
  const keys = wantedKeys(desired, owned, (id) => isSettled(id) || settled.has(id))
  const unsettled = await readLive(
    context,
    keys,
    owned.filter(({ kind, key }) => !settled.has(address(kind, key))),
  )
  const live = [
    ...[...settled.values()].map(({ kind, key, object, fields }) => ({
      kind,
      key,
      id: object,
      settled: true as const,
      fields,
    })),
    ...unsettled,
  ]
  const beyond = await beyondLists(context, parts, desired, rows, base.builtIn)
  const entries = await entriesOf(
    context,
    owned.filter(({ marked, drifted, accepted }) => marked || (resettled && (drifted || accepted))),
  )
  const marked = Map.groupBy(
    own.filter((row) => row.marked),
    ({ source }) => source,
  )
  return {
    ...base,
    currentName: context.realm.name,
    exists: true,
    live: withBeyond(live, beyond.objects),
    names: await readNames(context, keys, desired, live),
    isSettled,
    managed: owned,
    otherSources: rows.filter((row) => !counts(row) && row.stated !== STATED_NO_MORE),
    policyOf,
    isAuthoritative,
    ...(keys.has('user') && { defaultRole: await defaultRoleName(context) }),
    resettled,
    marked: new Map(
      parts.map(({ source }) => [source, (marked.get(source)?.length ?? 0) + Number(beyond.marked.has(source))]),
    ),
    rows: own,
    changedBy: blame(entries),
  }
}

/** What is beyond a list may be known already, since something names it. */
function withBeyond(live: readonly LiveState[], beyond: readonly LiveState[]): readonly LiveState[] {
  if (!beyond.length) return live
  const more = new Set(beyond.map(({ kind, id }) => `${kind} ${id}`))
  return [...live.filter(({ kind, id }) => !more.has(`${kind} ${id}`)), ...beyond]
}

async function readLive(
  context: Context,
  keys: WantedKeys,
  owned: readonly { kind: KindName; object: string }[],
): Promise<LiveState[]> {
  const live: LiveState[] = []
  for (const kind of creationOrder) {
    const ids = owned.filter((one) => one.kind === kind).map(({ object }) => object)
    const wanted = [...(keys.get(kind)?.values() ?? [])]
    if (!ids.length && !wanted.length) continue
    const found = await writers[kind].list(context, { ids, keys: wanted })
    live.push(
      ...found.map(({ key, id, version, representation }) => ({
        kind,
        key,
        id,
        version,
        fields: digested(context.vault, kinds[kind], representation),
      })),
    )
  }
  return live
}

/** The keys of all live objects of the kinds that miss one which is referred to. No statement where none is missed. */
async function readNames(
  context: Context,
  keys: WantedKeys,
  desired: DesiredRealm,
  live: readonly LiveState[],
): Promise<Map<KindName, Key[]>> {
  const there = new Set([...desired.objects.keys(), ...live.map(({ kind, key }) => address(kind, key))])
  const names = new Map<KindName, Key[]>()
  for (const [kind, wanted] of keys) {
    if ([...wanted.values()].every((key) => there.has(address(kind, key)))) continue
    names.set(
      kind,
      (await writers[kind].list(context, {})).map(({ key }) => key),
    )
  }
  return names
}

type WantedKeys = ReadonlyMap<KindName, ReadonlyMap<string, Key>>

/** Natural keys by kind of everything that is stated or referred to, parents included, but for what is settled. */
function wantedKeys(
  desired: DesiredRealm,
  owned: readonly ManagedObject[],
  isSettled: (address: string) => boolean,
): WantedKeys {
  const unmarked = new Map(owned.filter(({ marked }) => !marked).map((row) => [address(row.kind, row.key), row.fields]))
  const keys = new Map<KindName, Map<string, Key>>()
  const want = (kind: KindName, key: Key) => {
    if (isSettled(address(kind, key))) return
    if (!keys.has(kind)) keys.set(kind, new Map())
    keys.get(kind)!.set(JSON.stringify(key), key)
    if (key.length > 1) want(key[0] as KindName, key.slice(1, -1))
  }
  const before = calledBefore(desired.objects.values())
  for (const [id, { kind, key, fields }] of desired.objects) {
    if (isSettled(id)) continue
    want(kind, key)
    if (before) want(kind, before(kind, key))
    for (const [path, { value }] of fields) {
      if (isStatedAgain(unmarked.get(id), path, value)) continue
      for (const to of references(kinds[kind], key, path, value)) want(to.to, to.key)
    }
  }
  return keys
}

// What of a plan waits for a person: what cannot be made good if it was a slip. Pure.
import { hash } from 'node:crypto'
import { MASTER } from '../../kinds/built-in/index.ts'
import { isSecret, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import { address, describe } from '../../kinds/tree.ts'
import type { Actor, FormerRealm, RealmSize, StoredEntry } from '../../service/context/store-types.ts'
import type { SourceSettings } from '../../service/journal/source-settings.ts'
import type { Guard, RealmPlan } from '../model/action.ts'
import { attribution, by } from '../model/attribution.ts'
import type { DeclaredObject, LiveState, ManagedObject, PlanInput } from '../model/plan-input.ts'
import { bind, findRecreated, type Recreated } from './binding.ts'

/** What a plan does not say, as far as its guards ask for it. */
export interface GuardFacts {
  /** Of a realm that is deleted: what goes with it. */
  readonly size?: (RealmSize & { readonly revision: number }) | undefined
  /** Of a realm that is made: the one that had its name. */
  readonly former?: FormerRealm | undefined
  /** How many objects the sources own, where some are deleted. */
  readonly owned?: number | undefined
  /** Who made the people that are adopted, by their ids. */
  readonly makers?: ReadonlyMap<string, Actor> | undefined
  /** Objects with the names of applied ones, which none of the sources made. */
  readonly recreated?: readonly NamedAgain[] | undefined
}

/** A recreated object, and the entry of the journal that gave it its name, where the journal still has it. */
export interface NamedAgain extends Recreated {
  readonly entry: StoredEntry | undefined
}

/** More deletions than these wait for an approval, unless a source settles it otherwise. */
const DELETIONS = 20
const SHARE = 0.5
/** So many deletions never wait, whatever share they are. */
const FEW = 3
/** Names that are told one by one. */
const TOLD = 5

/** Why the plan waits for an approval. Of several sources, the strictest settings count. */
export function guards(
  plan: RealmPlan,
  input: PlanInput,
  settings: readonly SourceSettings[],
  facts: GuardFacts,
): Guard[] {
  return [
    ...(endsRealm(plan) ? deletesRealm(plan, input, facts) : deletions(plan, input, settings, facts)),
    ...recreatesRealm(plan, facts),
    ...adoption(plan, input, facts),
    ...recreation(input, facts),
  ]
}

/** Whether the plan deletes the realm itself. */
export function endsRealm({ actions }: Pick<RealmPlan, 'actions'>): boolean {
  return actions.some(({ kind, operation }) => kind === 'realm' && operation === 'delete')
}

/** How many objects of a realm that stays the plan deletes, where that is more than a few; not those that are meant to go. */
export function deletionsOf(plan: RealmPlan, input: Pick<PlanInput, 'managed'>): number {
  const count = slips(plan, input)
  return count > FEW && !endsRealm(plan) ? count : 0
}

function slips(plan: RealmPlan, { managed: owned }: Pick<PlanInput, 'managed'>): number {
  const meant = new Set(owned.flatMap((one) => (one.meant ? idOf(one) : [])))
  return deleted(plan).filter((id) => !meant.has(id)).length
}

const idOf = ({ kind, object }: Pick<ManagedObject, 'kind' | 'object'>) => `${kind} ${object}`

const deleted = ({ actions }: RealmPlan): string[] =>
  actions.flatMap(({ operation, kind, id }) => (operation === 'delete' ? idOf({ kind, object: id! }) : []))

/** People who are there, and whom no source owned so far: each as they are stated, and live. */
export function adoptedUsers(input: PlanInput): { stated: DeclaredObject; live: LiveState }[] {
  const owned = new Set([...input.managed, ...input.otherSources].map(({ kind, object }) => `${kind} ${object}`))
  const binding = bind(input)
  const recreated = findRecreated(input, binding)
  return [...input.declared].flatMap(([id, stated]) => {
    if (recreated.has(id)) return []
    const live = stated.kind === 'user' && !stated.named && !input.isSettled(id) ? binding.get(id) : undefined
    if (live?.id === undefined || owned.has(`user ${live.id}`) || live.fields.serviceAccountClientId != null) return []
    return [{ stated, live }]
  })
}

/** Those of the people whom neither a source nor an administrator made, nor Regent itself. */
export function strangers<T extends { readonly live: LiveState }>(all: readonly T[], { makers }: GuardFacts): T[] {
  return all.filter(({ live }) => (makers?.get(live.id!)?.kind ?? 'person') === 'person')
}

function deletesRealm({ realm }: RealmPlan, { managed: owned }: PlanInput, { size }: GuardFacts): Guard[] {
  if (owned.some(({ kind, meant }) => kind === 'realm' && meant)) return []
  const { people = 0, clients = 0, sessions = 0 } = size ?? {}
  const goes = [counted(people, 'user'), counted(clients, 'client'), counted(sessions, 'session')]
  const message = `deletes the realm ${realm} with ${goes[0]}, ${goes[1]} and ${goes[2]}`
  return [{ guard: 'deletesRealm', message, objects: [realm], ...(size && { revision: size.revision }) }]
}

function recreatesRealm({ creates, realm }: RealmPlan, { former }: GuardFacts): Guard[] {
  if (!creates || realm === MASTER || !former || former.people === 0) return []
  const { people, deletedAt } = former
  const had = people === null ? ' (number of users unknown)' : `, which had ${counted(people, 'user')}`
  const message = `recreates the realm ${realm}${had} and was deleted at ${deletedAt.toISOString()}; its users are not restored`
  return [{ guard: 'recreatesRealm', message, objects: [realm] }]
}

function deletions(
  plan: RealmPlan,
  input: PlanInput,
  settings: readonly SourceSettings[],
  { owned = 0 }: GuardFacts,
): Guard[] {
  const vanished = new Set(input.managed.flatMap((one) => (one.vanished ? idOf(one) : [])))
  const lost = deleted(plan).filter((id) => vanished.has(id)).length
  if (lost) {
    const message = `deletes ${counted(lost, 'object')} whose declaration disappeared without being deleted`
    return [{ guard: 'deletions', message, objects: [] }]
  }
  const count = slips(plan, input)
  const most = Math.min(...settings.map(({ guards }) => guards?.deletions ?? DELETIONS))
  const share = Math.min(...settings.map(({ guards }) => guards?.share ?? SHARE))
  const reason =
    count > most
      ? `more than ${most}`
      : deletionsOf(plan, input) > owned * share
        ? `more than ${Math.round(share * 100)} % of the ${owned} that its sources manage`
        : undefined
  return reason ? [{ guard: 'deletions', message: `deletes ${counted(count, 'object')}, ${reason}`, objects: [] }] : []
}

function adoption(plan: RealmPlan, input: PlanInput, facts: GuardFacts): Guard[] {
  if (plan.creates) return []
  const people = strangers(adoptedUsers(input), facts)
  if (!people.length) return []
  const names = people.slice(0, TOLD).map(({ live }) => describe(live.kind, live.key))
  const more = people.length - names.length
  const who = [...names, ...(more ? [`${more} more`] : [])].join(', ')
  const message = `adopts ${who}, created neither by a source nor by an administrator; adopted users keep their credentials`
  const credentials = credentialsOf(people)
  return [
    {
      guard: 'adoption',
      message,
      objects: people.map(({ live }) => live.id!).sort(),
      ...(credentials && { credentials }),
    },
  ]
}

/** Whoever made an object with the name of an applied one must not get what is declared for that. */
function recreation(input: PlanInput, { recreated = [] }: GuardFacts): Guard[] {
  if (!recreated.length) return []
  const named = new Set(recreated.map(({ live }) => address(live.kind, live.key)))
  // Of what belongs to a recreated object nothing more is to be said.
  const roots = recreated.filter(({ live: { key } }) => !named.has(address(key[0] as KindName, key.slice(1, -1))))
  const told = roots.slice(0, TOLD).map(({ live, applied, entry }) => {
    const deleter = input.changedBy(applied.kind, applied.object)
    const made = entry?.operation === 'update' ? 'another one was renamed to it' : 'it was created again'
    return (
      `${describe(live.kind, live.key)} is not the one that was applied: that was deleted${deleter ? ` by ${by(deleter)}` : ''}` +
      `, and ${made}${entry ? ` by ${by(attribution(entry))}` : ''}`
    )
  })
  const more = roots.length - told.length
  const people = recreated.filter(({ stated }) => stated.kind === 'user')
  const credentials = credentialsOf(people)
  return [
    {
      guard: 'recreated',
      message: `grants declared permissions to other objects of the same name: ${[...told, ...(more ? [`${more} more`] : [])].join('; ')}`,
      objects: recreated.map(({ live }) => live.id!).sort(),
      ...(credentials && { credentials }),
    },
  ]
}

/** What is approved with credentials must be what was stated then: the plan itself does not say them. */
function credentialsOf(people: readonly { readonly stated: DeclaredObject }[]): string | undefined {
  const stated = people.flatMap(({ stated: { kind, key, fields } }) =>
    [...fields].flatMap(([path, { value }]) =>
      resolve(kinds[kind], path).field.once && isSecret(kinds[kind], path) ? [JSON.stringify([key, path, value])] : [],
    ),
  )
  return stated.length ? hash('sha256', JSON.stringify(stated.sort()), 'base64url') : undefined
}

/** `1 person`, `2 people`. */
function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

// What of a plan waits for a person: what cannot be made good if it was a slip. Pure.
import { hash } from 'node:crypto'
import { MASTER } from '../kinds/built-in/index.ts'
import { isSecret, resolve } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import { describe } from '../kinds/tree.ts'
import type { Actor } from '../service/context.ts'
import type { FormerRealm, RealmSize } from '../service/guarded.ts'
import type { SourceSettings } from '../service/source-settings.ts'
import type { Guard, RealmPlan } from './action.ts'
import { bind } from './binding.ts'
import type { LiveState, Owned, PlanInput, Stated } from './plan-input.ts'

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
    ...makesRealmAgain(plan, facts),
    ...adoption(plan, input, facts),
  ]
}

/** Whether the plan deletes the realm itself. */
export function endsRealm({ actions }: Pick<RealmPlan, 'actions'>): boolean {
  return actions.some(({ kind, operation }) => kind === 'realm' && operation === 'delete')
}

/** How many objects of a realm that stays the plan deletes, where that is more than a few; not those that are meant to go. */
export function deletionsOf(plan: RealmPlan, input: Pick<PlanInput, 'owned'>): number {
  const count = slips(plan, input)
  return count > FEW && !endsRealm(plan) ? count : 0
}

function slips(plan: RealmPlan, { owned }: Pick<PlanInput, 'owned'>): number {
  const meant = new Set(owned.flatMap((one) => (one.meant ? idOf(one) : [])))
  return deleted(plan).filter((id) => !meant.has(id)).length
}

const idOf = ({ kind, object }: Pick<Owned, 'kind' | 'object'>) => `${kind} ${object}`

const deleted = ({ actions }: RealmPlan): string[] =>
  actions.flatMap(({ operation, kind, id }) => (operation === 'delete' ? idOf({ kind, object: id! }) : []))

/** People who are there, and whom no source owned so far: each as they are stated, and live. */
export function adopted(input: PlanInput): { stated: Stated; live: LiveState }[] {
  const owned = new Set([...input.owned, ...input.others].map(({ kind, object }) => `${kind} ${object}`))
  const binding = bind(input)
  return [...input.stated].flatMap(([id, stated]) => {
    const live = stated.kind === 'user' && !stated.named && !input.isSettled(id) ? binding.get(id) : undefined
    if (live?.id === undefined || owned.has(`user ${live.id}`) || live.fields.serviceAccountClientId != null) return []
    return [{ stated, live }]
  })
}

/** Those of the people whom neither a source nor an administrator made, nor Regent itself. */
export function strangers<T extends { readonly live: LiveState }>(all: readonly T[], { makers }: GuardFacts): T[] {
  return all.filter(({ live }) => (makers?.get(live.id!)?.kind ?? 'person') === 'person')
}

function deletesRealm({ realm }: RealmPlan, { owned }: PlanInput, { size }: GuardFacts): Guard[] {
  if (owned.some(({ kind, meant }) => kind === 'realm' && meant)) return []
  const { people = 0, clients = 0, sessions = 0 } = size ?? {}
  const goes = [counted(people, 'person', 'people'), counted(clients, 'client'), counted(sessions, 'session')]
  const message = `deletes the realm ${realm} with ${goes[0]}, ${goes[1]} and ${goes[2]}`
  return [{ guard: 'deletesRealm', message, about: [realm], ...(size && { revision: size.revision }) }]
}

function makesRealmAgain({ creates, realm }: RealmPlan, { former }: GuardFacts): Guard[] {
  if (!creates || realm === MASTER || !former || former.people === 0) return []
  const { people, deletedAt } = former
  const had =
    people === null ? '; how many people it had is not known' : `, which had ${counted(people, 'person', 'people')}`
  const message = `makes the realm ${realm} again${had}: it was deleted at ${deletedAt.toISOString()}, and they do not come back`
  return [{ guard: 'makesRealmAgain', message, about: [realm] }]
}

function deletions(
  plan: RealmPlan,
  input: PlanInput,
  settings: readonly SourceSettings[],
  { owned = 0 }: GuardFacts,
): Guard[] {
  const vanished = new Set(input.owned.flatMap((one) => (one.vanished ? idOf(one) : [])))
  const lost = deleted(plan).filter((id) => vanished.has(id)).length
  if (lost) {
    const message = `deletes ${counted(lost, 'object')}, though nobody deleted what stated ${lost === 1 ? 'it' : 'them'}: that has vanished`
    return [{ guard: 'deletions', message, about: [] }]
  }
  const count = slips(plan, input)
  const most = Math.min(...settings.map(({ guards }) => guards?.deletions ?? DELETIONS))
  const share = Math.min(...settings.map(({ guards }) => guards?.share ?? SHARE))
  const reason =
    count > most
      ? `more than ${most}`
      : deletionsOf(plan, input) > owned * share
        ? `more than ${Math.round(share * 100)} % of the ${owned} that its sources own`
        : undefined
  return reason ? [{ guard: 'deletions', message: `deletes ${counted(count, 'object')}, ${reason}`, about: [] }] : []
}

function adoption(plan: RealmPlan, input: PlanInput, facts: GuardFacts): Guard[] {
  if (plan.creates) return []
  const people = strangers(adopted(input), facts)
  if (!people.length) return []
  const names = people.slice(0, TOLD).map(({ live }) => describe(live.kind, live.key))
  const more = people.length - names.length
  const who = [...names, ...(more ? [`${more} more`] : [])].join(', ')
  const message = `adopts ${who}, whom neither a source nor an administrator made: they become the source's, and keep what they log in with`
  const credentials = credentialsOf(people)
  return [
    {
      guard: 'adoption',
      message,
      about: people.map(({ live }) => live.id!).sort(),
      ...(credentials && { credentials }),
    },
  ]
}

/** What is approved with credentials must be what was stated then: the plan itself does not say them. */
function credentialsOf(people: readonly { readonly stated: Stated }[]): string | undefined {
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

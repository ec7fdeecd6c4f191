// What became of a realm: its revisions, what lies between two of them, and the way back.

import { identical, misdirectedSecrets } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import { describe } from '../../kinds/tree.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { inPerson } from '../../service/context/in-person.ts'
import { digested } from '../../service/context/secrets.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { type Revision, Rollback } from '../../service/context/store-types.ts'
import { entriesBetween, recordAndHold, revisionsAmong, revisionsOf } from '../../service/journal/history.ts'
import { flush } from '../../service/journal/journal.ts'
import { writers } from '../../service/kinds/index.ts'
import { noteChanges } from '../../service/objects/object-events.ts'
import { demand } from '../../service/permissions/administrators.ts'
import { apply, eventsAreKept } from '../execute/apply.ts'
import { effectsOfPlan } from '../execute/effects.ts'
import { changesOf, outcomeOf, type RealmOutcome } from '../execute/execute.ts'
import { type Action, type FieldChange, type Note, type RealmPlan, valuesSetBy } from '../model/action.ts'
import { changesBetween, type PastEntry, type Present, withoutSecrets } from './timeline.ts'

/** Revisions that are told at a time. */
const MOST = 1_000

/** The last revisions of a realm, newest first: each is what one transaction changed of its configuration. One statement. */
export async function history(
  context: Context,
  { below, max = 50 }: { below?: number | undefined; max?: number | undefined },
): Promise<Revision[]> {
  demand(context, 'administer-realm')
  return revisionsOf(context, below ?? context.realm.revision + 1, Math.min(max, MOST))
}

/** What leads from one revision of a realm to another; without `to`, to what is live. A few statements per kind. */
export async function diff(context: Context, from: number, to = context.realm.revision): Promise<Action[]> {
  demand(context, 'administer-realm')
  await demandRevisions(context, [from, to])
  const [older, newer] = [Math.min(from, to), Math.max(from, to)]
  const entries = await entriesBetween(context, older, newer)
  return changesBetween(entries, await presentOf(context, entries), from, to)
}

/**
 * Goes back to a revision: what was changed since is changed back in one transaction, as a revision of its own, and the sources
 * of the realm are held. Secrets that are there stay, and are listed. `tried`: shows it, and keeps nothing. Throws invalid.
 */
export function rollback(
  service: Service,
  caller: Caller,
  realm: string,
  revision: number,
  { tried = false }: { tried?: boolean | undefined } = {},
): Promise<RealmOutcome> {
  const actor = inPerson(caller.actor)
  // The sources are held, and learn of it: what they state is not theirs for now.
  return service.write(
    { ...caller, actor, mayDrift: true },
    realm,
    async (context) => {
      demand(context, 'administer-realm')
      const plan = await wayBack(context, revision)
      const effects = await effectsOfPlan(context, plan)
      const applied = await apply(context, plan, { objects: new Map(), secret: () => undefined })
      const outcome = outcomeOf(context, plan, effects)
      if (tried) throw new Rollback(outcome)
      if (eventsAreKept(context, plan, applied)) noteChanges(context, changesOf(plan, applied))
      await flush(context)
      await recordAndHold(context, plan, { revision, by: actor.user ?? actor.kind })
      return outcome
    },
    { master: true },
  )
}

async function wayBack(context: WriteContext, revision: number): Promise<RealmPlan> {
  const all = (await diff(context, context.version - 1, revision)).map(withoutSecrets)
  const notes = all.flatMap(({ action: { operation, kind, key }, kept }): Note[] => {
    const instead = operation === 'create' ? 'what was there is lost' : 'what is there stays'
    return kept.map((path) => ({ message: `${describe(kind, key)}: ${path} is not kept in the journal; ${instead}` }))
  })
  const actions = all
    .map(({ action }) => action)
    .filter(({ operation, changes }) => operation !== 'update' || changes.length)
  const removed = await misdirected(context, actions)
  return { realm: context.realm.name, creates: false, actions: removed, ignoredDrift: [], notes, preconditions: [] }
}

/** The actions, which also remove secrets that would be sent elsewhere than now. A statement per kind with such secrets. */
async function misdirected(context: WriteContext, actions: readonly Action[]): Promise<Action[]> {
  const updates = actions.filter(({ operation }) => operation === 'update')
  const sending = updates.filter(({ kind }) => Object.values(kinds[kind].fields).some((field) => field.destination))
  const removals = new Map<Action, FieldChange[]>()
  for (const [kind, own] of Map.groupBy(sending, (action) => action.kind)) {
    const found = await writers[kind].list(context, { keys: own.map(({ key }) => key) })
    for (const action of own) {
      const live = found.find(({ key }) => identical(key as string[], action.key as string[]))
      if (!live) continue
      const fields = digested(context.vault, kinds[kind], live.representation)
      const set = valuesSetBy(action.changes)
      const paths = misdirectedSecrets(kinds[kind], fields, set)
      removals.set(
        action,
        paths.map((path) => ({ path, from: fields[path]!, to: null, reason: 'declared' })),
      )
    }
  }
  return actions.map((action) => ({ ...action, changes: [...action.changes, ...(removals.get(action) ?? [])] }))
}

/** What one transaction changed is one revision; numbers within are none. */
async function demandRevisions(context: Context, numbers: readonly number[]): Promise<void> {
  const known = await revisionsAmong(context, numbers)
  const unknown = numbers.find((one) => !known.has(one))
  if (unknown === undefined) return
  const { name } = context.realm
  throw failure(
    'invalid',
    `r${unknown} is no revision of the realm ${name}: "regent history ${name}" lists those that there are`,
  )
}

/** What is live of what entries are about. A few statements per kind. */
async function presentOf(context: Context, entries: readonly PastEntry[]): Promise<Map<string, Present>> {
  const present = new Map<string, Present>()
  for (const [kind, own] of Map.groupBy(entries, (one) => one.kind as KindName)) {
    const ids = [...new Set(own.map(({ object }) => object))]
    for (const { id, key, version, representation } of await writers[kind].list(context, { ids })) {
      present.set(`${kind} ${id}`, { key, version, fields: digested(context.vault, kinds[kind], representation) })
    }
  }
  return present
}

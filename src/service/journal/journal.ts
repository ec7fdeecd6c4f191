// The journal: every change of configuration and of users, written in the transaction that makes it.
import type { FlatFields } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import {
  insertEntries,
  insertPeopleEntries,
  type JournalEntry,
  nextNumber,
  type StoredEntry,
  selectEntries,
} from '../../store/journal/journal.ts'
import type { OwnedRow } from '../../store/sources/inventory.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { may } from '../permissions/administrators.ts'
import { writeEvents } from './admin-events.ts'
import { overwritten, refuseOverwriting } from './ownership.ts'

/** A context that may write; the realm is locked already. One statement. */
export async function writable(context: Context): Promise<WriteContext> {
  return {
    ...context,
    version: await nextNumber(context.tx, context.realm.number),
    entries: [],
    people: [],
    became: new Map(),
    events: [],
    event: {},
    flushed: 0,
  }
}

/** Notes what happened to an object: `fields` are the values before, `after` those of an update then, where they are known. */
export function journal(
  context: WriteContext,
  operation: JournalEntry['operation'],
  kind: KindName,
  object: { readonly id: string; readonly key: Key },
  fields: JournalEntry['fields'],
  after?: FlatFields,
): void {
  const stream = kinds[kind].people ? context.people : context.entries
  const entry = { operation, kind, object: object.id, key: object.key, fields }
  stream.push(entry)
  if (after && isAsked(context)) context.became.set(entry, after)
}

/** Whether sources may mind what the actor changes: administrators are told, and people and Regent itself do what they must. */
function isAsked({ actor, ofSources }: Context): boolean {
  return actor.kind === 'administrator' && !ofSources
}

/**
 * Writes the journal and the admin events, and marks the inventory rows of what changed: of every source but those whose
 * run this is, which record what they left. Throws owned where another one refuses what an administrator changed. Two statements
 * at most, and one per chunk of admin events.
 */
export async function flush(context: WriteContext, sources: readonly string[] = []): Promise<void> {
  const { tx, realm, version, now, actor } = context
  await writeEvents(context, context.events.splice(0))
  const asked = isAsked(context) && !sources.length
  const owned: OwnedRow[] = []
  const people = context.people.splice(0)
  if (people.length)
    owned.push(
      ...(await insertPeopleEntries(tx, realm.number, { at: now, actor, entries: people, except: sources, asked })),
    )
  const entries = context.entries.splice(0)
  const first = version + context.flushed
  if (entries.length)
    owned.push(...(await insertEntries(tx, realm.number, { first, at: now, actor, entries, except: sources, asked })))
  context.flushed += entries.length
  if (!owned.length) return
  const found = overwritten([...people, ...entries], context.became, owned)
  if (!context.mayDrift || !may(context, 'administer-realm')) refuseOverwriting(found)
  context.overwritten?.push(...found)
}

/** The latest journal entries about the objects, newest first. One statement per stream. */
export async function entriesOf(
  context: Context,
  objects: readonly { kind: KindName; object: string }[],
): Promise<StoredEntry[]> {
  const streams = [false, true].map((people) => ({
    people,
    about: objects.filter(({ kind }) => (kinds[kind].people === true) === people),
  }))
  const found: StoredEntry[] = []
  for (const { people, about } of streams) {
    if (!about.length) continue
    const named = about.map(({ kind, object }) => ({ kind, object }))
    found.push(...(await selectEntries(context.tx, context.realm.number, { objects: named, people })))
  }
  return found
}

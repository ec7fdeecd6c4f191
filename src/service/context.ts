// What every function of the service takes first, and the unit of work that it stands for.
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import type { AdminEvent } from '../store/admin-events.ts'
import type { Transaction } from '../store/database.ts'
import {
  type InventoryDifference,
  type InventoryRow,
  type MarkedRow,
  type StatedNow,
  selectInventory,
  selectMarkedInventory,
  selectOwned,
} from '../store/inventory.ts'
import {
  type Actor,
  insertEntries,
  insertPeopleEntries,
  type JournalEntry,
  nextNumber,
  type StoredEntry,
  selectEntries,
} from '../store/journal.ts'
import type { RealmRow } from '../store/realms.ts'
import { writeEvents } from './admin-events.ts'
import type { Blacklists } from './password-blacklists.ts'
import type { Power } from './power.ts'
import type { UserEvent } from './user-events.ts'
import type { Vault } from './vault.ts'

export type { InventoryRow } from '../store/inventory.ts'
export type { Actor, JournalEntry, StoredEntry } from '../store/journal.ts'

/** One call by one actor on one realm, inside one transaction. */
export interface Context {
  readonly tx: Transaction
  readonly realm: RealmRow
  readonly actor: Actor
  readonly now: Date
  readonly vault: Vault
  /** Lists of passwords that nobody may choose. */
  readonly blacklists: Blacklists
  /** What the actor may administer. */
  readonly power: Power
  /** Whether the actor says that nobody may be left who administers every realm. */
  readonly mayLockOut?: true | undefined
  /** Ids of objects that this transaction has made, by address, where the work keeps them: they need not be looked up. */
  readonly made?: ReadonlyMap<string, string>
  /** Whether there is something in the outbox for which whoever delivers it is to be woken after the commit. */
  readonly outbox: { filled: boolean }
}

/** A context that may write what is neither configuration nor people: log-ins, sessions. The realm is not locked. */
export interface RuntimeContext extends Context {
  /** What happened: see user-events.ts. */
  readonly userEvents: UserEvent[]
}

/** A context under the realm's lock, which may write. What it journals is written by `flush`, before the commit. */
export interface WriteContext extends Context {
  /** Number of the first journal entry of this transaction: the version of everything that it writes. */
  readonly version: number
  readonly entries: JournalEntry[]
  /** Entries of the people stream. */
  readonly people: JournalEntry[]
  /** Admin events that are to be written. */
  readonly events: AdminEvent[]
  /** What the work says of the event of its operation, because the operation's description cannot know it: `none`, that it leaves none. */
  readonly event: Partial<AdminEvent> & { none?: true }
  /** How many entries `flush` has written already. */
  flushed: number
}

/** A context that may write; the realm is locked already. One statement. */
export async function writable(context: Context): Promise<WriteContext> {
  return {
    ...context,
    version: await nextNumber(context.tx, context.realm.number),
    entries: [],
    people: [],
    events: [],
    event: {},
    flushed: 0,
  }
}

/** Notes what happened to an object: `fields` are the values before. */
export function journal(
  context: WriteContext,
  operation: JournalEntry['operation'],
  kind: KindName,
  object: { readonly id: string; readonly key: Key },
  fields: JournalEntry['fields'],
): void {
  const stream = kinds[kind].people ? context.people : context.entries
  stream.push({ operation, kind, object: object.id, key: object.key, fields })
}

/**
 * Writes the journal and the admin events, and marks the inventory rows of what changed: of every source but those whose
 * run this is, which record what they left. Two statements at most, and one per chunk of admin events.
 */
export async function flush(context: WriteContext, sources: readonly string[] = []): Promise<void> {
  const { tx, realm, version, now, actor } = context
  await writeEvents(context, context.events.splice(0))
  const people = context.people.splice(0)
  if (people.length) await insertPeopleEntries(tx, realm.number, now, actor, people, sources)
  const entries = context.entries.splice(0)
  if (entries.length) await insertEntries(tx, realm.number, version + context.flushed, now, actor, entries, sources)
  context.flushed += entries.length
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
    found.push(...(await selectEntries(context.tx, context.realm.number, named, people)))
  }
  return found
}

/** What all sources own in the realm, but for what some state with these digests as they did before. One statement. */
export function inventoryOf({ tx, realm }: Context, stated: readonly StatedNow[]): Promise<InventoryDifference> {
  return selectInventory(tx, realm.number, stated)
}

/** What sources own of the objects that they state under these keys. One statement. */
export function ownedOf(
  { tx, realm }: Context,
  sources: readonly string[],
  objects: readonly { kind: KindName; key: Key }[],
): Promise<InventoryRow[]> {
  return selectOwned(tx, realm.number, sources, objects)
}

/** What all sources own in the realm and somebody else has changed since. One statement. */
export function markedInventoryOf({ tx, realm }: Context): Promise<MarkedRow[]> {
  return selectMarkedInventory(tx, realm.number)
}

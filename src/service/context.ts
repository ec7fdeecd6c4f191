// What every function of the service takes first, and the unit of work that it stands for.
import type { FlatFields } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import type { AdminEvent } from '../store/admin-events.ts'
import type { Transaction } from '../store/database.ts'
import {
  type InventoryDifference,
  type InventoryRow,
  type MarkedRow,
  type OwnedRow,
  type StatedNow,
  selectInventory,
  selectMarkedInventory,
  selectMarkedLists,
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
import { may } from './administrators.ts'
import { type Overwritten, overwritten, refuseOverwriting } from './ownership.ts'
import type { Blacklists } from './password-blacklists.ts'
import type { Power } from './power.ts'
import type { UserEvent } from './user-events.ts'
import type { Vault } from './vault.ts'

export type { InventoryRow, MarkedRow } from '../store/inventory.ts'
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
  /** Whether the actor says that what sources state is to be changed nevertheless. */
  readonly mayDrift?: true | undefined
  /** What is done is what sources state: they have vetoed each other before. */
  readonly ofSources?: true
  /** What sources state and the actor changed: whoever answers tells it. Absent: nobody does. */
  readonly overwritten?: Overwritten[] | undefined
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
  /** What the fields that an entry names say after it, where that is known. */
  readonly became: Map<JournalEntry, FlatFields>
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
  if (people.length) owned.push(...(await insertPeopleEntries(tx, realm.number, now, actor, people, sources, asked)))
  const entries = context.entries.splice(0)
  const first = version + context.flushed
  if (entries.length) owned.push(...(await insertEntries(tx, realm.number, first, now, actor, entries, sources, asked)))
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

/** Names of the sources that prune all and for which somebody made something since. One statement. */
export function marksOfLists({ tx, realm }: Context): Promise<string[]> {
  return selectMarkedLists(tx, realm.number)
}

/** What all sources own in the realm and somebody else has changed since. One statement. */
export function markedInventoryOf({ tx, realm }: Context): Promise<MarkedRow[]> {
  return selectMarkedInventory(tx, realm.number)
}

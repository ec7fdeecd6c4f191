// The journal: every change of configuration and of users, written in the transaction that makes it.
import type { FlatFields } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import {
  insertEntries,
  insertUserEntries,
  type JournalEntry,
  type StoredEntry,
  selectEntries,
} from '../../store/journal/journal.ts'
import { toAccessChanges } from '../context/access-changes.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { isPermitted } from '../permissions/require-permissions.ts'
import { insertEvents } from './admin-events.ts'
import { findOverwrittenDeclarations, refuseOverwrites } from './ownership.ts'

/** Returns a context that may write. The realm must have been read after it was locked. */
export function toWriteContext(context: Context): WriteContext {
  return {
    ...context,
    version: context.realm.revision + 1,
    entries: [],
    userEntries: [],
    newValues: new Map(),
    adminEvents: [],
    adminEvent: {},
    flushedEntries: 0,
  }
}

/** A change of an object: its previous values, and its new ones where they are known. */
export interface JournaledChange extends Pick<JournalEntry, 'operation' | 'fields'> {
  readonly kind: KindName
  readonly object: { readonly id: string; readonly key: Key }
  readonly newValues?: FlatFields
}

/** Records a change of an object. `flushJournal` writes it. */
export function recordEntry(
  context: WriteContext,
  { operation, kind, object, fields, newValues }: JournaledChange,
): void {
  if (context.createsUsersOnly && (kind !== 'user' || operation !== 'create'))
    throw new Error(`The ${operation} of a ${kind} needs the exclusive lock of the realm.`)
  const stream = kinds[kind].isUserData ? context.userEntries : context.entries
  const entry = { operation, kind, object: object.id, key: object.key, fields }
  stream.push(entry)
  if (newValues && isSubjectToOwnership(context)) context.newValues.set(entry, newValues)
}

/** Whether the `ownership` of sources applies: to administrators, but not to users, Regent itself, and applies. */
function isSubjectToOwnership({ actor, isApply }: Context): boolean {
  return actor.kind === 'administrator' && !isApply
}

/**
 * Writes the journal and the admin events, and marks the inventory rows of what was changed, except those of `sources`, whose run
 * it is. Throws managed if another source refuses a change. Two statements at most, and one per chunk of admin events.
 */
export async function flushJournal(context: WriteContext, sources: readonly string[] = []): Promise<void> {
  const { tx, realm, version, now, actor } = context
  await insertEvents(context, context.adminEvents.splice(0))
  const userEntries = context.userEntries.splice(0)
  const entries = context.entries.splice(0)
  const wakeUps = toAccessChanges(realm.number, { entries, userEntries })
  const returnsProtected = isSubjectToOwnership(context) && !sources.length
  const common = { at: now, actor, except: sources, wakeUps, returnsProtected }
  const protectedUsers = userEntries.length
    ? await insertUserEntries(tx, realm.number, { ...common, entries: userEntries })
    : []
  const first = version + context.flushedEntries
  const protectedObjects = entries.length ? await insertEntries(tx, realm.number, { ...common, first, entries }) : []
  context.flushedEntries += entries.length
  context.afterCommit.journalEntries += userEntries.length + entries.length
  context.afterCommit.accessChanges.push(...wakeUps)
  const rows = [...protectedUsers, ...protectedObjects]
  if (!rows.length) return
  const overwritten = findOverwrittenDeclarations([...userEntries, ...entries], context.newValues, rows)
  if (!context.allowDrift || !isPermitted(context, 'administer-realm')) refuseOverwrites(overwritten)
  context.overwrittenDeclarations?.push(...overwritten)
}

/** Returns the latest journal entries about the objects, newest first. One statement per stream. */
export async function listLatestEntries(
  context: Context,
  objects: readonly { readonly kind: KindName; readonly object: string }[],
): Promise<StoredEntry[]> {
  const [userData = [], configuration = []] = [true, false].map((isUserData) =>
    objects
      .filter(({ kind }) => (kinds[kind].isUserData === true) === isUserData)
      .map(({ kind, object }) => ({ kind, object })),
  )
  return [
    ...(await selectFromStream(context, configuration, false)),
    ...(await selectFromStream(context, userData, true)),
  ]
}

async function selectFromStream(
  { tx, realm }: Context,
  objects: readonly { readonly kind: KindName; readonly object: string }[],
  isUserData: boolean,
): Promise<StoredEntry[]> {
  return objects.length ? selectEntries(tx, realm.number, { objects, isUserData }) : []
}

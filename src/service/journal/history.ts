// The history of a realm, as its journal has it.

import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import {
  countUsersChangedAfter,
  type LastRealmChange,
  type Revision,
  selectEntriesAfter,
  selectLastRealmChanges,
  selectObjectEntries,
  selectOldestEntry,
  selectRevisions,
  selectRevisionsAmong,
} from '../../store/journal/history.ts'
import { type HistoryEntry, insertHistory, suspendSources } from '../../store/sources/sources.ts'
import type { Context, WriteContext } from '../context/context.ts'
import type { Service } from '../context/service.ts'
import type { StoredEntry } from '../context/store-types.ts'

/** Returns up to `max` revisions of the realm below a number, newest first. One statement. */
export function listRealmRevisions({ tx, realm }: Context, below: number, max: number): Promise<Revision[]> {
  return selectRevisions(tx, realm.number, { below, max })
}

/** Returns the entries after a revision for all objects that were changed up to another one, oldest first. One statement. */
export function listEntriesBetween({ tx, realm }: Context, after: number, until: number): Promise<StoredEntry[]> {
  return selectEntriesAfter(tx, realm.number, { after, until })
}

/** Returns the number of users that were changed after a revision. One statement. */
export function countChangedUsers({ tx, realm }: Context, revision: number): Promise<number> {
  return countUsersChangedAfter(tx, realm.number, revision)
}

/** Returns the number of the oldest entry that the retention of the journal has left. One statement. */
export function findOldestEntry({ tx, realm }: Context): Promise<number> {
  return selectOldestEntry(tx, realm.number)
}

/** Returns those of the numbers that are revisions of the realm. One statement. */
export function findExistingRevisions({ tx, realm }: Context, numbers: readonly number[]): Promise<Set<number>> {
  return selectRevisionsAmong(tx, realm.number, numbers)
}

/** Returns the last entries about an object, newest first. One statement. */
export function listObjectEntries(
  { tx, realm }: Context,
  { kind, id, max }: { readonly kind: KindName; readonly id: string; readonly max: number },
): Promise<StoredEntry[]> {
  const isUserData = kinds[kind].isUserData === true
  return selectObjectEntries(tx, realm.number, { kind, object: id, isUserData, max })
}

/** Returns the last change of the configuration of each of these realms. One statement. */
export function listLastRealmChanges(service: Service, realms: readonly number[]): Promise<LastRealmChange[]> {
  return service.query((tx) => selectLastRealmChanges(tx, realms))
}

/** Records a rollback in the history, and suspends the sources of the realm. Two statements. */
export async function recordHistoryAndSuspend(
  context: WriteContext,
  plan: object,
  suspension: { readonly revision: number; readonly by: string },
): Promise<void> {
  const { tx, realm, now, changedAt, actor } = context
  const entry: HistoryEntry = {
    at: changedAt,
    actor,
    sources: [],
    version: getLastVersion(context),
    plan: JSON.stringify(plan),
  }
  await insertHistory(tx, realm.number, entry)
  await suspendSources(tx, realm.number, { ...suspension, at: now.toISOString() })
}

/** Returns the number of the last entry of the configuration stream that this transaction has written, or of the one before it. */
export function getLastVersion({ version, flushedEntries }: WriteContext): number {
  return version + flushedEntries - 1
}

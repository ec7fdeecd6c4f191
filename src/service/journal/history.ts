// What the journal of a realm tells of its past.
import {
  type Revision,
  selectEntriesAfter,
  selectRevisions,
  selectRevisionsAmong,
} from '../../store/journal/history.ts'
import { type HistoryLine, insertHistory, suspendSources } from '../../store/sources/sources.ts'
import type { Context, WriteContext } from '../context/context.ts'
import type { StoredEntry } from '../context/store-types.ts'

/** The last revisions of a realm below a number, newest first. One statement. */
export function revisionsOf({ tx, realm }: Context, below: number, max: number): Promise<Revision[]> {
  return selectRevisions(tx, realm.number, { below, max })
}

/** The entries after a revision about all that was touched until another one, oldest first. One statement. */
export function entriesBetween({ tx, realm }: Context, after: number, until: number): Promise<StoredEntry[]> {
  return selectEntriesAfter(tx, realm.number, { after, until })
}

/** Those of the numbers that are revisions of the realm. One statement. */
export function revisionsAmong({ tx, realm }: Context, numbers: readonly number[]): Promise<Set<number>> {
  return selectRevisionsAmong(tx, realm.number, numbers)
}

/** Keeps a line of history of what no source did, and holds the sources of the realm. Two statements. */
export async function recordAndHold(
  context: WriteContext,
  plan: object,
  suspension: { readonly revision: number; readonly by: string },
): Promise<void> {
  const { tx, realm, now, actor } = context
  const line: HistoryLine = { at: now, actor, sources: [], version: lastVersion(context), plan: JSON.stringify(plan) }
  await insertHistory(tx, realm.number, line)
  await suspendSources(tx, realm.number, { ...suspension, at: now.toISOString() })
}

/** The number of the last journal entry that this transaction has written, or of the one before it. */
export function lastVersion({ version, flushed }: WriteContext): number {
  return version + flushed - 1
}

// What the journal of a realm tells of its past.

import { MASTER } from '../kinds/built-in/index.ts'
import type { KindName } from '../kinds/kind.ts'
import { type Revision, selectEntriesAfter, selectRevisions, selectRevisionsAmong } from '../store/history.ts'
import { type InventoryRow, selectInventoryOfObject } from '../store/inventory.ts'
import {
  forgetSource,
  type HistoryLine,
  holdSources,
  insertHistory,
  resumeSource,
  type SourceOfRealm,
  selectSources,
} from '../store/sources.ts'
import { demand } from './administrators.ts'
import type { Context, StoredEntry, WriteContext } from './context.ts'
import { failure } from './errors.ts'
import { allows } from './power.ts'
import type { Caller, Service } from './service.ts'

export type { Revision } from '../store/history.ts'
export type { SourceOfRealm } from '../store/sources.ts'

/** The last revisions of a realm below a number, newest first. One statement. */
export function revisionsOf({ tx, realm }: Context, below: number, max: number): Promise<Revision[]> {
  return selectRevisions(tx, realm.number, below, max)
}

/** The entries after a revision about all that was touched until another one, oldest first. One statement. */
export function entriesBetween({ tx, realm }: Context, after: number, until: number): Promise<StoredEntry[]> {
  return selectEntriesAfter(tx, realm.number, after, until)
}

/** Those of the numbers that are revisions of the realm. One statement. */
export function revisionsAmong({ tx, realm }: Context, numbers: readonly number[]): Promise<Set<number>> {
  return selectRevisionsAmong(tx, realm.number, numbers)
}

/** The sources that have applied to a realm. One statement. */
export function sourcesOf({ tx, realm }: Context): Promise<SourceOfRealm[]> {
  return selectSources(tx, realm.number)
}

/** What sources own of one object. One statement. */
export function inventoryOfObject({ tx, realm }: Context, kind: KindName, object: string): Promise<InventoryRow[]> {
  return selectInventoryOfObject(tx, realm.number, kind, object)
}

/** The sources that have applied to realms which the caller may administer. One statement, besides those of a read. */
export function listSources(service: Service, caller: Caller): Promise<SourceOfRealm[]> {
  return service.read(caller, MASTER, async ({ tx, power }) =>
    (await selectSources(tx)).filter(({ realm }) => allows(power, realm, 'administer-realm')),
  )
}

/** Lets a source of the realm go on that was held. Throws not_found. One statement. */
export async function resume(context: WriteContext, source: string): Promise<void> {
  const { tx, realm } = context
  demand(context, 'administer-realm')
  if (!(await resumeSource(tx, realm.number, source))) throw unknownSource(realm.name, source)
}

/** Lets go of what a source owns in the realm: it stays as it is, and nobody states it. Throws not_found. Two statements. */
export async function forget(context: WriteContext, source: string): Promise<void> {
  const { tx, realm } = context
  demand(context, 'administer-realm')
  if (!(await forgetSource(tx, realm.number, source))) throw unknownSource(realm.name, source)
}

function unknownSource(realm: string, source: string): Error {
  return failure(
    'not_found',
    `no source ${source} has applied to realm ${realm}: "regent source list" shows those that have`,
  )
}

/** Keeps a line of history of what no source did, and holds the sources of the realm. Two statements. */
export async function recordAndHold(
  context: WriteContext,
  plan: object,
  held: { readonly revision: number; readonly by: string },
): Promise<void> {
  const { tx, realm, now, actor } = context
  const line: HistoryLine = { at: now, actor, sources: [], version: lastVersion(context), plan: JSON.stringify(plan) }
  await insertHistory(tx, realm.number, line)
  await holdSources(tx, realm.number, { ...held, at: now.toISOString() })
}

/** The number of the last journal entry that this transaction has written, or of the one before it. */
export function lastVersion({ version, flushed }: WriteContext): number {
  return version + flushed - 1
}

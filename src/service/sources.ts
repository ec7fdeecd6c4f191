// What sources own and have applied: the record that a run leaves, and what tells the next one that nothing is to do.
import {
  type AppliedSource,
  countMarked,
  deleteInventory,
  type InventoryRow,
  recordApplied,
  selectApplied,
  selectMarkedRealms,
  sourceNumber,
  upsertInventory,
} from '../store/inventory.ts'
import type { Context } from './context.ts'
import type { Service } from './service.ts'

export type { AppliedSource } from '../store/inventory.ts'

/** A row of the inventory, less whose it is. */
export type Ownership = Omit<InventoryRow, 'source'>

/** What a run leaves behind. */
export interface RunRecord {
  readonly source: string
  /** Of everything that went in: the same digest and no marked row mean that there is nothing to do. */
  readonly digest: string
  readonly revision: string
  readonly owned: readonly Ownership[]
  readonly dropped: readonly { kind: string; object: string }[]
  readonly plan: unknown
}

/** The realms that the source has applied to, with what it applied. One statement. */
export function appliedBy(service: Service, source: string): Promise<AppliedSource[]> {
  return service.look((tx) => selectApplied(tx, source))
}

/** Names of the realms that may have drifted: without a mark there is no drift. One statement. */
export function markedRealms(service: Service): Promise<string[]> {
  return service.look(selectMarkedRealms)
}

/** How many objects that sources own were changed by somebody else since. One statement. */
export function countChanged(service: Service): Promise<number> {
  return service.look(countMarked)
}

/** Keeps what a run did, in its transaction. Statements: six at most, whatever the size. */
export async function record(context: Context, run: RunRecord): Promise<void> {
  const { tx, realm, now, actor } = context
  const source = await sourceNumber(tx, run.source)
  if (run.dropped.length) await deleteInventory(tx, realm.number, source, run.dropped)
  if (run.owned.length) await upsertInventory(tx, realm.number, source, run.owned)
  await recordApplied(tx, realm.number, source, {
    digest: run.digest,
    revision: run.revision,
    at: now,
    actor,
    plan: run.plan,
  })
}

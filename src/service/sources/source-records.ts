// The records of applies: the inventory of sources, the history, and the digests that show that there is nothing to do.
import { MASTER } from '../../kinds/built-in/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import type { TenantPermissions } from '../../kinds/tenant-permissions.ts'
import { chunks } from '../../lib/chunks.ts'
import { CHUNK_SIZE } from '../../store/database/query.ts'
import { findRealmsByNumber } from '../../store/realms.ts'
import {
  countMarkedInventory,
  countUnmanagedUsers,
  deleteInventory,
  type InventoryRow,
  recordReleased,
  selectInventoryOfObject,
  selectManagedObjects,
  selectMarkedRealms,
  selectReleasedRealms,
  upsertInventory,
} from '../../store/sources/inventory.ts'
import {
  type AppliedSource,
  deleteApplied,
  forgetSource,
  type HistoryEntry,
  insertHistory,
  type PendingPlan,
  type RealmSourceRow,
  recordApplied,
  resumeSource,
  selectAppliedAndPending,
  selectRealmSources,
  selectRolledBackRealms,
} from '../../store/sources/sources.ts'
import { hasPermission } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { Caller, Service } from '../context/service.ts'
import type { RealmRow } from '../context/store-types.ts'
import { getLastVersion } from '../journal/history.ts'
import { openValues, sealValues } from '../journal/sealed-values.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'
import { recordGeneratedSecrets } from './generated-secrets.ts'

/** An inventory row without its source. */
export type InventoryEntry = Omit<InventoryRow, 'source'>

/** The record of an apply of one source to a realm. */
export interface SourceRunRecord {
  readonly source: string
  readonly revision: string
  /** Digest of all input. If it is the same in the next run, and no row is marked, there is nothing to do. */
  readonly digest: string
  readonly settings: SourceSettings
  /** Its permissions as a tenant of the realm; undefined if it is none. */
  readonly tenant: readonly TenantPermissions[] | undefined
  /** The git repository and folder of the files; without a repository, the path of the folder. Undefined: it has no files. */
  readonly origin: string | undefined
  /** The name of the realm in the documents. */
  readonly declaredRealm: string
  /** Names of the secrets that were generated for the source. */
  readonly generatedSecrets: readonly string[]
  /** Rows that are new or changed. */
  readonly inventory: Iterable<InventoryEntry>
  /** Objects that the source no longer manages. */
  readonly removedObjects: readonly { readonly kind: string; readonly object: string }[]
  /** The removed objects that it releases deliberately: it may manage them again. */
  readonly releasedObjects: readonly { readonly kind: string; readonly object: string }[]
  /** Number of rows of the source that were marked when the run was planned. */
  readonly markedCount: number
  /** Whether the source declares nothing in the realm any more. */
  readonly isEmpty: boolean
}

/** A plan for the history. Its actions are read one by one. */
export interface HistoryPlan {
  readonly actions: Iterable<unknown>
  readonly [member: string]: unknown
}

/** Maximum number of actions in an entry of the history. A larger plan continues in further entries, which have a `part`. */
const MAX_ACTIONS = 20_000

/** Returns the realms to which the sources have applied, with what they applied, and their plans that are pending approval. One statement. */
export function getAppliedAndPending(
  service: Service,
  sources: readonly string[],
): Promise<{ applied: AppliedSource[]; pending: PendingPlan[] }> {
  return service.query((tx) => selectAppliedAndPending(tx, sources))
}

/** Returns the sources that have applied to a realm. One statement. */
export function listRealmSources({ tx, realm }: Context): Promise<RealmSourceRow[]> {
  return selectRealmSources(tx, realm.number)
}

/** Returns the inventory rows of an object. One statement. */
export async function listInventoryOfObject(
  { tx, realm, vault }: Context,
  kind: KindName,
  object: string,
): Promise<InventoryRow[]> {
  const rows = await selectInventoryOfObject(tx, realm.number, { kind, object })
  return rows.map((row) => openValues(vault, row))
}

/** Returns the managed objects of some kinds in the realm. One statement. */
export function listManagedObjects(
  { tx, realm }: Context,
  kinds: readonly KindName[],
): Promise<{ kind: KindName; object: string }[]> {
  return selectManagedObjects(tx, realm.number, kinds)
}

/** Returns the number of unmanaged users of the realm. One statement. */
export function countUsersWithoutSource({ tx, realm }: Context): Promise<number> {
  return countUnmanagedUsers(tx, realm.number)
}

/** Returns the sources that have applied to realms which the caller may administer. One statement, besides those of a read. */
export function listPermittedSources(service: Service, caller: Caller): Promise<RealmSourceRow[]> {
  return service.read(caller, MASTER, async ({ tx, permissions }) =>
    (await selectRealmSources(tx)).filter(({ realm }) => hasPermission(permissions, realm, 'administer-realm')),
  )
}

/** Resumes a source that a rollback of the realm suspended. Throws forbidden or not_found. One statement. */
export async function resumeSourceInRealm(context: WriteContext, source: string): Promise<void> {
  const { tx, realm } = context
  requirePermissions(context, 'suspend-sources')
  if (!(await resumeSource(tx, realm.number, source))) throw sourceNotFound(realm.name, source)
}

/**
 * Releases all objects that a source manages in the realm: they become unmanaged. `isReversible`: the source may manage them again.
 * Throws forbidden or not_found. Two statements, or three.
 */
export async function forgetSourceInRealm(
  context: WriteContext,
  source: string,
  { isReversible = false } = {},
): Promise<void> {
  const { tx, realm } = context
  requirePermissions(context, 'administer-realm')
  if (isReversible) await recordReleased(tx, realm.number, { source })
  if (!(await forgetSource(tx, realm.number, source))) throw sourceNotFound(realm.name, source)
}

function sourceNotFound(realm: string, source: string): Error {
  return failure(
    'not_found',
    `No source ${source} has applied to the realm ${realm}. "regent source list" lists the sources.`,
  )
}

/** Returns the sources that have released a realm itself, which they may manage again. One statement. */
export function listReleasedRealms(service: Service): Promise<{ realm: string; source: string }[]> {
  return service.query(selectReleasedRealms)
}

/** Returns the names of the realms that have marked inventory rows; others have no drift. One statement. */
export function listMarkedRealms(service: Service): Promise<string[]> {
  return service.query(selectMarkedRealms)
}

/** Returns the names of the realms with sources that a rollback suspends. One statement. */
export function listRolledBackRealms(service: Service): Promise<string[]> {
  return service.query(selectRolledBackRealms)
}

/** Returns the realms with these numbers that exist. One statement. */
export function listRealmsByNumber(service: Service, numbers: readonly number[]): Promise<RealmRow[]> {
  return service.query((tx) => findRealmsByNumber(tx, numbers))
}

/** Returns the number of managed objects that were changed since the last run of their source. One statement. */
export function countMarkedObjects(service: Service): Promise<number> {
  return service.query(countMarkedInventory)
}

/**
 * Records a run in its transaction. Throws stale if other rows of a source are marked than when the run was planned. One statement per
 * source, and one per further chunk of inventory rows or actions.
 */
export async function recordRun(
  context: WriteContext,
  records: readonly SourceRunRecord[],
  plan: HistoryPlan,
): Promise<void> {
  const entries = createHistoryEntries(context, records, plan)
  for (const [at, record] of records.entries())
    await recordSource(context, record, at === 0 ? entries.next().value : undefined)
  for (const entry of entries) await insertHistory(context.tx, context.realm.number, entry)
}

/** Yields the entries of the history of a plan: at least one, and one more for each further chunk of actions. */
function* createHistoryEntries(
  context: WriteContext,
  records: readonly SourceRunRecord[],
  { actions, ...plan }: HistoryPlan,
): Generator<HistoryEntry, undefined> {
  const sources = records.map(({ source, revision }) => ({ name: source, revision }))
  const toEntry = (chunk: readonly string[], part: number): HistoryEntry => {
    const head = JSON.stringify({ ...plan, ...(part && { part }) }).slice(0, -1)
    const text = `${head},"actions":[${chunk.join()}]}`
    return { sources, version: getLastVersion(context), at: context.changedAt, actor: context.actor, plan: text }
  }
  let part = 0
  for (const chunk of chunks(toTexts(actions), MAX_ACTIONS)) yield toEntry(chunk, part++)
  if (part === 0) yield toEntry([], part)
}

async function recordSource(
  context: WriteContext,
  record: SourceRunRecord,
  entry: HistoryEntry | undefined,
): Promise<void> {
  const { tx, realm, now } = context
  const { source, revision, digest, settings, tenant, origin, declaredRealm, generatedSecrets, removedObjects } = record
  const rowChunks = chunks(sealRows(context, record.inventory), CHUNK_SIZE)
  const applied = await recordApplied(tx, realm.number, {
    application: { source, revision, digest, settings, tenant, origin, at: now },
    inventory: rowChunks.next().value || [],
    entry,
  })
  if (applied.marked !== record.markedCount)
    throw failure('stale', `An object that the source ${source} manages has changed since the plan was created`)
  if (generatedSecrets.length) {
    const owner = { number: applied.source, name: source }
    await recordGeneratedSecrets(context, owner, { declaredRealm, names: generatedSecrets })
  }
  for (const rows of rowChunks) await upsertInventory(tx, realm.number, { source: applied.source, rows })
  if (record.releasedObjects.length) await recordReleased(tx, realm.number, { source, objects: record.releasedObjects })
  if (removedObjects.length)
    await deleteInventory(tx, realm.number, { source: applied.source, objects: removedObjects })
  if (record.isEmpty) await deleteApplied(tx, realm.number, applied.source)
}

function* sealRows({ vault }: WriteContext, rows: Iterable<InventoryEntry>): Generator<InventoryEntry> {
  for (const row of rows) yield sealValues(vault, row)
}

/** Yields the actions as JSON texts. Of a large plan the texts alone need much memory. */
function* toTexts(actions: Iterable<unknown>): Generator<string> {
  for (const action of actions) yield JSON.stringify(action)
}

// What sources own and have applied: the record that a run leaves, and what tells the next one that nothing is to do.

import { MASTER } from '../../kinds/built-in/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import { chunks } from '../../lib/chunks.ts'
import { CHUNK_SIZE } from '../../store/objects.ts'
import { findRealmsByNumber } from '../../store/realms.ts'
import {
  countMarked,
  countUnmanagedUsers,
  deleteInventory,
  type InventoryRow,
  selectInventoryOfObject,
  selectMarkedRealms,
  selectManagedObjects,
  upsertInventory,
} from '../../store/sources/inventory.ts'
import {
  type AppliedSource,
  deleteApplied,
  forgetSource,
  insertHistory,
  recordApplied,
  resumeSource,
  type RealmSourceRow,
  selectAppliedAndPending,
  selectRealmSources,
  type PendingPlan,
} from '../../store/sources/sources.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { hasPermission } from '../context/admin-permissions.ts'
import type { Caller, Service } from '../context/service.ts'
import type { RealmRow } from '../context/store-types.ts'
import { getLastVersion } from '../journal/history.ts'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'
import { recordGeneratedSecrets } from './generated-secrets.ts'

/** A row of the inventory, less whose it is. */
export type InventoryEntry = Omit<InventoryRow, 'source'>

/** What a run leaves behind of one source. */
export interface SourceRunRecord {
  readonly source: string
  readonly revision: string
  /** Of everything that went in: the same digest and no marked row mean that there is nothing to do. */
  readonly digest: string
  /** What it settles about itself. */
  readonly settings: SourceSettings
  /** The name by which it states the realm. */
  readonly declaredRealm: string
  /** Names of the secrets that were made for it. */
  readonly generatedSecrets: readonly string[]
  readonly inventory: Iterable<InventoryEntry>
  readonly removedObjects: readonly { kind: string; object: string }[]
  /** How many of its rows were marked when the run was planned. */
  readonly markedCount: number
  /** It states nothing of the realm any more. */
  readonly isEmpty: boolean
}

/** What is kept of a plan: its actions, made as they are asked for, and the rest. */
export interface HistoryPlan {
  readonly actions: Iterable<unknown>
  readonly [member: string]: unknown
}

/** Actions in a line of history; a plan of more goes on in others, which say which part of it they are. */
const LINE = 20_000

/** The realms that the sources have applied to, with what they applied, and their plans that wait. One statement. */
export function getAppliedAndPending(
  service: Service,
  sources: readonly string[],
): Promise<{ applied: AppliedSource[]; pending: PendingPlan[] }> {
  return service.query((tx) => selectAppliedAndPending(tx, sources))
}

/** The sources that have applied to a realm. One statement. */
export function listRealmSources({ tx, realm }: Context): Promise<RealmSourceRow[]> {
  return selectRealmSources(tx, realm.number)
}

/** What sources own of one object. One statement. */
export function listInventoryOfObject({ tx, realm }: Context, kind: KindName, object: string): Promise<InventoryRow[]> {
  return selectInventoryOfObject(tx, realm.number, { kind, object })
}

/** The objects of some kinds that sources own in the realm. One statement. */
export function listManagedObjects(
  { tx, realm }: Context,
  kinds: readonly KindName[],
): Promise<{ kind: KindName; object: string }[]> {
  return selectManagedObjects(tx, realm.number, kinds)
}

/** How many people of the realm no source owns. One statement. */
export function countUsersWithoutSource({ tx, realm }: Context): Promise<number> {
  return countUnmanagedUsers(tx, realm.number)
}

/** The sources that have applied to realms which the caller may administer. One statement, besides those of a read. */
export function listPermittedSources(service: Service, caller: Caller): Promise<RealmSourceRow[]> {
  return service.read(caller, MASTER, async ({ tx, permissions: power }) =>
    (await selectRealmSources(tx)).filter(({ realm }) => hasPermission(power, realm, 'administer-realm')),
  )
}

/** Resumes a source of the realm that a rollback suspended. Throws not_found. One statement. */
export async function resumeSourceInRealm(context: WriteContext, source: string): Promise<void> {
  const { tx, realm } = context
  requirePermissions(context, 'administer-realm')
  if (!(await resumeSource(tx, realm.number, source))) throw sourceNotFound(realm.name, source)
}

/** Lets go of what a source owns in the realm: it stays as it is, and nobody states it. Throws not_found. Two statements. */
export async function forgetSourceInRealm(context: WriteContext, source: string): Promise<void> {
  const { tx, realm } = context
  requirePermissions(context, 'administer-realm')
  if (!(await forgetSource(tx, realm.number, source))) throw sourceNotFound(realm.name, source)
}

function sourceNotFound(realm: string, source: string): Error {
  return failure(
    'not_found',
    `no source ${source} has applied to realm ${realm}: "regent source list" shows those that have`,
  )
}

/** Names of the realms that may have drifted: without a mark there is no drift. One statement. */
export function listMarkedRealms(service: Service): Promise<string[]> {
  return service.query(selectMarkedRealms)
}

/** The realms with these numbers, as far as they are there. One statement. */
export function listRealmsByNumber(service: Service, numbers: readonly number[]): Promise<RealmRow[]> {
  return service.query((tx) => findRealmsByNumber(tx, numbers))
}

/** How many objects that sources own were changed by somebody else since. One statement. */
export function countMarkedObjects(service: Service): Promise<number> {
  return service.query(countMarked)
}

/**
 * Keeps what a run did, in its transaction. Throws `changed` where other objects that a source owns are marked than when the
 * run was planned. One statement per source, and one per further chunk of what is owned or was done.
 */
export async function recordRun(context: WriteContext, parts: readonly SourceRunRecord[], plan: HistoryPlan): Promise<void> {
  const { tx, realm, now, actor } = context
  const { actions, ...rest } = plan
  const texts = chunks(textsOf(actions), LINE)
  const sources = parts.map(({ source, revision }) => ({ name: source, revision }))
  const line = (own: readonly string[] = [], part = 0) => {
    const head = JSON.stringify({ ...rest, ...(part && { part }) }).slice(0, -1)
    return { sources, version: getLastVersion(context), at: now, actor, plan: `${head},"actions":[${own.join()}]}` }
  }
  for (const [at, { inventory: owned, removedObjects: dropped, markedCount: marked, isEmpty: ends, generatedSecrets: generated, declaredRealm: stated, ...run }] of parts.entries()) {
    const rows = chunks(owned, CHUNK_SIZE)
    const first = at === 0 ? line(texts.next().value || []) : undefined
    const kept = await recordApplied(tx, realm.number, {
      application: { ...run, at: now },
      inventory: rows.next().value || [],
      entry: first,
    })
    if (kept.marked !== marked) {
      throw failure('stale', `something that ${run.source} states has changed since the plan was made`)
    }
    if (generated.length) await recordGeneratedSecrets(context, { number: kept.source, name: run.source }, stated, generated)
    for (const chunk of rows) await upsertInventory(tx, realm.number, { source: kept.source, rows: chunk })
    if (dropped.length) await deleteInventory(tx, realm.number, { source: kept.source, objects: dropped })
    if (ends) await deleteApplied(tx, realm.number, kept.source)
  }
  let part = 1
  for (const own of texts) await insertHistory(tx, realm.number, line(own, part++))
}

/** Actions as texts, one by one: of many, the texts alone take room enough. */
function* textsOf(actions: Iterable<unknown>): Generator<string> {
  for (const action of actions) yield JSON.stringify(action)
}

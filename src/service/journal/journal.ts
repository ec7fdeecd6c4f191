// The journal: every change of configuration and of users, written in the transaction that makes it.
import type { FlatFields } from '../../kinds/compare.ts'
import { listUnenforced } from '../../kinds/effects/find-unenforced.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { describeObject } from '../../kinds/tree.ts'
import {
  insertEntries,
  insertUserEntries,
  type JournalEntry,
  type StoredEntry,
  selectEntries,
} from '../../store/journal/journal.ts'
import { toAccessChanges } from '../context/access-changes.ts'
import type { Context, LastChanges, WriteContext } from '../context/context.ts'
import { sendWrite } from '../context/send-write.ts'
import type { WakeUp } from '../context/store-types.ts'
import { isPermitted } from '../permissions/require-permissions.ts'
import { insertEvents } from './admin-events.ts'
import { recordAuditEvents, toAuditedAdminEvents, toAuditedChanges } from './audit-trail.ts'
import { findOverwrittenDeclarations, refuseOverwrites } from './ownership.ts'
import { openValues } from './sealed-values.ts'

/** The most entries that are sent without waiting for the response. */
const MOST_SENT = 100

/** The state of a realm after it was locked. */
interface LockedState {
  readonly lastChanges?: LastChanges
  /** The time of the last change; null if there is none. */
  readonly lastChangeAt?: Date | null
}

/** Returns a context that may write. The realm must have been read after it was locked. */
export function toWriteContext(context: Context, { lastChanges, lastChangeAt }: LockedState = {}): WriteContext {
  const { now, realm } = context
  const { revision } = realm
  return {
    ...context,
    changedAt: lastChangeAt ? new Date(Math.max(now.getTime(), lastChangeAt.getTime() + 1)) : now,
    lastChanges: lastChanges ?? { lockedAt: revision, knownSince: revision, byKind: new Map() },
    version: context.realm.revision + 1,
    entries: [],
    userEntries: [],
    newValues: new Map(),
    adminEvents: [],
    directoryChanges: [],
    policyValues: [],
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
  if (stream === context.entries) context.lastChanges.byKind.set(kind, context.version)
  if (!newValues) return
  if (operation === 'update' && (kind === 'user' || isSubjectToOwnership(context)))
    context.newValues.set(entry, newValues)
  reportUnenforced(context, entry, newValues)
}

/** The most values that a report lists. */
const MOST_REPORTED = 10

function reportUnenforced({ writeReport }: WriteContext, { kind, key }: JournalEntry, newValues: FlatFields): void {
  if (!writeReport || writeReport.unenforcedValues.length >= MOST_REPORTED) return
  const values = listUnenforced(kinds[kind], Object.entries(newValues))
  writeReport.unenforcedValues.push(...values.map((value) => ({ ...value, object: describeObject(kind, key) })))
}

/** Whether the `ownership` of sources applies: to administrators and clients, but not to users, Regent itself, and applies. */
function isSubjectToOwnership({ actor, isApply }: Context): boolean {
  return (actor.kind === 'administrator' || actor.kind === 'client') && !isApply
}

/**
 * Writes the journal and the admin events, and marks the inventory rows of what was changed, except those of `sources`, whose run
 * it is. Throws managed if another source refuses a change. Two statements at most, and one per chunk of admin events; one more for the audit trail.
 */
export async function flushJournal(context: WriteContext, sources: readonly string[] = []): Promise<void> {
  const { realm } = context
  const adminEvents = context.adminEvents.splice(0)
  await insertEvents(context, adminEvents)
  const userEntries = context.userEntries.splice(0)
  const entries = context.entries.splice(0)
  const audited = [...toAuditedChanges([...entries, ...userEntries]), ...toAuditedAdminEvents(adminEvents)]
  await sendWrite(context, recordAuditEvents(context, audited))
  if (!userEntries.length && !entries.length) return
  const wakeUps = toAccessChanges(realm.number, { entries, userEntries })
  context.afterCommit.journalEntries += userEntries.length + entries.length
  context.afterCommit.accessChanges.push(...wakeUps)
  const first = context.version + context.flushedEntries
  context.flushedEntries += entries.length
  // What was just created, no source manages.
  const changesExisting = [...entries, ...userEntries].some(({ operation }) => operation !== 'create')
  const returnsProtected = isSubjectToOwnership(context) && !sources.length && changesExisting
  const writing = insertJournal(context, { first, entries, userEntries, wakeUps, sources, returnsProtected })
  // The statements of many entries, or of both streams, follow each other.
  if ((userEntries.length && entries.length) || userEntries.length + entries.length > MOST_SENT) await writing
  else await sendWrite(context, writing, { isCheck: returnsProtected })
}

/** Entries to write, and the wake-ups that announce them. */
interface FlushedEntries {
  /** The number of the first entry of the configuration stream. */
  readonly first: number
  readonly entries: readonly JournalEntry[]
  readonly userEntries: readonly JournalEntry[]
  readonly wakeUps: readonly WakeUp[]
  readonly sources: readonly string[]
  /** Whether the ownership of sources is checked. */
  readonly returnsProtected: boolean
}

async function insertJournal(
  context: WriteContext,
  { first, entries, userEntries, wakeUps, sources, returnsProtected }: FlushedEntries,
): Promise<void> {
  const { tx, realm, vault, changedAt, actor } = context
  const common = { at: changedAt, actor, except: sources, wakeUps, returnsProtected }
  const protectedUsers = userEntries.length
    ? await insertUserEntries(tx, realm.number, { ...common, entries: userEntries })
    : []
  const protectedObjects = entries.length ? await insertEntries(tx, realm.number, { ...common, first, entries }) : []
  const rows = [...protectedUsers, ...protectedObjects].map((row) => openValues(vault, row))
  if (!rows.length) return
  const overwritten = findOverwrittenDeclarations([...userEntries, ...entries], context.newValues, rows)
  const isRollback = context.actor.rolledBackTo !== undefined
  const mayOverwrite = context.allowDrift && (isRollback || isPermitted(context, 'administer-realm'))
  if (!mayOverwrite) refuseOverwrites(overwritten)
  context.writeReport?.overwrittenDeclarations.push(...overwritten)
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

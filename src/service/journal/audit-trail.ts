// The audit trail: what administrators, users and sources did, for systems that collect security events. An entry names fields, and has no values.
import { chunks } from '../../lib/chunks.ts'
import { getScope } from '../../lib/request-scope.ts'
import type { AdminEvent } from '../../store/journal/admin-events.ts'
import { insertAuditEntries } from '../../store/journal/audit-outbox.ts'
import type { Actor, JournalEntry } from '../../store/journal/journal.ts'
import type { NewUserEvent } from '../../store/journal/user-events.ts'
import type { Context } from '../context/context.ts'

/** An entry of the audit trail. */
export interface AuditEntry {
  /** `change`: of an object; `admin-event`, `user-event`: Keycloak's events. */
  readonly type: 'change' | 'admin-event' | 'user-event'
  /** ISO 8601, in UTC. */
  readonly time: string
  /** The name of the realm. */
  readonly realm: string
  readonly actor: Omit<Actor, 'address'>
  /** The network address of the actor. */
  readonly address?: string
  /** `create`, `update` or `delete`, the operation type of an admin event, or the type of a user event. */
  readonly operation: string
  readonly resource: AuditedResource
  /** The names of the changed fields. */
  readonly fields?: readonly string[]
  /** The error code of a user event that failed. */
  readonly error?: string
  readonly details?: Readonly<Record<string, string | undefined>>
  readonly requestId?: string
  readonly traceId?: string
}

/** The object of an entry. */
export interface AuditedResource {
  /** A kind such as `client`, or the resource type of an admin event. */
  readonly kind: string
  readonly id?: string
  /** The natural key, from the outermost parent. */
  readonly key?: readonly string[]
  /** The path below the realm, of an admin event. */
  readonly path?: string
}

/** The part of an entry that says what happened. */
type AuditedEvent = Pick<AuditEntry, 'type' | 'operation' | 'resource' | 'fields' | 'error' | 'details' | 'address'>

/** The most entries of a row of the outbox. */
const MOST_ENTRIES = 100

/** Whether events are recorded in the audit trail. */
export const isAudited = ({ auditSinks }: Pick<Context, 'auditSinks'>): boolean => auditSinks.length > 0

/** Records events of the actor, which are delivered after the commit. One statement, or none if nothing is recorded. */
export async function recordAuditEvents(
  context: Pick<Context, 'tx' | 'realm' | 'actor' | 'now' | 'auditSinks' | 'afterCommit'>,
  events: readonly AuditedEvent[],
  realm = context.realm.name,
): Promise<void> {
  if (!events.length || !isAudited(context)) return
  const { tx, now, auditSinks: sinks, afterCommit } = context
  const { address, ...actor } = context.actor
  const { requestId, trace } = getScope()
  const entries = events.map(
    (event): AuditEntry => ({
      time: now.toISOString(),
      realm,
      actor,
      ...(address && { address }),
      ...event,
      ...(requestId && { requestId }),
      ...(trace && { traceId: trace.traceId }),
    }),
  )
  afterCommit.hasAuditEntries = true
  await insertAuditEntries(tx, { due: now, sinks, lists: [...chunks(entries, MOST_ENTRIES)] })
}

/** Describes changes of objects, without their values. */
export const toAuditedChanges = (entries: readonly JournalEntry[]): AuditedEvent[] =>
  entries.map(({ operation, kind, object, key, fields }) => ({
    type: 'change',
    operation,
    resource: { kind, id: object, key },
    fields: Object.keys(fields),
  }))

/** Describes admin events, without their representations. */
export const toAuditedAdminEvents = (events: readonly AdminEvent[]): AuditedEvent[] =>
  events.map(({ operationType, resourceType, resourcePath, details }) => ({
    type: 'admin-event',
    operation: operationType,
    resource: { kind: resourceType, ...(resourcePath && { path: resourcePath }) },
    ...(details && { details }),
  }))

/** Describes user events. The resource is the user, or the client of an event without a user. */
export const toAuditedUserEvents = (events: readonly NewUserEvent[]): AuditedEvent[] =>
  events.map(({ type, client, user, session, address, error, details }) => ({
    type: 'user-event',
    operation: type,
    resource: user ? { kind: 'user', id: user } : { kind: 'client', ...(client && { id: client }) },
    ...(address && { address }),
    ...(error && { error }),
    details: { ...(client && { client }), ...(session && { session }), ...details },
  }))

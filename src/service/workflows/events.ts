// The events that start, restart and cancel workflows, from the changes of a transaction and from user events.
import { type FlatFields, readKeys, subtractKeys } from '../../kinds/compare.ts'
import { type Json, readObjects } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { toEventName, type WorkflowResourceType } from '../../kinds/workflow-steps.ts'
import { selectMemberships } from '../../store/workflows/conditions.ts'
import type { UserEvent, WriteContext } from '../context/context.ts'
import type { JournalEntry } from '../context/store-types.ts'
import type { WorkflowExpression } from '../realms/workflow-expressions.ts'
import { toWorkflowGroupPath } from '../realms/workflows.ts'

/** An event about a user or client. */
export interface WorkflowEvent {
  readonly type: WorkflowResourceType
  /** Id of the user or client. */
  readonly resource: string
  /** Name of the event, or `adhoc` if an administrator or a schedule starts a workflow. */
  readonly name: string
  /** The name of the role, path of the group, alias or client id that a parameter is compared with. Absent: any parameter matches. */
  readonly detail?: string
}

/** Keycloak: the event of a workflow that an administrator or a schedule starts. */
export const AD_HOC = 'adhoc'

/** Whether an expression of events matches an event. */
export function matchesEvent(expression: WorkflowExpression, event: WorkflowEvent): boolean {
  switch (expression.type) {
    case 'not':
      return !matchesEvent(expression.operand, event)
    case 'and':
      return expression.operands.every((operand) => matchesEvent(operand, event))
    case 'or':
      return expression.operands.some((operand) => matchesEvent(operand, event))
    default: {
      const name = toEventName(expression.name)
      const { parameter } = expression
      if (name !== event.name) return false
      if (parameter === undefined || event.detail === undefined) return true
      return event.detail === (name.startsWith('user-group-') ? toWorkflowGroupPath(parameter) : parameter)
    }
  }
}

/**
 * Returns the events of the changes in journal entries. Keycloak: an import of users has no event `user-created`, but those of their roles, groups
 * and linked accounts. One statement, or none if no users were created.
 */
export async function listChangeEvents(
  context: WriteContext,
  entries: readonly JournalEntry[],
  isImport: boolean,
): Promise<WorkflowEvent[]> {
  const { tx, realm } = context
  const ofKind = (kind: string, operation: string) =>
    entries.filter((entry) => entry.kind === kind && entry.operation === operation)
  const createdUsers = ofKind('user', 'create').map(({ object }) => object)
  const memberships = createdUsers.length ? await selectMemberships(tx, realm.number, createdUsers) : []
  const ended = listEndedKeys(entries)
  return [
    ...ofKind('client', 'create').map(
      ({ object }) => ({ type: 'CLIENTS', resource: object, name: 'client-created' }) as const,
    ),
    ...memberships.flatMap(({ user, type, name }): WorkflowEvent[] => {
      if (type === 'serviceAccount') return []
      return [{ type: 'USERS', resource: user, name: relationEvents[type].added, detail: name }]
    }),
    ...(isImport ? [] : listCreatedUsers(createdUsers, memberships)),
    ...ofKind('user', 'update').flatMap((entry) =>
      listRelationEvents(entry, context.newValues.get(entry) ?? {}, ended),
    ),
  ]
}

/** Keycloak: the creation of a service account has no event. */
function listCreatedUsers(
  users: readonly string[],
  memberships: readonly { readonly user: string; readonly type: string }[],
): WorkflowEvent[] {
  const accounts = new Set(memberships.flatMap(({ user, type }) => (type === 'serviceAccount' ? [user] : [])))
  return users
    .filter((id) => !accounts.has(id))
    .map((resource) => ({ type: 'USERS', resource, name: 'user-created' }) as const)
}

/** Returns the events of logins. `clients`: ids of clients by client id. */
export function listLoginEvents(events: readonly UserEvent[], clients: ReadonlyMap<string, string>): WorkflowEvent[] {
  return events.flatMap(({ type, error, user, client }): WorkflowEvent[] => {
    if (error !== undefined) return []
    if (type === 'LOGIN' && user !== undefined)
      return [{ type: 'USERS', resource: user, name: 'user-authenticated', detail: client ?? '' }]
    const id = type === 'CLIENT_LOGIN' && client !== undefined ? clients.get(client) : undefined
    return id === undefined ? [] : [{ type: 'CLIENTS', resource: id, name: 'client-authenticated' }]
  })
}

/** The events of added and removed elements, by the type of the relation. */
const relationEvents = {
  role: { added: 'user-role-granted', removed: 'user-role-revoked' },
  group: { added: 'user-group-membership-added', removed: 'user-group-membership-removed' },
  identityProvider: { added: 'user-federated-identity-added', removed: 'user-federated-identity-removed' },
} as const

/** The fields of users whose changes are events, with the type of their relation. */
const relationFields = [
  ['realmRoles', 'role'],
  ['clientRoles', 'role'],
  ['groups', 'group'],
  ['federatedIdentities', 'identityProvider'],
] as const

/** Returns the events of the relations that an update of a user has changed. */
function listRelationEvents(
  { object, fields: before }: JournalEntry,
  after: FlatFields,
  ended: ReadonlySet<string>,
): WorkflowEvent[] {
  return relationFields.flatMap(([field, type]) => {
    if (!(field in before)) return []
    const keysBefore = readRelation(field, before[field])
    const keysAfter = readRelation(field, after[field])
    const toEvent = (name: string) => (key: Key) =>
      ({ type: 'USERS', resource: object, name, detail: key.at(-1)! }) as const
    const removed = subtractKeys(keysBefore, keysAfter).filter((key) => !ended.has(JSON.stringify(key)))
    return [
      ...subtractKeys(keysAfter, keysBefore).map(toEvent(relationEvents[type].added)),
      ...removed.map(toEvent(relationEvents[type].removed)),
    ]
  })
}

function readRelation(field: string, value: Json | undefined): readonly Key[] {
  if (field !== 'federatedIdentities') return readKeys(value)
  return readObjects(value).map(({ identityProvider }): Key => [String(identityProvider)])
}

/**
 * Returns the keys of roles, groups and identity providers that were deleted or renamed, as JSON: Keycloak has no event for the users who lose
 * them.
 */
function listEndedKeys(entries: readonly JournalEntry[]): Set<string> {
  const isEnded = ({ operation, kind }: JournalEntry) =>
    operation !== 'create' && (kind === 'role' || kind === 'group' || kind === 'identityProvider')
  return new Set(entries.filter(isEnded).map(({ key }) => JSON.stringify(key)))
}

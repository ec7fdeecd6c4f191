// Changes on which the validity and the permissions of tokens depend.
import { sendWakeUp } from '../../store/database/wake-up.ts'
import type { JournalEntry } from '../../store/journal/journal.ts'
import type { AccessChange, Context } from './context.ts'

/** Number of changed users above which a single change of the whole realm is announced. */
const MOST_USERS = 20

/** Returns the changes that journal entries record. New users have no tokens yet. */
export function toAccessChanges(
  realm: number,
  {
    entries,
    userEntries,
  }: { readonly entries: readonly JournalEntry[]; readonly userEntries: readonly JournalEntry[] },
): AccessChange[] {
  const users = new Set(userEntries.filter(({ operation }) => operation !== 'create').map(({ object }) => object))
  const userChanges = [...users].map((name): AccessChange => ({ topic: 'access', realm, name }))
  if (users.size > MOST_USERS) return [{ topic: 'access', realm }]
  if (!entries.length) return userChanges
  if (!createsOnlyClients(entries)) return [{ topic: 'access', realm }]
  return [{ topic: 'access', realm, keepsTokens: true }, ...userChanges]
}

/** Whether entries create clients and roles of these, as that of a new realm in master. No token is issued to them, and nobody has the roles. */
function createsOnlyClients(entries: readonly JournalEntry[]): boolean {
  const created = entries.filter(({ operation }) => operation === 'create')
  const clients = new Set(created.filter(({ kind }) => kind === 'client').map(({ key }) => key.at(-1)))
  const isOfNewClient = ({ kind, key }: JournalEntry) =>
    kind === 'client' || (kind === 'role' && key.length > 1 && clients.has(key.at(-2)))
  return created.length === entries.length && created.every(isOfNewClient)
}

/**
 * Announces that the user, session or token with the id has changed, or any object of the realm, for changes without a journal entry.
 * One statement.
 */
export async function announceAccessChange(
  { tx, realm, afterCommit }: Pick<Context, 'tx' | 'realm' | 'afterCommit'>,
  name?: string,
): Promise<void> {
  const change: AccessChange = { topic: 'access', realm: realm.number, ...(name !== undefined && { name }) }
  await sendWakeUp(tx, change)
  afterCommit.accessChanges.push(change)
}

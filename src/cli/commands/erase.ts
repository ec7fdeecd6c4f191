import type { Erasure } from '../../service/operations/erase-user.ts'
import { type StoreFlags, withConnection } from '../connect.ts'
import { confirm } from '../prompt.ts'

type EraseFlags = StoreFlags & { readonly output: string; readonly yes?: true }

/** `regent erase`: deletes a user, and erases their values in journal, events and saved plans, after a confirmation. */
export async function erase(realm: string, user: string, flags: EraseFlags): Promise<void> {
  const path = `/regent/v1/erase/${encodeURIComponent(realm)}`
  const erasure = await withConnection(flags, 'fail', async (connection) => {
    await confirm(
      `This deletes the user ${user} of the realm ${realm}, and erases their values in the history. This cannot be undone.`,
      flags,
    )
    return connection.request<Erasure>('POST', path, { body: { user } })
  })
  console.log(flags.output === 'json' ? JSON.stringify(erasure, null, 2) : render(user, erasure))
}

function render(user: string, { deleted, users, journalEntries, events, messages, plans }: Erasure): string {
  const account = deleted ? 'The account is deleted.' : 'The account was deleted before.'
  const counts = [
    count(journalEntries, 'journal entry', 'journal entries'),
    count(events, 'event', 'events'),
    count(messages, 'unsent message', 'unsent messages'),
    count(plans, 'saved plan', 'saved plans'),
  ]
  const accounts = users.length > 1 ? ` These are ${users.length} accounts that had this name.` : ''
  return `${user} is erased. ${account} Erased: ${counts.join(', ')}.${accounts}`
}

const count = (number: number, singular: string, plural: string): string =>
  `${number} ${number === 1 ? singular : plural}`

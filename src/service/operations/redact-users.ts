// Removes the values of erased users from JSON, such as the outcome of a plan. Pure.
import { isList, isObject, type Json, type Representation } from '../../kinds/json.ts'
import { ERASED, type ErasedUsers } from '../../store/journal/erasure.ts'

/** Members of an entry about a user that contain no value of the user. */
const RETAINED = ['operation', 'kind', 'id', 'object', 'version', 'effect', 'count', 'reason']

const escapeSyntax = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Returns the expression that finds the names of users as words in a text. */
export function createNamePattern({ names }: Pick<ErasedUsers, 'names'>): RegExp {
  if (!names.length) return /(?!)/
  return new RegExp(`(?<![\\p{L}\\p{N}_.@-])(?:${names.map(escapeSyntax).join('|')})(?![\\p{L}\\p{N}_@-])`, 'iu')
}

/** Returns a JSON value without the values of users: neither in entries about them, nor their names in other texts. */
export function redactUsers(value: Json, users: ErasedUsers): Json {
  const pattern = createNamePattern(users)
  const redact = (part: Json): Json => {
    // A message that names a user may contain other values of the user.
    if (typeof part === 'string') return pattern.test(part) ? ERASED : part
    if (isList(part)) return part.map(redact)
    if (!isObject(part)) return part
    if (isAboutUser(part, users)) return redactEntry(part)
    const members = Object.entries(part).map(([name, member]): [string, Json] =>
      // Another object may have the same name.
      [name, name === 'key' && typeof part.kind === 'string' ? member : redact(member)],
    )
    const { address: _, ...rest } = Object.fromEntries(members)
    return isActor(part, users) ? { ...rest, ...('userId' in rest && { user: ERASED }) } : Object.fromEntries(members)
  }
  return redact(value)
}

/** Whether an entry, such as an action of a plan, is about one of the users. */
function isAboutUser({ kind, id, object, key }: Representation, { ids, names }: ErasedUsers): boolean {
  if (kind !== 'user') return false
  if ([id, object].some((value) => typeof value === 'string' && ids.includes(value))) return true
  return isList(key) && names.includes(String(key[0]).toLowerCase())
}

function redactEntry(entry: Representation): Representation {
  return {
    ...Object.fromEntries(Object.entries(entry).filter(([name]) => RETAINED.includes(name))),
    ...('key' in entry && { key: [ERASED] }),
    ...('changes' in entry && { changes: [] }),
    ...('fields' in entry && { fields: {} }),
    ...('live' in entry && { live: null }),
  }
}

/** Whether an object names one of the users as the author of a change. */
function isActor({ userId, name, user, at }: Representation, { ids, names }: ErasedUsers): boolean {
  if (typeof userId === 'string') return ids.includes(userId)
  return at !== undefined && names.includes(String(name ?? user ?? '').toLowerCase())
}

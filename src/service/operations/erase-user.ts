// The erasure of a user: their account, and their values in journal, events, outbox, inventory and saved plans.
import { MASTER } from '../../kinds/built-in/index.ts'
import { kinds } from '../../kinds/index.ts'
import { readText } from '../../kinds/json.ts'
import { describeObject } from '../../kinds/tree.ts'
import {
  deleteMessages,
  ERASED,
  type ErasedUsers,
  eraseFromEvents,
  eraseFromJournal,
  eraseFromLogins,
  selectFormerUsers,
  selectMessages,
  selectNamesOfOthers,
  type UserReference,
} from '../../store/journal/erasure.ts'
import { eraseFromInvitations } from '../../store/organization-invitations.ts'
import {
  deleteErasedPlans,
  type ErasablePlan,
  eraseFromInventory,
  eraseFromRuns,
  selectErasablePlans,
  selectErasableSourceStates,
  selectUserDeclarations,
  type UserDeclaration,
  updateErasedPlans,
  updateErasedSourceStates,
} from '../../store/sources/erasure.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { flushJournal } from '../journal/journal.ts'
import { writers } from '../kinds/index.ts'
import { requireAdministratorLeft } from '../objects/last-administrator.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { recordObjectEvents } from '../objects/object-events.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'
import { createNamePattern, redactUsers } from './redact-users.ts'

/** The numbers of what an erasure has changed. */
export interface Erasure {
  /** Ids of the erased users: one, or several if the username was used again. */
  readonly users: readonly string[]
  /** Whether there was an account to delete. */
  readonly deleted: boolean
  readonly journalEntries: number
  readonly events: number
  /** Number of deleted messages in the outbox. */
  readonly messages: number
  /** Number of saved plans that were changed or deleted. */
  readonly plans: number
}

/** The fields of all kinds that refer to users. */
const references: readonly UserReference[] = Object.values(kinds).flatMap(({ name: kind, fields }) =>
  Object.entries(fields).flatMap(([field, { refersTo, relation = false }]) =>
    refersTo === 'user' ? [{ kind, field, isRelation: relation }] : [],
  ),
)

/**
 * Deletes a user, and erases their values from journal, events, outbox, inventory and saved plans. Users who were deleted before are erased
 * too. `name`: the username or id. Throws not_found, or conflict if a source declares the user. The number of statements is constant.
 */
export async function eraseUser(context: WriteContext, name: string): Promise<Erasure> {
  requirePermissions(context, 'administer-realm')
  const { tx, realm, vault } = context
  const live = await findUser(context, name)
  const users = await findErasedUsers(context, name, live)
  await requireUndeclared(context, users)
  if (live) {
    await writers.user.delete(context, [live])
    recordObjectEvents(context, [{ operation: 'delete', object: live }])
  }
  await requireAdministratorLeft(context)
  // The entries of the deletion contain values too.
  await flushJournal(context)
  const journalEntries = await eraseFromJournal(tx, realm.number, { users, references })
  const events = await eraseFromEvents(tx, realm.number, users)
  await eraseFromLogins(tx, realm.number, users)
  await eraseFromInvitations(tx, realm.number, users.names)
  await eraseFromInventory(tx, realm.number, { users, references })
  await eraseFromRuns(tx, realm.number, users)
  const states = await selectErasableSourceStates(tx, users)
  await updateErasedSourceStates(
    tx,
    states.map(({ number, status, suspended }) => ({
      number,
      status: redactUsers(status, users),
      suspended: redactUsers(suspended, users),
    })),
  )
  const pattern = createNamePattern(users)
  const messages = (await selectMessages(tx, realm.number)).filter(({ body }) => pattern.test(vault.open(body)))
  const messageIds = messages.map(({ id }) => id)
  await deleteMessages(tx, realm.number, messageIds)
  const plans = await eraseFromPlans(context, users)
  return { users: users.ids, deleted: live !== undefined, journalEntries, events, messages: messageIds.length, plans }
}

async function findUser(context: WriteContext, name: string): Promise<LiveObject | undefined> {
  const [byName] = await writers.user.list(context, { keys: [[name.toLowerCase()]] })
  return byName ?? (await writers.user.list(context, { ids: [name] }))[0]
}

/** Returns the user, and the deleted users who had the same name. Throws not_found. */
async function findErasedUsers(
  { tx, realm }: WriteContext,
  name: string,
  live: LiveObject | undefined,
): Promise<ErasedUsers> {
  const search = { ids: [name, ...(live ? [live.id] : [])], username: live?.key[0] ?? name.toLowerCase() }
  const former = await selectFormerUsers(tx, realm.number, search)
  const ids = [...new Set([...former.map(({ id }) => id), ...(live ? [live.id] : [])])]
  if (!ids.length)
    throw failure(
      'not_found',
      `The realm ${realm.name} has no user ${name}, and had none as far as its journal goes back. Check the username or id.`,
    )
  const current = live ? [live.key[0]!, readText(live.representation.email) ?? ''] : []
  const names = [...new Set([...former.flatMap((user) => user.names), ...current.map((text) => text.toLowerCase())])]
  const usedNames = await selectNamesOfOthers(tx, realm.number, { ids, names })
  return toErasedUsers(
    { number: realm.number, id: realm.id, name: realm.name, isMaster: realm.name === MASTER },
    ids,
    names.filter((text) => text !== '' && !usedNames.includes(text)),
  )
}

function toErasedUsers(realm: ErasedUsers['realm'], ids: readonly string[], names: readonly string[]): ErasedUsers {
  const toWords = (texts: readonly string[]) => {
    const words = texts.map((text) =>
      JSON.stringify(text)
        .slice(1, -1)
        .replace(/[^\p{L}\p{N}]/gu, '\\$&'),
    )
    return `(?:${words.join('|')})`
  }
  const wrap = (words: string) => `(^|[^[:alnum:]_.@-])${words}($|[^[:alnum:]_@-])`
  const emails = names.filter((name) => name.includes('@'))
  const member = `"[a-z_]*(user|owner|mail)[a-z_]*"\\s*:\\s*([[][^]]*|[{][^}]*)?"${toWords([...names, ...ids])}"`
  return {
    realm,
    ids,
    names,
    pattern: wrap(toWords([...names, ...ids])),
    memberPattern: emails.length ? `${member}|${wrap(toWords(emails))}` : member,
  }
}

/** Throws conflict if a source declares one of the users, or refers to one. */
async function requireUndeclared({ tx, realm }: WriteContext, users: ErasedUsers): Promise<void> {
  const declarations = await selectUserDeclarations(tx, realm.number, { users, references })
  if (!declarations.length) return
  const positions = declarations.map((declaration) => describeDeclaration(declaration))
  throw failure('conflict', `${positions.join('. ')}. Remove this from the source and apply it, then erase the user.`)
}

function describeDeclaration({ source, kind, key, file, line, lines }: UserDeclaration): string {
  const field = references.find((reference) => reference.kind === kind)?.field
  const position = `${file}:${line + ((field !== undefined && lines?.[field]) || 0)}`
  const name = describeObject(kind, key)
  return kind === 'user'
    ? `The source ${source} declares the ${name} at ${position}`
    : `The source ${source} refers to the user in ${name} at ${position}`
}

/** Deletes plans that can still be applied and contain the users, and redacts others. Returns their number. */
async function eraseFromPlans({ tx, vault }: WriteContext, users: ErasedUsers): Promise<number> {
  const pattern = createNamePattern(users)
  const plans = await selectErasablePlans(tx, users)
  const isOpen = ({ sealedSources }: ErasablePlan) => sealedSources !== null
  const mentions = ({ sealedSources, ...content }: ErasablePlan) =>
    [JSON.stringify(content), vault.open(sealedSources ?? '')].some((text) => pattern.test(text))
  const mentioning = plans.filter((plan) => !isOpen(plan) || mentions(plan))
  const deleted = mentioning.filter(isOpen).map(({ id }) => id)
  await deleteErasedPlans(tx, deleted)
  const redactName = (name: string | null) => (name !== null && pattern.test(name) ? ERASED : name)
  const redacted = mentioning.filter((plan) => !isOpen(plan))
  await updateErasedPlans(
    tx,
    redacted.map(({ id, outcome, createdBy, authors, annotatedBy, approvedBy, guards }) => ({
      id,
      outcome: redactUsers(outcome, users),
      createdBy: redactUsers(createdBy, users),
      authors: authors?.filter(({ names }) => !names.some((name) => pattern.test(name))) ?? null,
      annotatedBy: redactName(annotatedBy),
      approvedBy: redactName(approvedBy),
      guards: Object.fromEntries(Object.entries(guards).map(([name, value]) => [name, redactUsers(value, users)])),
    })),
  )
  return mentioning.length
}

// The plan of a rollback. It leaves out what must not return to an earlier state: secrets, keys, and the time from which tokens are valid.
import { findRedirectedSecrets, isDeepEqual } from '../../kinds/compare.ts'
import { parseComponentPath } from '../../kinds/component.ts'
import { kinds } from '../../kinds/index.ts'
import {
  generatedKeySettings,
  KEY_PROVIDER,
  keyDefiningSettings,
  listGeneratedSettings,
} from '../../kinds/key-providers.ts'
import { describeObject } from '../../kinds/tree.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { digestSecrets } from '../../service/context/secrets.ts'
import { ERASED } from '../../service/context/store-types.ts'
import { countChangedUsers } from '../../service/journal/history.ts'
import { writers } from '../../service/kinds/index.ts'
import {
  type Action,
  collectNewValues,
  type FieldChange,
  isRelationChange,
  type Note,
  type RealmPlan,
} from '../model/action.ts'
import { removeSecretChanges } from './timeline.ts'

/** An action of a rollback, and notes about what it leaves out. Without an action, it leaves out all. */
interface Reversal {
  readonly action?: Action
  readonly notes: readonly Note[]
}

/** Plans the rollback to a revision. `actions`: the differences to it. A few statements. */
export async function planRollback(
  context: WriteContext,
  actions: readonly Action[],
  revision: number,
): Promise<RealmPlan> {
  const reversals = actions.map(
    (action) => keepKeys(action) ?? omitErasedOwner(action) ?? keepSecrets(keepRevocations(action)),
  )
  return {
    realm: context.realm.name,
    creates: false,
    actions: await addSecretRemovals(
      context,
      reversals.flatMap(({ action }) => action ?? []),
    ),
    ignoredDrift: [],
    notes: [
      ...reversals.flatMap(({ notes }) => notes),
      ...listCreationNotes(reversals),
      ...(await listUserNotes(context, revision)),
    ],
    preconditions: [],
  }
}

/** Notes that no source manages what is created again, since its deletion ended that. */
function listCreationNotes(reversals: readonly Reversal[]): Note[] {
  const created = reversals.flatMap(({ action }) =>
    action?.operation === 'create' ? [describeObject(action.kind, action.key)] : [],
  )
  if (!created.length) return []
  const [names, verb] = [created.slice(0, MAX_NAMES).join(', '), created.length === 1 ? 'is' : 'are']
  const rest = created.length > MAX_NAMES ? `, and ${created.length - MAX_NAMES} more,` : ''
  return [
    {
      message: `${names}${rest} ${verb} created again without a source: later applies neither change nor delete what no document declares.`,
    },
  ]
}

/** Names that a note lists. */
const MAX_NAMES = 5

/** Leaves a key provider as it is where another key, or none, would end sessions; undefined for other objects. */
function keepKeys(action: Action): Reversal | undefined {
  const { kind, key, operation, changes } = action
  if (kind !== 'component' || parseComponentPath(key[0]!).providerType !== KEY_PROVIDER) return undefined
  const name = describeObject(kind, key)
  const note = (message: string): Note => ({ message: `${name} ${message}` })
  if (operation === 'delete')
    return {
      notes: [note('is not deleted, since tokens and sessions depend on its key. Delete it if no longer needed.')],
    }
  if (operation === 'create') {
    const providerId = String(collectNewValues(changes).providerId)
    if (!listGeneratedSettings(providerId).length)
      return { notes: [note('is not created again, since the journal does not store its key.')] }
    const settings = changes.filter(({ path }) => !isIn(generatedKeySettings, path))
    return {
      action: { ...action, changes: settings },
      notes: [note('gets a new key, since the journal stores no keys.')],
    }
  }
  const [retained, restored] = [changes.filter(affectsKey), changes.filter((change) => !affectsKey(change))]
  // A key that was generated since needs no mention.
  const paths = retained.filter((change) => !isFirstGeneration(change)).map(({ path }) => path)
  const reason = 'not restored, since tokens and sessions depend on the current key.'
  return {
    ...(restored.length && { action: { ...action, changes: restored } }),
    notes: paths.length
      ? [{ message: `${name}: ${paths.join(', ')} ${paths.length > 1 ? 'are' : 'is'} ${reason}` }]
      : [],
  }
}

const isIn = (settings: readonly string[], path: string): boolean =>
  settings.some((setting) => path === `config.${setting}`)

/** Whether a change of a key provider replaces its key or takes it out of use. */
function affectsKey(change: FieldChange): boolean {
  const { path } = change
  const isDisabled = path === 'config.enabled' && !isRelationChange(change) && isDeepEqual(change.to, ['false'])
  return path === 'providerId' || isDisabled || isIn(keyDefiningSettings, path)
}

function isFirstGeneration(change: FieldChange): boolean {
  return !isRelationChange(change) && change.to === null && isIn(generatedKeySettings, change.path)
}

/** Leaves out what belonged to an erased user; undefined for other objects. */
function omitErasedOwner(action: Action): Reversal | undefined {
  const { kind, key, operation, changes } = action
  const retained = changes.filter((change) => isRelationChange(change) || change.to !== ERASED)
  if (retained.length === changes.length) return undefined
  const message = `${describeObject(kind, key)} belonged to an erased user and is not restored.`
  const isCreation = operation === 'create' || !retained.length
  return { ...(!isCreation && { action: { ...action, changes: retained } }), notes: [{ message }] }
}

/** Leaves out `notBefore`, since revoked tokens stay revoked, and announces ended sessions. */
function keepRevocations(action: Action): Reversal {
  const { kind, key, operation, changes } = action
  if (operation !== 'update') return { action, notes: [] }
  const name = describeObject(kind, key)
  const restored = changes.filter(({ path }) => path !== 'notBefore')
  const shorter = kind === 'realm' ? restored.filter(shortensSessions).map(({ path }) => path) : []
  return {
    action: { ...action, changes: restored },
    notes: [
      ...(restored.length < changes.length
        ? [{ message: `${name}: notBefore is not restored, since revoked tokens stay revoked.` }]
        : []),
      ...shorter.map((path) => ({ message: `${name}: ${path} gets shorter. Sessions that exceed it end.` })),
    ],
  }
}

function shortensSessions(change: FieldChange): boolean {
  if (!/^(sso|offline|client).*Session.*(Timeout|Lifespan|RememberMe)$/.test(change.path) || isRelationChange(change))
    return false
  return Number(change.to ?? 0) > 0 && (Number(change.from ?? 0) === 0 || Number(change.to) < Number(change.from))
}

/** Leaves out secrets, and says what becomes of them. */
function keepSecrets({ action: original, notes }: Reversal): Reversal {
  if (!original) return { notes }
  const { action, secrets } = removeSecretChanges(original)
  const { operation, kind, key, changes } = action
  const consequence = operation === 'create' ? 'The former value is lost.' : 'The live value stays.'
  const secretNotes = secrets.map((path) => ({
    message: `${describeObject(kind, key)}: ${path} is not restored, since the journal stores no secrets. ${consequence}`,
  }))
  const isEmpty = operation === 'update' && !changes.length
  return { ...(!isEmpty && { action }), notes: [...notes, ...secretNotes] }
}

/** Returns a note about changed users, who are not part of a rollback. One statement. */
async function listUserNotes(context: Context, revision: number): Promise<Note[]> {
  const count = await countChangedUsers(context, revision)
  if (!count) return []
  const users = count === 1 ? '1 user has changed' : `${count.toLocaleString('en')} users have changed`
  return [{ message: `${users} since r${revision}. A rollback does not restore users.` }]
}

/** Adds the removal of secrets that would be sent to another address than now. One statement per kind with such secrets. */
async function addSecretRemovals(context: WriteContext, actions: readonly Action[]): Promise<Action[]> {
  const updates = actions.filter(({ operation }) => operation === 'update')
  const candidates = updates.filter(({ kind }) => Object.values(kinds[kind].fields).some((field) => field.destination))
  const removals = new Map<Action, FieldChange[]>()
  for (const [kind, group] of Map.groupBy(candidates, (action) => action.kind)) {
    const objects = await writers[kind].list(context, { keys: group.map(({ key }) => key) })
    for (const action of group) {
      const live = objects.find(({ key }) => isDeepEqual(key, action.key))
      if (!live) continue
      const fields = digestSecrets(context.vault, kinds[kind], live.representation)
      const paths = findRedirectedSecrets(kinds[kind], fields, collectNewValues(action.changes))
      removals.set(
        action,
        paths.map((path) => ({ path, from: fields[path]!, to: null, reason: 'declared' })),
      )
    }
  }
  return actions.map((action) => ({ ...action, changes: [...action.changes, ...(removals.get(action) ?? [])] }))
}

// The history of a realm: its revisions, differences between them, and rollback.

import { kinds } from '../../kinds/index.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { digestSecrets } from '../../service/context/secrets.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { asStoreOperator } from '../../service/context/store-operator.ts'
import { type Revision, Rollback } from '../../service/context/store-types.ts'
import type { Vault } from '../../service/context/vault.ts'
import {
  findExistingRevisions,
  findOldestEntry,
  listEntriesBetween,
  listRealmRevisions,
  recordHistoryAndSuspend,
} from '../../service/journal/history.ts'
import { flushJournal } from '../../service/journal/journal.ts'
import { type EncryptedFieldLookup, findEncryptedFields } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import {
  getCallerAccess,
  requireAdministratorLeft,
  requireOwnAccessLeft,
} from '../../service/objects/last-administrator.ts'
import { recordObjectEvents } from '../../service/objects/object-events.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { apply, recordsAdminEvents } from '../execute/apply.ts'
import { countEffects } from '../execute/effects.ts'
import { type RealmOutcome, toObjectChanges, toRealmOutcome } from '../execute/realm-outcome.ts'
import {
  type Action,
  type FieldChange,
  isRelationChange,
  maskAction,
  maskEncryptedValues,
  type ValueChange,
} from '../model/action.ts'
import { planRollback } from './plan-rollback.ts'
import { type CurrentState, diffStates, type JournalChange } from './timeline.ts'

/** The most revisions that one call returns. */
const MAX_REVISIONS = 1_000

/** Lists the last revisions of a realm, newest first. A revision is one transaction that changed the configuration. One statement. */
export async function listHistory(
  context: Context,
  { below, max = 50 }: { below?: number | undefined; max?: number | undefined },
): Promise<Revision[]> {
  requirePermissions(context, 'roll-back-realm')
  return listRealmRevisions(context, below ?? context.realm.revision + 1, Math.min(max, MAX_REVISIONS))
}

/**
 * Returns the changes between two revisions of a realm, without values of fields that are encrypted in the files of its sources. Default
 * of `to`: the live state. Throws invalid where a number is not a revision. A few statements per kind.
 */
export async function diffRevisions(context: Context, from: number, to = context.realm.revision): Promise<Action[]> {
  return (await findChanges(context, from, to)).map(maskAction)
}

/** Returns the changes between two revisions, with their values. Those that reports mask are marked. */
async function findChanges(context: Context, from: number, to: number): Promise<Action[]> {
  requirePermissions(context, 'roll-back-realm')
  await requireRevisions(context, [from, to])
  const [older, newer] = [Math.min(from, to), Math.max(from, to)]
  const entries = (await listEntriesBetween(context, older, newer)) as readonly JournalChange[]
  const actions = diffStates(entries, await listLiveStates(context, entries), { from, to })
  const isEncrypted = await findEncryptedFields(context)
  return actions.map((action) => markEncryptedChanges(action, context.vault, isEncrypted))
}

function markEncryptedChanges(action: Action, vault: Vault, isEncrypted: EncryptedFieldLookup): Action {
  const { kind, id, operation } = action
  const isMarked = (change: FieldChange): change is ValueChange =>
    !isRelationChange(change) && id !== undefined && isEncrypted(kind, id, change.path)
  if (!action.changes.some(isMarked)) return action
  const changes = action.changes.map((change) =>
    isMarked(change) ? { ...change, encrypted: vault.digest(JSON.stringify(change.to)) } : change,
  )
  return { ...action, changes, ...(operation === 'create' && { hasEncryptedValues: true }) }
}

/**
 * Rolls a realm back to a revision, in one transaction, which is a new revision, and suspends the sources of the realm. The notes of the
 * plan list what is left out: users, secrets, and keys. A dry run commits nothing. Throws invalid where the number is not a revision.
 */
export function rollback(
  service: Service,
  caller: Caller,
  { realm, revision, dryRun = false }: { realm: string; revision: number; dryRun?: boolean | undefined },
): Promise<RealmOutcome> {
  const actor = { ...asStoreOperator(caller.actor), rolledBackTo: revision }
  // Sources with `ownership: refuse` do not refuse a rollback, which suspends them.
  return service.write({ ...caller, actor, allowDrift: true }, { realm, withMaster: true }, async (context) => {
    requirePermissions(context, 'roll-back-realm')
    const reversals = await findChanges(context, context.version - 1, revision)
    const plan = await planRollback(context, reversals, revision)
    const access = await getCallerAccess(context, caller)
    const effects = await countEffects(context, plan)
    const applied = await apply(context, {
      plan,
      declared: { objects: new Map(), findSecret: () => undefined },
    })
    await requireAdministratorLeft(context)
    await requireOwnAccessLeft(context, caller, access)
    const outcome = toRealmOutcome(context, plan, effects)
    if (dryRun) throw new Rollback(outcome)
    if (recordsAdminEvents(context, plan, applied)) recordObjectEvents(context, toObjectChanges(plan, applied))
    await flushJournal(context)
    await recordHistoryAndSuspend(context, maskEncryptedValues(plan), { revision, by: actor.user ?? actor.kind })
    return outcome
  })
}

/** Throws invalid where a number is not a revision. Numbers of journal entries within a transaction are none. */
async function requireRevisions(context: Context, numbers: readonly number[]): Promise<void> {
  const existing = await findExistingRevisions(context, numbers)
  const missing = numbers.find((number) => !existing.has(number))
  if (missing === undefined) return
  const { name } = context.realm
  const oldest = await findOldestEntry(context)
  if (missing < oldest)
    throw failure(
      'invalid',
      `The revision r${missing} of realm ${name} is older than the journal, whose retention has deleted it. The oldest entry is r${oldest}. Run "regent history ${name}" to list the revisions.`,
    )
  throw failure(
    'invalid',
    `realm ${name} has no revision r${missing}. Run "regent history ${name}" to list its revisions.`,
  )
}

/** Lists the live states of the objects that entries are about, by kind and id. A few statements per kind. */
async function listLiveStates(context: Context, entries: readonly JournalChange[]): Promise<Map<string, CurrentState>> {
  const states = new Map<string, CurrentState>()
  for (const [kind, group] of Map.groupBy(entries, (entry) => entry.kind)) {
    const ids = [...new Set(group.map(({ object }) => object))]
    for (const { id, key, version, representation } of await writers[kind].list(context, { ids })) {
      states.set(`${kind} ${id}`, { key, version, fields: digestSecrets(context.vault, kinds[kind], representation) })
    }
  }
  return states
}

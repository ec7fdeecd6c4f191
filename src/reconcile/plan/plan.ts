// Compares declarations with live objects. Pure: the same input gives the same plan.
import { MASTER } from '../../kinds/built-in/index.ts'
import { findRedirectedSecrets } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { formatAddress } from '../../kinds/tree.ts'
import {
  type Action,
  collectNewValues,
  type DeletionReason,
  type FieldChange,
  type IgnoredDrift,
  type RealmPlan,
} from '../model/action.ts'
import type { LiveState, ManagedObject, ObjectDeclaration, PlanInput } from '../model/plan-input.ts'
import { type BoundObject, bindLiveObjects, findRecreated, listFields, type RecreatedObject } from './binding.ts'
import { findFieldChanges } from './changes.ts'
import { Creation } from './creation.ts'
import { findIgnoredFieldDrift, findIgnoredObjectDrift } from './ignored-drift.ts'
import { listNotes } from './notes.ts'
import { findRemovedFieldChanges } from './removed-fields.ts'
import { findRetainedObjects, isDeletable, isOfDirectory } from './retained-objects.ts'

/** Returns the plan of a realm. Actions come in the order of the documents. */
export function buildPlan(input: PlanInput): RealmPlan {
  const binding = bindLiveObjects(input)
  const recreated = findRecreated(input, binding)
  const retained = findRetainedObjects(input)
  const declared = planDeclaredObjects(input, binding, recreated)
  const actions = [
    ...declared.actions,
    ...planRemovedObjects(input, binding, retained),
    ...planUndeclaredObjects(input, binding),
  ]
  return {
    realm: input.realm,
    ...(input.currentName !== input.realm && { currentName: input.currentName }),
    creates: !input.exists && input.declared.size > 0,
    actions,
    ignoredDrift: declared.ignoredDrift,
    notes: listNotes({ input, actions, binding, recreated, retained }),
    preconditions: input.live.flatMap(({ kind, id, version }) =>
      id === undefined || version === undefined ? [] : [{ kind, id, version }],
    ),
  }
}

function planDeclaredObjects(
  input: PlanInput,
  binding: ReadonlyMap<string, LiveState>,
  recreated: ReadonlyMap<string, RecreatedObject>,
): { actions: Action[]; ignoredDrift: IgnoredDrift[] } {
  const managedByAddress = new Map(input.managed.map((row) => [formatAddress(row.kind, row.key), row]))
  const actions: Action[] = []
  const ignoredDrift: IgnoredDrift[] = []
  for (const [id, declaration] of input.declared) {
    if (input.isUnchanged(id)) continue
    // Nothing was ever applied to a recreated object, which only has the same name.
    const managed = recreated.has(id) ? undefined : managedByAddress.get(id)
    const live = binding.get(id)
    if (live) {
      const object = { input, live, managed }
      ignoredDrift.push(...findIgnoredFieldDrift(object, declaration))
      actions.push(...planUpdate(object, declaration))
    } else {
      const ignored = managed ? findIgnoredObjectDrift(input, managed) : []
      ignoredDrift.push(...ignored)
      if (!ignored.length)
        actions.push(new Creation(declaration, managed && input.changedBy(declaration.kind, managed.object)))
    }
  }
  return { actions, ignoredDrift }
}

function planUpdate(object: BoundObject, declaration: ObjectDeclaration): Action[] {
  const changes = [
    ...listFields(declaration).flatMap((field) => findFieldChanges(object, field)),
    ...findRemovedFieldChanges(object, declaration),
  ]
  if (!changes.length) return []
  changes.push(...removeMisdirectedSecrets(object.live, declaration, changes))
  return [{ ...toAction('update', object.live), changes, position: declaration.origin.position }]
}

/** Removes undeclared secrets that would be sent to another host once the changes are applied. */
function removeMisdirectedSecrets(
  live: LiveState,
  declaration: ObjectDeclaration,
  changes: readonly FieldChange[],
): FieldChange[] {
  const { position } = declaration.origin
  return findRedirectedSecrets(kinds[live.kind], live.fields, collectNewValues(changes))
    .filter((path) => !declaration.fields.has(path))
    .map((path) => ({ path, from: live.fields[path]!, to: null, reason: 'declared', position }))
}

/** Plans the objects that are no longer declared. If the realm itself is deleted, that is the only action. */
function planRemovedObjects(
  input: PlanInput,
  binding: ReadonlyMap<string, LiveState>,
  retained: readonly ManagedObject[],
): Action[] {
  const deletion = planRealmDeletion(input)
  if (deletion) return [deletion]
  const byId = new Map(input.live.filter(({ id }) => id).map((live) => [`${live.kind} ${live.id}`, live]))
  const bound = new Set(binding.values())
  return input.managed.flatMap((managed) => {
    if (input.declared.has(formatAddress(managed.kind, managed.key)) || retained.includes(managed)) return []
    const live = byId.get(`${managed.kind} ${managed.object}`)
    return live && !bound.has(live) ? planRemoval({ input, live, managed }, managed) : []
  })
}

/**
 * Deletes an object that is no longer declared; an object that the source does not own loses the fields that it applied. A user of a
 * directory stays as it is.
 */
function planRemoval(object: BoundObject, managed: ManagedObject): Action[] {
  const { input, live } = object
  if (isOfDirectory(live)) return []
  if (isDeletable(input, managed) && !input.builtIn.has(formatAddress(live.kind, live.key)))
    return [toDeletion(live, toRemoval(managed))]
  const changes = findRemovedFieldChanges(object)
  return changes.length ? [{ ...toAction('update', live), changes }] : []
}

/** Deletes a realm that no source declares any more, if one of the sources had declared the realm itself. */
function planRealmDeletion({ realm, declared, managed, otherSources, live }: PlanInput): Action | undefined {
  if (declared.size || otherSources.length || realm === MASTER) return undefined
  const row = managed.find(({ kind, fields }) => kind === 'realm' && kinds.realm.naturalKey in fields)
  const state = row && live.find(({ kind }) => kind === 'realm')
  return state && toDeletion(state, toRemoval(row))
}

/** Deletes live objects that are missing from authoritative lists. */
function planUndeclaredObjects(input: PlanInput, binding: ReadonlyMap<string, LiveState>): Action[] {
  const bound = new Set(binding.values())
  return input.live
    .filter((live) => live.undeclared && !bound.has(live))
    .map((live) => toDeletion(live, { reason: 'undeclared' }))
}

function toRemoval({ file, line }: ManagedObject): DeletionReason {
  return { reason: 'removed', file, line }
}

function toDeletion(live: LiveState, deletion: DeletionReason): Action {
  return { ...toAction('delete', live), changes: [], deletion }
}

function toAction(operation: 'update' | 'delete', live: LiveState): Omit<Action, 'changes'> {
  const { kind, key, id, version } = live
  return { operation, kind, key, ...(id !== undefined && { id }), ...(version !== undefined && { version }) }
}

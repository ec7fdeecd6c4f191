// The digest of a plan. Plans with the same actions and guards have the same digest, whatever their order and positions. Pure.
import { hash } from 'node:crypto'
import type { Key } from '../../kinds/kind.ts'
import { type Action, type FieldChange, type Guard, isRelationChange, type RealmPlan } from '../model/action.ts'

/** The parts of a realm's plan that its digest covers. */
export interface DigestedPlan {
  readonly plan: Pick<RealmPlan, 'realm' | 'creates' | 'actions'>
  readonly guards?: readonly Guard[] | undefined
}

/** Returns the digest of the plan of one realm. */
export function digestRealmPlan({ plan, guards = [] }: DigestedPlan): string {
  const actions = plan.actions.map((action) => JSON.stringify(normalize(action))).sort()
  const normalizedGuards = guards
    .map(({ guard, objects, credentials, revision }) => JSON.stringify([guard, credentials, revision, ...objects]))
    .sort()
  return digest([plan.realm, plan.creates, actions, normalizedGuards])
}

/** Returns the digest of a plan of several realms. */
export function digestPlan(realms: readonly DigestedPlan[]): string {
  return digest(realms.map((realm) => [realm.plan.realm, digestRealmPlan(realm)]).sort())
}

function normalize({ operation, kind, key, id, changes }: Action): unknown {
  return [operation, kind, key, id ?? null, changes.map(normalizeChange).sort()]
}

function normalizeChange(change: FieldChange): string {
  if (!isRelationChange(change)) {
    // The digest is the same whether the values are masked or not.
    const { path, encrypted, from, to } = change
    return JSON.stringify(encrypted === undefined ? [path, from, to] : [path, encrypted])
  }
  const sortKeys = (keys: readonly Key[]) => keys.map((key) => JSON.stringify(key)).sort()
  return JSON.stringify([change.path, sortKeys(change.add), sortKeys(change.remove)])
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url')
}

// What makes a plan the same plan: what it would do, wherever that is stated, whenever it was found, and in whatever order. Pure.
import { hash } from 'node:crypto'
import type { Key } from '../../kinds/kind.ts'
import { type Action, type FieldChange, type Guard, isRelationChange, type RealmPlan } from '../model/action.ts'

/** What a plan does in a realm, and what of that waits for an approval. */
export interface DigestedPlan {
  readonly plan: Pick<RealmPlan, 'realm' | 'creates' | 'actions'>
  readonly guards?: readonly Guard[] | undefined
}

/** A digest of what a plan does in one realm. */
export function digestOfRealm({ plan, guards = [] }: DigestedPlan): string {
  const actions = plan.actions.map((action) => JSON.stringify(normalized(action))).sort()
  const about = guards
    .map(({ guard, objects, credentials, revision }) => JSON.stringify([guard, credentials, revision, ...objects]))
    .sort()
  return digest([plan.realm, plan.creates, actions, about])
}

/** A digest of what a plan does in all of its realms. */
export function digestOfPlan(realms: readonly DigestedPlan[]): string {
  return digest(realms.map((one) => [one.plan.realm, digestOfRealm(one)]).sort())
}

function normalized({ operation, kind, key, id, changes }: Action): unknown {
  return [operation, kind, key, id ?? null, changes.map(normalizedChange).sort()]
}

function normalizedChange(change: FieldChange): string {
  if (!isRelationChange(change)) return JSON.stringify([change.path, change.from, change.to])
  const sorted = (keys: readonly Key[]) => keys.map((key) => JSON.stringify(key)).sort()
  return JSON.stringify([change.path, sorted(change.add), sorted(change.remove)])
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url')
}

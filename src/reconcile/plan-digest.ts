// What makes a plan the same plan: what it would do, wherever that is stated, whenever it was found, and in whatever order. Pure.
import { hash } from 'node:crypto'
import type { Action, Change, Guard, RealmPlan } from './action.ts'

/** What a plan does in a realm, and what of that waits for an approval. */
export interface Doing {
  readonly plan: Pick<RealmPlan, 'realm' | 'creates' | 'actions'>
  readonly guards?: readonly Guard[] | undefined
}

/** A digest of what a plan does in one realm. */
export function digestOfRealm({ plan, guards = [] }: Doing): string {
  const actions = plan.actions.map((action) => JSON.stringify(normalized(action))).sort()
  const about = guards
    .map(({ guard, about, credentials, revision }) => JSON.stringify([guard, credentials, revision, ...about]))
    .sort()
  return digest([plan.realm, plan.creates, actions, about])
}

/** A digest of what a plan does in all of its realms. */
export function digestOfPlan(realms: readonly Doing[]): string {
  return digest(realms.map((one) => [one.plan.realm, digestOfRealm(one)]).sort())
}

function normalized({ operation, kind, key, id, changes }: Action): unknown {
  return [operation, kind, key, id ?? null, changes.map(normalizedChange).sort()]
}

function normalizedChange({ path, from, to, add, remove }: Change): string {
  if (!add) return JSON.stringify([path, from ?? null, to ?? null])
  const sorted = (keys: Change['add'] = []) => keys.map((key) => JSON.stringify(key)).sort()
  return JSON.stringify([path, sorted(add), sorted(remove)])
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url')
}

// Elements of relations that nobody states, where what is stated is all. Pure.

import { isAdminClient } from '../../kinds/built-in/index.ts'
import { SERVICE_ACCOUNT_SCOPE } from '../../kinds/client-scope.ts'
import { keysOf, missing } from '../../kinds/compare.ts'
import type { Key } from '../../kinds/kind.ts'
import type { LiveState, ManagedObject, PlanInput } from '../model/plan-input.ts'

/** The elements of a relation that are to go, since what is stated is all of it; not those that a source has which is not read. */
export function beyond(
  input: PlanInput,
  live: LiveState,
  owned: ManagedObject | undefined,
  path: string,
  stated: readonly Key[],
  current: readonly Key[],
): Key[] {
  const key = owned?.key ?? live.key
  if (!input.isAuthoritative(live.kind, key, path)) return []
  const theirs = input.otherSources
    .filter(({ kind, object }) => kind === live.kind && object === live.id)
    .flatMap(({ fields }) => keysOf(fields[path]))
  return missing(current, [...stated, ...theirs]).filter((element) => !isKeptElement(input, live, path, element))
}

/** Keycloak: who has an account of its own has the scope that goes with it, and whoever administers every realm does so by each. */
function isKeptElement({ realm }: PlanInput, { kind, key, fields }: LiveState, path: string, element: Key): boolean {
  if (kind === 'client') return fields.serviceAccountsEnabled === true && element[0] === SERVICE_ACCOUNT_SCOPE
  return kind === 'role' && path === 'composites' && key[0] === 'admin' && isAdminClient(realm, element[1] ?? '')
}

// The default role of a new realm. Pure.
import { defaultRoleOf } from '../../kinds/built-in/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { address } from '../../kinds/tree.ts'
import type { PlanInput } from './plan-input.ts'
import { formerKey } from './renames.ts'

/** A realm as documents declare it. */
interface Declared {
  readonly name: string
  readonly objects: PlanInput['declared']
}

/**
 * Returns whether a list of a new realm holds nothing but what is declared: so it is with the members of the default role, where a
 * document declares that role itself. The earlier form names roles that every user has: it adds them to the usual members, unless
 * the document declares the objects of these as well, as a whole export does.
 */
export function exactInNewRealm(desired: Declared): PlanInput['isAuthoritative'] {
  const isDeclared = (kind: KindName, key: Key) => desired.objects.get(address(kind, key))?.named === false
  const names = [defaultRoleOf(desired.name), newDefaultRole(desired)]
  const isExport = [['offline_access'], ['uma_authorization']].every((key) => isDeclared('role', key))
  const isExact = (isExport && isDeclared('client', ['account'])) || names.some((name) => isDeclared('role', [name]))
  return (kind, key, path) =>
    isExact && kind === 'role' && path === 'composites' && key.length === 1 && names.includes(key[0]!)
}

/** Returns what the default role of a new realm is called: a document may rename it. */
export function newDefaultRole({ name, objects }: Declared): string {
  const usual = defaultRoleOf(name)
  const renamed = [...objects.values()].find((one) => one.kind === 'role' && formerKey(one)?.[0] === usual)
  return renamed?.key[0] ?? usual
}

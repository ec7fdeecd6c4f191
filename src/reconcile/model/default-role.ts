// Composite roles of a new realm: the default role, and those of `account`. Pure.
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { PlanInput } from './plan-input.ts'
import { findFormerKey } from './renames.ts'

/** The declarations of a realm. */
interface RealmDeclarations {
  readonly name: string
  readonly objects: PlanInput['declared']
}

/**
 * Returns which relations of a new realm are authoritative: the members of the default role, if a document declares that role, and
 * those of declared roles of `account`. The legacy list `defaultRoles` adds to the built-in members of the default role, unless the
 * document declares the objects of these too, as a full export does.
 */
export function authoritativeRelationsOfNewRealm(desired: RealmDeclarations): PlanInput['isAuthoritative'] {
  const isDeclared = (kind: KindName, key: Key) => desired.objects.get(formatAddress(kind, key))?.isReference === false
  const names = [getDefaultRoleName(desired.name), getDefaultRoleOfNewRealm(desired)]
  const isExport = [['offline_access'], ['uma_authorization']].every((key) => isDeclared('role', key))
  const isExact = (isExport && isDeclared('client', ['account'])) || names.some((name) => isDeclared('role', [name]))
  return (kind, key, path) => {
    if (kind !== 'role' || path !== 'composites') return false
    if (key.length === 1) return isExact && names.includes(key[0]!)
    return key[1] === 'account' && isDeclared('role', key)
  }
}

/** Returns the name of the default role of a new realm, which a document may rename. */
export function getDefaultRoleOfNewRealm({ name, objects }: RealmDeclarations): string {
  const builtIn = getDefaultRoleName(name)
  const renamed = [...objects.values()].find((role) => role.kind === 'role' && findFormerKey(role)?.[0] === builtIn)
  return renamed?.key[0] ?? builtIn
}

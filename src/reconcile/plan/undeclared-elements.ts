// Undeclared elements of authoritative relations. Pure.
import { isAdminClient } from '../../kinds/built-in/index.ts'
import { SERVICE_ACCOUNT_SCOPE } from '../../kinds/client-scope.ts'
import { readKeys, subtractKeys, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key } from '../../kinds/kind.ts'
import type { BoundObject, DeclaredField } from './binding.ts'

/** Returns the live elements to remove from a declared relation if it is authoritative. Elements that other sources manage stay. */
export function findUndeclaredElements(object: BoundObject, { path, value }: DeclaredField): Key[] {
  const { input, live, managed } = object
  if (!input.isAuthoritative(live.kind, managed?.key ?? live.key, path)) return []
  const ofOtherSources = input.otherSources
    .filter((other) => other.kind === live.kind && other.object === live.id)
    .flatMap(({ fields }) => readKeys(fields[path]))
  const current = readKeys(valueAt(kinds[live.kind], live.fields, path))
  return subtractKeys(current, [...readKeys(value), ...ofOtherSources]).filter(
    (element) => !isBuiltInElement(object, path, element),
  )
}

/** Keycloak: a client with a service account has the scope `service_account`; the role `admin` of master has the admin roles of every realm. */
function isBuiltInElement({ input, live: { kind, key, fields } }: BoundObject, path: string, element: Key): boolean {
  if (kind === 'client') return fields.serviceAccountsEnabled === true && element[0] === SERVICE_ACCOUNT_SCOPE
  return kind === 'role' && path === 'composites' && key[0] === 'admin' && isAdminClient(input.realm, element[1] ?? '')
}

// Resolves references of an import to objects that do not exist. Keycloak: roles are created, client scopes are ignored. Pure.

import { readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { findParent, formatAddress } from '../../kinds/tree.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import { DeclaredFieldMap, type DeclaredValue } from '../model/declared-field-map.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { listReferences } from '../model/references.ts'

/** The handling of missing references, by kind and field. Other fields with missing references are refused. */
const rules: Readonly<Partial<Record<KindName, Readonly<Record<string, 'create' | 'ignore'>>>>> = {
  user: { realmRoles: 'create', clientRoles: 'create' },
  group: { realmRoles: 'create', clientRoles: 'create' },
  client: { scopeMappings: 'create', defaultClientScopes: 'ignore', optionalClientScopes: 'ignore' },
  clientScope: { scopeMappings: 'create' },
  realm: {
    defaultDefaultClientScopes: 'ignore',
    defaultOptionalClientScopes: 'ignore',
    defaultGroups: 'ignore',
  },
  authorizationPolicy: {
    roles: 'ignore',
    requiredRoles: 'ignore',
    groups: 'ignore',
    groupsAndBelow: 'ignore',
  },
  authorizationResource: { owner: 'ignore' },
}

/** An import without missing references, except those that are refused. */
export interface ResolvedImport {
  readonly desired: DesiredRealm
  /** The keys of roles that are created since the import refers to them. */
  readonly createdRoles: readonly Key[]
}

/** Declares missing roles, and removes other missing references. */
export function resolveMissingReferences(desired: DesiredRealm, live: PlanInput['live']): ResolvedImport {
  const declared = [...desired.objects].flatMap(([address, { isReference }]) => (isReference ? [] : [address]))
  const existing = new Set([...declared, ...live.map(({ kind, key }) => formatAddress(kind, key))])
  const objects = new Map(desired.objects)
  const createdRoles: Key[] = []
  for (const [address, object] of desired.objects) {
    const handling = rules[object.kind]
    if (!handling) continue
    const changed = new Map<string, DeclaredValue | undefined>()
    for (const [path, declaration] of object.fields) {
      const references = handling[path] ? listReferences(object, path, declaration.value) : []
      const isMissing = references.map(
        ({ to, key }) => !existing.has(formatAddress(to, key)) && hasParent(key, existing),
      )
      if (!isMissing.includes(true)) continue
      if (handling[path] === 'create') {
        for (const { key } of references.filter((_, index) => isMissing[index])) {
          if (!objects.has(formatAddress('role', key))) createdRoles.push(key)
          objects.set(formatAddress('role', key), createRole(key, object))
        }
      } else if (resolveField(kinds[object.kind], path).field.relation) {
        const value = readKeys(declaration.value).filter((_, index) => !isMissing[index])
        changed.set(path, { ...declaration, value })
      } else changed.set(path, undefined)
    }
    if (changed.size) objects.set(address, { ...object, fields: object.fields.replace(changed) })
  }
  return { desired: { ...desired, objects }, createdRoles }
}

/** Whether the parent of an object exists. Keycloak: refuses roles of clients that do not exist. */
function hasParent(key: Key, existing: ReadonlySet<string>): boolean {
  const parent = findParent(key)
  return !parent || existing.has(formatAddress(parent.kind, parent.key))
}

function createRole(key: Key, { origin }: DesiredObject): DesiredObject {
  return {
    kind: 'role',
    key,
    id: undefined,
    renamedFrom: undefined,
    fields: new DeclaredFieldMap([], [], origin),
    secrets: undefined,
    masked: new Map(),
    literal: [],
    isReference: false,
    origin,
  }
}

// What an import makes of names that nothing has. Keycloak: roles are created, client scopes are left out. Pure.

import { resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { address } from '../../kinds/tree.ts'
import type { DesiredObject, DesiredRealm } from '../merge/desired-realm.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { references } from '../model/references.ts'
import { StatedFields, type StatedValue } from '../model/stated-fields.ts'

/** What becomes of names that nothing has, by kind and field; those of other fields are refused. */
const rules: Readonly<Partial<Record<KindName, Readonly<Record<string, 'create' | 'leave out'>>>>> = {
  user: { realmRoles: 'create', clientRoles: 'create' },
  group: { realmRoles: 'create', clientRoles: 'create' },
  client: { scopeMappings: 'create', defaultClientScopes: 'leave out', optionalClientScopes: 'leave out' },
  clientScope: { scopeMappings: 'create' },
  realm: {
    defaultDefaultClientScopes: 'leave out',
    defaultOptionalClientScopes: 'leave out',
    defaultGroups: 'leave out',
  },
  authorizationPolicy: {
    roles: 'leave out',
    requiredRoles: 'leave out',
    groups: 'leave out',
    groupsAndBelow: 'leave out',
  },
  authorizationResource: { owner: 'leave out' },
}

/** An import whose names all lead somewhere, but for those that are refused. */
export interface Completed {
  readonly desired: DesiredRealm
  /** The keys of the roles that are created since something names them. */
  readonly roles: readonly Key[]
}

/** Declares the roles that are named and nowhere declared, and leaves out other names of what there is not. */
export function completed(desired: DesiredRealm, live: PlanInput['live']): Completed {
  const declared = [...desired.objects].flatMap(([id, { named }]) => (named ? [] : [id]))
  const there = new Set([...declared, ...live.map(({ kind, key }) => address(kind, key))])
  const objects = new Map(desired.objects)
  const roles: Key[] = []
  for (const [id, object] of desired.objects) {
    const rule = rules[object.kind]
    if (!rule) continue
    const kind = kinds[object.kind]
    const left = new Map<string, StatedValue | undefined>()
    for (const [path, stated] of object.fields) {
      const what = rule[path]
      const named = what ? references(kind, object.key, path, stated.value) : []
      const isMissing = named.map(({ to, key }) => !there.has(address(to, key)) && isPlaced(key, there))
      if (!isMissing.includes(true)) continue
      if (what === 'create') {
        for (const { key } of named.filter((_, at) => isMissing[at])) {
          if (!objects.has(address('role', key))) roles.push(key)
          objects.set(address('role', key), roleOf(key, object))
        }
      } else if (resolve(kind, path).field.relation) {
        const value = (stated.value as Json[]).filter((_, at) => !isMissing[at])
        left.set(path, { ...stated, value })
      } else left.set(path, undefined)
    }
    if (left.size) objects.set(id, { ...object, fields: replaced(object.fields, left) })
  }
  return { desired: { ...desired, objects }, roles }
}

/** Whether what the object of the key belongs to is there. Keycloak: refuses roles of clients that there are not. */
function isPlaced(key: Key, there: ReadonlySet<string>): boolean {
  return key.length === 1 || there.has(address(key[0] as KindName, key.slice(1, -1)))
}

function roleOf(key: Key, { origin }: DesiredObject): DesiredObject {
  return {
    kind: 'role',
    key,
    id: undefined,
    renamedFrom: undefined,
    fields: new StatedFields([], [], origin),
    secrets: undefined,
    masked: [],
    literal: [],
    named: false,
    origin,
  }
}

function replaced(fields: StatedFields, by: ReadonlyMap<string, StatedValue | undefined>): StatedFields {
  const all = [...fields].flatMap(([path, stated]): [string, StatedValue][] => {
    const value = by.has(path) ? by.get(path) : stated
    return value ? [[path, value]] : []
  })
  return new StatedFields(
    all.map(([path]) => path),
    all.map(([, { value }]) => value),
    all.map(([, { origin }]) => origin),
  )
}

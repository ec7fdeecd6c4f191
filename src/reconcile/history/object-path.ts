// Paths of objects and fields in a realm, in the format of realm files: `clients/my-app/roles/buyer/description`.
import { kinds } from '../../kinds/index.ts'
import { hasPathKey, type Key, type KindName } from '../../kinds/kind.ts'
import { describeObject, findParent, formatAddress } from '../../kinds/tree.ts'
import { findNearestWord } from '../../lib/nearest-word.ts'
import { failure, type ServiceError } from '../../service/context/errors.ts'

/** An object, or one of its fields. */
interface ObjectPath {
  readonly kind: KindName
  readonly key: Key
  readonly field: string | undefined
}

/**
 * Parses the path of an object or field: `displayName`, `clients/my-app`, `clients/my-app/roles/buyer/description`,
 * `groups/staff/night`. Roles may be given as in realm files: `roles/realm/staff`, `roles/client/my-app/buyer`. Steps are
 * percent-encoded. Throws invalid where a name is missing.
 */
export function parseObjectPath(realm: string, path: string): ObjectPath {
  const steps = omitRoleLists(path.split('/').filter(Boolean).map(decodeURIComponent))
  let kind: KindName = 'realm'
  let key: Key = [realm]
  for (;;) {
    const child: KindName | undefined = getChildKinds(kind)[steps[0] ?? '']
    if (!child) break
    // Objects of kinds with a parent field are listed in the realm: their path has the names of parent and object.
    const hasParentField = kinds[child].parentField !== undefined
    const names = steps.slice(1, hasParentField ? 3 : 2)
    if (names.length < (hasParentField ? 2 : 1))
      throw failure(
        'invalid',
        `the path ${path} lacks a name. Use ${steps[0]}/${hasParentField ? '<parent>/' : ''}<name>.`,
      )
    const parent: Key = hasParentField ? [kinds[child].parents[0]!, names[0]!] : kind === 'realm' ? [] : [kind, ...key]
    key = [...parent, toKeyName(child, names.at(-1)!)]
    kind = child
    steps.splice(0, hasParentField ? 3 : 2)
    if (kind === 'group') key = [...key.slice(0, -1), [key.at(-1), ...takeSubgroups(steps)].join('/')]
  }
  return { kind, key, field: steps.length ? steps.join('.') : undefined }
}

/** Returns the steps without the lists of a realm file that are not part of a role's key. */
function omitRoleLists(steps: readonly string[]): string[] {
  const [first, list, ...names] = steps
  if (first === 'roles' && list === 'realm' && names.length) return ['roles', ...names]
  const [client, ...rest] = names
  return first === 'roles' && list === 'client' && rest.length ? ['clients', client!, 'roles', ...rest] : [...steps]
}

/** Takes the names of subgroups from the steps: those before a field of groups. */
function takeSubgroups(steps: string[]): string[] {
  const { fields, children } = kinds.group
  const end = steps.findIndex((step) => Object.hasOwn(fields, step) || Object.hasOwn(children, step))
  return steps.splice(0, end < 0 ? steps.length : end)
}

/** Returns the error for a path that names an object which the realm does not have. */
export function createMissingObjectError(realm: string, { kind, key }: Pick<ObjectPath, 'kind' | 'key'>): ServiceError {
  return failure('not_found', `The realm ${realm} has no ${describeObject(kind, key)}. Check the path.`)
}

/** Throws invalid where the path names a field that the kind does not have. */
export function requireExistingField(realm: string, { kind, key, field = '' }: ObjectPath): void {
  const [name = ''] = field.split('.')
  const { fields } = kinds[kind]
  if (name === '' || Object.hasOwn(fields, name)) return
  const owner = kind === 'realm' ? `realm ${realm}` : `${describeObject(kind, key)} in the realm ${realm}`
  const near = findNearestWord(name, [...Object.keys(getChildKinds(kind)), ...Object.keys(fields)])
  const hint = near
    ? `Did you mean ${near}?`
    : 'Use the field names of realm files, such as displayName or clients/my-app.'
  throw failure('invalid', `The ${owner} has no field ${name}. ${hint}`)
}

/** The objects and fields at a list of paths, and below. */
export interface PathScope {
  /** Whether users are included. */
  readonly users: boolean
  /** The objects that a path names. */
  readonly objects: readonly { readonly kind: KindName; readonly key: Key }[]
  includes(kind: KindName, key: Key): boolean
  /** Returns whether a field is included, for an object that a path names; undefined for other objects. */
  findFieldFilter(kind: KindName, key: Key): ((path: string) => boolean) | undefined
}

/** Returns the scope of the paths; without any, of the whole realm. Throws invalid where a path is not valid. */
export function createPathScope(realm: string, paths: readonly string[], users: boolean): PathScope {
  if (!paths.length) return { users, objects: [], includes: () => true, findFieldFilter: () => undefined }
  const targets = paths.map((path) => parseTarget(realm, path))
  return {
    users: users || targets.some(({ kind }) => kinds[kind].isUserData),
    objects: targets.flatMap(({ kind, key }) => (key ? [{ kind, key }] : [])),
    includes: (kind, key) => targets.some((target) => isAtOrBelow({ kind, key }, target)),
    findFieldFilter(kind, key) {
      const address = formatAddress(kind, key)
      const matching = targets.filter((target) => target.key && address === formatAddress(target.kind, target.key))
      if (!matching.length) return undefined
      return (path) =>
        matching.some(({ field }) => field === undefined || path === field || path.startsWith(`${field}.`))
    },
  }
}

/** The target of a path: an object, a field, or without a key, a whole list. */
type ScopeTarget = Omit<ObjectPath, 'key'> & { readonly key: Key | undefined }

function parseTarget(realm: string, path: string): ScopeTarget {
  const list = Object.entries(kinds.realm.children).find(([field]) => field === path)?.[1]
  if (list) return { kind: list, key: undefined, field: undefined }
  const target = parseObjectPath(realm, path)
  requireExistingField(realm, target)
  return target
}

function isAtOrBelow({ kind, key }: { kind: KindName; key: Key }, target: ScopeTarget): boolean {
  const parent = findParent(key)
  if (target.key === undefined) return kind === target.kind || parent?.kind === target.kind
  if (formatAddress(kind, key) === formatAddress(target.kind, target.key)) return true
  if (target.field !== undefined) return false
  const isSubgroup = hasPathKey(kinds[kind]) && kind === target.kind && key.at(-1)!.startsWith(`${target.key.at(-1)}/`)
  return isSubgroup || (parent !== undefined && isAtOrBelow(parent, target))
}

/** Returns the kinds of an object's children, by field. Roles are children of their clients, as in the admin API. */
function getChildKinds(kind: KindName): Readonly<Record<string, KindName>> {
  const { children } = kinds[kind]
  return kind === 'client' ? { ...children, roles: 'role' } : children
}

/** Returns the natural key for a name in a path: the first slash of a group's path may be omitted. */
function toKeyName(kind: KindName, name: string): string {
  return kind === 'group' && !name.startsWith('/') ? `/${name}` : name
}

/** Returns the path of an object, as `parseObjectPath` reads it. The path of the realm is empty. */
export function formatObjectPath(kind: KindName, key: Key): string {
  if (kind === 'realm') return ''
  const parent = findParent(key)
  const hasParentField = kinds[kind].parentField !== undefined
  const names = [...(hasParentField && parent ? [parent.key.at(-1)!] : []), key.at(-1)!]
  const steps = hasPathKey(kinds[kind]) && kind === 'group' ? key.at(-1)!.slice(1).split('/') : names
  const containers = hasParentField ? undefined : parent
  const list = Object.entries(getChildKinds(containers?.kind ?? 'realm')).find(([, child]) => child === kind)?.[0]
  const path = [list ?? kind, ...steps].map(encodeURIComponent).join('/')
  return containers ? `${formatObjectPath(containers.kind, containers.key)}/${path}` : path
}

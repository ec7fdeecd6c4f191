// What a write gives of administrative power, in which ways: the facts of its fields say. See privilege.ts.
import { type FlatFields, flatten, isAdmission, isProof, isSecret, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import type { RelationElement } from '../../store/relations.ts'
import type { Context } from '../context/context.ts'
import {
  demandAnybody,
  demandClientScopes,
  demandClients,
  demandGroups,
  demandNamed,
  demandProviders,
  demandRoles,
  demandUsers,
} from '../permissions/privilege.ts'
import type { Change } from './changes.ts'
import { demandConditionRoles } from './condition-roles.ts'
import { type LiveObject, listObjects } from './live.ts'

/** Elements of relations that come or go, by field. */
export type Added = readonly { readonly field: string; readonly elements: readonly Pick<RelationElement, 'target'>[] }[]

const mapper = kinds.protocolMapper

/** In whose place somebody could act, who sets what the objects of a kind are known by. */
const places: Readonly<Partial<Record<KindName, (context: Context, ids: readonly string[]) => Promise<void>>>> = {
  user: demandUsers,
  client: demandClients,
  identityProvider: demandProviders,
}

/** What others have their power from. */
const sources: typeof places = { role: demandRoles, group: demandGroups }

/** Kinds whose objects decide who gets in by others, which stay; what a client or a realm says of itself goes with it. */
const decisive: ReadonlySet<KindName> = new Set([
  'authenticationFlow',
  'authenticatorConfig',
  'requiredAction',
  'component',
  'localization',
])

/** Throws forbidden where new objects give power that the caller does not have. Statements: none, unless they give some. */
export async function demandOfNew(
  context: Context,
  kind: Kind,
  made: readonly { readonly key: Key; readonly flat: FlatFields }[],
  added: Added,
): Promise<void> {
  if (context.power.all) return
  const given = added.filter(({ field }) => kind.fields[field]!.gives === true)
  await demandGiven(
    context,
    kind,
    made.map(({ flat }) => flat),
    given,
  )
  if (made.some(({ flat }) => opens(kind, flat, (path) => isAdmission(kind, path, 'creation'))))
    await demandAnybody(context)
  if (kind.name === 'role') {
    const keys = made.map(({ key }) => key)
    await demandConditionRoles(context, { keys, ids: targetsIn(kind, given, 'role') })
  }
}

/**
 * Throws forbidden where changes give power that the caller does not have, or take it away: whoever is weak for a moment can be
 * taken over, and be strong again once a source or an administrator corrects that. Statements: none, unless they give or take some.
 */
export async function demandOfChanges(
  context: Context,
  kind: Kind,
  changes: readonly Change[],
  { added, removed }: { readonly added: Added; readonly removed: Added },
): Promise<void> {
  if (context.power.all) return
  await demandGiven(
    context,
    kind,
    changes.map(({ set }) => set),
    added.filter(({ field }) => kind.fields[field]!.gives),
  )
  const taken = removed.filter(({ field }) => kind.fields[field]!.gives === true)
  await demandRoles(context, targetsIn(kind, taken, 'role'))
  await demandGroups(context, targetsIn(kind, taken, 'group'))
  if (changes.some(({ set }) => opens(kind, set, (path) => isAdmission(kind, path, 'later')) || lifts(kind, set)))
    await demandAnybody(context)
  const ids = kind.name === 'role' ? targetsIn(kind, [...added, ...removed], 'role') : []
  await demandConditionRoles(context, { keys: renamedRoles(kind, changes), ids })
  const proved = changes.filter(({ set }) => opens(kind, set, (path) => isProof(kind, path)))
  await places[kind.name]?.(
    context,
    proved.map(({ live }) => live.id),
  )
}

/**
 * Throws forbidden where others lose power with these objects that the caller does not have, or where the deletion lifts what
 * everybody must fulfil to get in. Before the deletion. Statements: none, unless it does.
 */
export async function demandOfDeleted(
  context: Context,
  kind: Kind,
  objects: readonly Pick<LiveObject, 'id' | 'key' | 'representation'>[],
): Promise<void> {
  if (context.power.all) return
  const ids = objects.map(({ id }) => id)
  await sources[kind.name]?.(context, ids)
  if (kind.name === 'role') await demandConditionRoles(context, { keys: objects.map(({ key }) => key), ids })
  if (decisive.has(kind.name) && objects.some(({ representation }) => decides(kind, flatten(kind, representation))))
    await demandAnybody(context)
}

/** Throws forbidden where objects that are replaced by others of their names have power that the caller does not have. Statements: none, or one. */
export async function demandReplaced(context: Context, kind: KindName, objects: readonly { id: string }[]) {
  await places[kind]?.(
    context,
    objects.map(({ id }) => id),
  )
}

/** The keys that roles lose and get by these changes; that of a client stands for its roles. */
function renamedRoles(kind: Kind, changes: readonly Change[]): Key[] {
  if (kind.name !== 'role' && kind.name !== 'client') return []
  const own = (key: Key): Key => (kind.name === 'client' ? ['client', ...key] : key)
  return changes.flatMap(({ live: { key }, set }) => {
    const name = set[kind.naturalKey]
    return name === undefined ? [] : [own(key), own([...key.slice(0, -1), String(name)])]
  })
}

async function demandGiven(context: Context, kind: Kind, stated: readonly FlatFields[], given: Added): Promise<void> {
  await demandRoles(context, targetsIn(kind, given, 'role'))
  await demandGroups(context, targetsIn(kind, given, 'group'))
  const clientScopes = targetsIn(kind, given, 'clientScope')
  await demandClientScopes(context, clientScopes)
  const named = (what: 'role' | 'group') => stated.flatMap((flat) => namedIn(kind, flat, what))
  const shown = await rolesOfMappers(context, clientScopes)
  await demandNamed(context, { roles: [...named('role'), ...shown], groups: named('group') })
}

/** The ids of the objects of a kind among elements of relations, each once. */
function targetsIn(kind: Kind, elements: Added, to: KindName): string[] {
  const own = elements.filter(({ field }) => kind.fields[field]!.refersTo === to)
  return [...new Set(own.flatMap(({ elements }) => elements.map(({ target }) => target)))]
}

/** The roles that mappers of client scopes name. One statement, or none. */
async function rolesOfMappers(context: Context, clientScopes: readonly string[]): Promise<string[]> {
  if (!clientScopes.length) return []
  const mappers = await listObjects(context, 'protocolMapper', { parents: { kind: 'clientScope', ids: clientScopes } })
  return mappers.flatMap((live) => namedIn(mapper, flatten(mapper, live.representation), 'role'))
}

function namedIn(kind: Kind, flat: FlatFields, what: 'role' | 'group'): string[] {
  return Object.entries(flat).flatMap(([path, value]) => {
    const { key, field } = resolve(kind, path)
    if (value === null || key === undefined || !field.namesGiven?.[what].includes(key)) return []
    return [value].flat().map(String)
  })
}

/** Whether one of the values opens a way in: switching off does not, nor taking away a secret. */
function opens(kind: Kind, set: FlatFields, isWay: (path: string) => boolean): boolean {
  return Object.entries(set).some(
    ([path, value]) =>
      value !== false &&
      !(value === null && isSecret(kind, path)) &&
      value !== resolve(kind, path).field.usual &&
      isWay(path),
  )
}

/** Whether one of the values switches off what everybody must fulfil to get in. */
function lifts(kind: Kind, set: FlatFields): boolean {
  return Object.entries(set).some(
    ([path, value]) => (value === false || value === null) && resolve(kind, path).field.demands === true,
  )
}

/** Whether an object that says so decides who gets in; a flow without steps does not. */
function decides(kind: Kind, flat: FlatFields): boolean {
  return Object.entries(flat).some(
    ([path, value]) => value !== null && !isEmptyList(value) && isAdmission(kind, path, 'later'),
  )
}

const isEmptyList = (value: Json): boolean => Array.isArray(value) && value.length === 0

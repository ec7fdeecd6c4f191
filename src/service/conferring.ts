// What a write gives of administrative power, in which ways: the facts of its fields say. See privilege.ts.
import { type FlatFields, flatten, isAdmission, isProof, isSecret, resolve } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import type { Kind, KindName } from '../kinds/kind.ts'
import type { RelationElement } from '../store/relations.ts'
import type { Change } from './changes.ts'
import type { Context } from './context.ts'
import { listObjects } from './live.ts'
import {
  demandAnybody,
  demandClientScopes,
  demandClients,
  demandGroups,
  demandNamed,
  demandProviders,
  demandRoles,
  demandUsers,
} from './privilege.ts'

/** What relations have got, by field. */
export type Added = readonly { readonly field: string; readonly elements: readonly Pick<RelationElement, 'target'>[] }[]

const mapper = kinds.protocolMapper

/** In whose place somebody could act, who sets what the objects of a kind are known by. */
const places: Readonly<Partial<Record<KindName, (context: Context, ids: readonly string[]) => Promise<void>>>> = {
  user: demandUsers,
  client: demandClients,
  identityProvider: demandProviders,
}

/** Throws forbidden where new objects give power that the caller does not have. Statements: none, unless they give some. */
export async function demandOfNew(
  context: Context,
  kind: Kind,
  made: readonly FlatFields[],
  added: Added,
): Promise<void> {
  if (context.power.all) return
  const given = added.filter(({ field }) => kind.fields[field]!.gives === true)
  await demandGiven(context, kind, made, given)
  if (made.some((flat) => opens(kind, flat, (path) => isAdmission(kind, path, 'creation'))))
    await demandAnybody(context)
}

/** Throws forbidden where changes give power that the caller does not have. Statements: none, unless they give some. */
export async function demandOfChanges(
  context: Context,
  kind: Kind,
  changes: readonly Change[],
  added: Added,
): Promise<void> {
  if (context.power.all) return
  await demandGiven(
    context,
    kind,
    changes.map(({ set }) => set),
    added.filter(({ field }) => kind.fields[field]!.gives),
  )
  if (changes.some(({ set }) => opens(kind, set, (path) => isAdmission(kind, path, 'later'))))
    await demandAnybody(context)
  const proved = changes.filter(({ set }) => opens(kind, set, (path) => isProof(kind, path)))
  await places[kind.name]?.(
    context,
    proved.map(({ live }) => live.id),
  )
}

async function demandGiven(context: Context, kind: Kind, stated: readonly FlatFields[], given: Added): Promise<void> {
  const targets = (to: KindName) =>
    given.flatMap(({ field, elements }) =>
      kind.fields[field]!.refersTo === to ? elements.map(({ target }) => target) : [],
    )
  await demandRoles(context, [...new Set(targets('role'))])
  await demandGroups(context, [...new Set(targets('group'))])
  const clientScopes = [...new Set(targets('clientScope'))]
  await demandClientScopes(context, clientScopes)
  const named = (what: 'role' | 'group') => stated.flatMap((flat) => namedIn(kind, flat, what))
  const shown = await rolesOfMappers(context, clientScopes)
  await demandNamed(context, { roles: [...named('role'), ...shown], groups: named('group') })
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
    ([path, value]) => value !== false && !(value === null && isSecret(kind, path)) && isWay(path),
  )
}

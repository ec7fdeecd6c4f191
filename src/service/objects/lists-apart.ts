// Lists that stand in users and are kept in tables of their own.
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Context } from '../context/context.ts'
import { idsOf } from './references.ts'

/** What users shall have: the whole list of each; null: none. */
export type StatedLists = readonly { readonly id: string; readonly stated: Json | undefined }[]

/** The lists of users, by user. `select` gives rows in order, `show` what stands in the list for one. */
export async function listsOf<Row extends { readonly user: string }>(
  users: readonly { readonly id: string }[],
  select: (ids: readonly string[]) => Promise<readonly Row[]>,
  show: (row: Row) => Json,
): Promise<ReadonlyMap<string, Json>> {
  if (!users.length) return new Map()
  const rows = Map.groupBy(await select(users.map(({ id }) => id)), ({ user }) => user)
  return new Map([...rows].map(([user, own]) => [user, own.map(show)]))
}

/** Writes lists anew: what the users had is deleted, and each element of what is stated inserted. */
export async function writeLists(
  users: StatedLists,
  remove: (ids: readonly string[]) => Promise<void>,
  insert: (elements: readonly { readonly user: string; readonly element: Representation }[]) => Promise<void>,
): Promise<void> {
  if (!users.length) return
  await remove(users.map(({ id }) => id))
  const elements = users.flatMap(({ id, stated }) =>
    ((stated ?? []) as Representation[]).map((element) => ({ user: id, element })),
  )
  if (elements.length) await insert(elements)
}

/** Finds ids of objects by their names. Throws invalid where one does not exist. One statement. */
export async function idsByName(
  context: Context,
  kind: KindName,
  names: readonly string[],
): Promise<(name: string) => string> {
  const ids = await idsOf(
    context,
    kind,
    [...new Set(names)].map((name): Key => [name]),
  )
  return (name) => ids.get(JSON.stringify([name]))!
}

// Lists in the representation of users that are stored in tables of their own: consents, federated identities.
import { type Json, type Representation, readObjects } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Context } from '../context/context.ts'
import { getIdsByKey } from './references.ts'

/** The declared list of each user, such as their credentials; undefined: the document declares none. */
export type UserLists = readonly { readonly id: string; readonly declared: Json | undefined }[]

/** Returns the live list of each user, by user id. `select` returns rows in order, `toElement` converts each to an element. */
export async function getUserLists<Row extends { readonly user: string }>(
  users: readonly { readonly id: string }[],
  select: (ids: readonly string[]) => Promise<readonly Row[]>,
  toElement: (row: Row) => Json,
): Promise<ReadonlyMap<string, Json>> {
  if (!users.length) return new Map()
  const rowsByUser = Map.groupBy(await select(users.map(({ id }) => id)), ({ user }) => user)
  return new Map([...rowsByUser].map(([user, rows]) => [user, rows.map(toElement)]))
}

/** Replaces the live lists of users: deletes all elements and inserts the declared ones. */
export async function replaceUserLists(
  users: UserLists,
  deleteLists: (ids: readonly string[]) => Promise<void>,
  insertElements: (elements: readonly { readonly user: string; readonly element: Representation }[]) => Promise<void>,
): Promise<void> {
  if (!users.length) return
  await deleteLists(users.map(({ id }) => id))
  const elements = users.flatMap(({ id, declared }) => readObjects(declared).map((element) => ({ user: id, element })))
  if (elements.length) await insertElements(elements)
}

/** Returns a lookup of ids by name. Throws invalid if an object does not exist. One statement. */
export async function getIdLookup(
  context: Context,
  kind: KindName,
  names: readonly string[],
): Promise<(name: string) => string> {
  const keys = [...new Set(names)].map((name): Key => [name])
  const ids = await getIdsByKey(context, kind, keys)
  return (name) => ids.get(JSON.stringify([name]))!
}

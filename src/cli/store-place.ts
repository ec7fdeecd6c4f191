// The place of a store that a command opens itself, and whether there is a store.
import type { StoreLocation } from '../service/context/store-types.ts'
import type { StoreKey } from './commands/key.ts'
import { printHint } from './terminal/hint.ts'

type StorePlace = Pick<StoreKey, 'database' | 'data'>

/** Returns the location of a store: that of its database if there is one, otherwise its folder. */
export function toLocation({ database, data }: StorePlace): StoreLocation {
  return database ? { url: database } : { folder: data }
}

/** Returns the place of a store in words, without credentials. */
export function describePlace({ database, data }: StorePlace): string {
  return database ? `the database ${withoutPassword(database)}` : `the folder ${data}`
}

/** Returns the URL of a database without password and parameters. */
export function withoutPassword(database: string): string {
  const url = new URL(database)
  url.password = ''
  for (const name of [...url.searchParams.keys()]) url.searchParams.delete(name)
  return url.href
}

/** Returns whether there is a store. Creates none. */
export async function hasStore(at: StorePlace): Promise<boolean> {
  const { storeExists } = await import('../service/context/store-types.ts')
  return storeExists(toLocation(at))
}

/** Throws Error if there is no store: opening a missing one would create it. `advice`: default: all ways to select a store. */
export async function requireStore(at: StorePlace, advice = SELECT_STORE): Promise<void> {
  if (!(await hasStore(at))) throw new Error(`There is no store in ${describePlace(at)}. ${advice}`)
}

const SELECT_STORE =
  'Pass its folder with --data, its database with --database, or its server with --server. "regent serve" and "regent apply" create a store.'

/** The advice of commands that no server can execute. */
export const SELECT_OWN_STORE = 'Pass its folder with --data, or its database with --database.'

/** Reports that a command creates the store, if there is none. Returns whether it does. */
export async function reportNewStore(at: StorePlace): Promise<boolean> {
  if (await hasStore(at)) return false
  printHint(`There is no store in ${describePlace(at)}. Creating it.`)
  return true
}

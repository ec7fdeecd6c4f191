// Whether there is a store at a location, without creating one: opening a missing store creates it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { StoreLocation } from './database/database.ts'

/** Milliseconds to wait for the connection. */
const CONNECTION_TIMEOUT = 30_000

/** Returns whether there is a store at a location. Throws the error of the database if it does not respond. */
export async function storeExists({ url, folder }: StoreLocation): Promise<boolean> {
  if (!url) return folder !== undefined && existsSync(join(folder, 'pglite'))
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECTION_TIMEOUT })
  // Without a handler, a connection that breaks would end the process. The statement fails anyway.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ exists: boolean }>(
      "select to_regclass('kysely_migration') is not null as exists",
    )
    return rows[0]!.exists
  } finally {
    await client.end()
  }
}

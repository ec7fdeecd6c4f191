// A database of its own on the run's PostgreSQL server, which ends with the run.
import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** Makes an empty database; gives its URL. */
export async function createDatabase(serverUrl: string): Promise<string> {
  const name = `regent_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

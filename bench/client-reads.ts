// Measures reads of single clients, compared with a look-up of the same text by primary key.
import type { Bench, Case } from './measure.ts'
import { type MeasuredRead, startReadServers } from './read-servers.ts'

/** Number of different clients that are read. */
const CLIENT_COUNT = 200

/** The cases of these reads, with the servers that they use. */
export interface ClientReads {
  readonly cases: Case[]
  /** Sends many reads one after the other, and returns the time of each in milliseconds. */
  measureTimes(): Promise<readonly number[]>
  /** Stops the servers. */
  close(): Promise<void>
}

/** Returns the reads for a realm with clients. */
export async function openClientReads(bench: Bench, realm: string): Promise<ClientReads> {
  const servers = await startReadServers(bench)
  const clients = await bench.query<{ id: string }>(
    'select c.id from client c join realm r on r.number = c.realm where r.name = $1 limit $2',
    [realm, CLIENT_COUNT],
  )
  await bench.query('create table answer (realm text, id text, body text not null, primary key (realm, id))')
  const reads: MeasuredRead[] = []
  for (const { id } of clients) {
    const path = `/admin/realms/${realm}/clients/${id}`
    await bench.query('insert into answer values ($1, $2, $3)', [realm, id, await servers.getResponse(path)])
    reads.push({ path, baseline: ['select body from answer where realm = $1 and id = $2', [realm, id]] as const })
  }
  return {
    cases: [
      servers.createCase('read a client, 1 connection', reads),
      servers.createCase('read a client, 16 connections', reads, 16),
    ],
    measureTimes: () => servers.measureTimes([...reads, ...reads, ...reads]),
    close: () => servers.close(),
  }
}

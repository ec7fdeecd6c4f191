// Reads of one client, against a look-up of the same text.
import type { Bench, Case } from './measure.ts'
import { openServers, type Reading } from './requests.ts'

/** How many clients are read in turn. */
const CLIENTS = 200

/** Reads that are measured. */
export interface PointReads {
  readonly cases: Case[]
  /** How long each of many reads took, one after the other, in milliseconds. */
  times(): Promise<readonly number[]>
  /** Ends the servers. */
  close(): Promise<void>
}

/** The reads, on a realm with clients. */
export async function pointReads(bench: Bench, realm: string): Promise<PointReads> {
  const servers = await openServers(bench)
  const found = await bench.rows<{ id: string }>(
    'select c.id from client c join realm r on r.number = c.realm where r.name = $1 limit $2',
    [realm, CLIENTS],
  )
  await bench.rows('create table answer (realm text, id text, body text not null, primary key (realm, id))')
  const readings: Reading[] = []
  for (const { id } of found) {
    const path = `/admin/realms/${realm}/clients/${id}`
    await bench.rows('insert into answer values ($1, $2, $3)', [realm, id, await servers.answer(path)])
    readings.push({ path, floor: ['select body from answer where realm = $1 and id = $2', [realm, id]] as const })
  }
  return {
    cases: [
      servers.reads('read a client, 1 at once', readings),
      servers.reads('read a client, 16 at once', readings, 16),
    ],
    times: () => servers.times([...readings, ...readings, ...readings]),
    close: () => servers.close(),
  }
}

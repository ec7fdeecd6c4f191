// Two services with one database, as in two server processes.
import { afterAll } from 'vitest'
import { createOutbound } from '../../src/lib/http/outbound.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { newDatabase } from './service.ts'

/** Two services, and the URL of their database. With PGlite, which permits one process only, both are the same and there is no URL. */
export interface ServiceReplicas {
  readonly url: string | undefined
  readonly service: Service
  readonly other: Service
}

/** Allows connections to this machine, where the servers of tests run. */
const outbound = createOutbound({ development: true })

/** Opens a service for a database, as another server process does. The caller must close it. */
export function openReplica(location: { readonly url?: string }, clock?: () => Date): Promise<Service> {
  return openService({ location, outbound, key: new Uint8Array(32), ...(clock && { clock }) })
}

/** Opens two services with a new database and a master realm. They are closed after the tests of the calling file. */
export async function openServiceReplicas(clock?: () => Date): Promise<ServiceReplicas> {
  const location = await newDatabase()
  const service = await openReplica(location, clock)
  const other = location.url ? await openReplica(location, clock) : service
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  afterAll(async () => {
    for (const opened of new Set([service, other])) await opened.close()
  })
  return { url: location.url, service, other }
}

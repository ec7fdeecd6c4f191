// Deleted resources of a cluster whose objects still exist. The cluster does not wait for these.
import {
  type DeletedResource,
  deleteDeletedResources,
  insertDeletedResources,
  selectDeletedResources,
} from '../../store/sources/deleted-resources.ts'
import type { Service } from '../context/service.ts'

export type { DeletedResource } from '../../store/sources/deleted-resources.ts'

/** Returns the deleted resources of all realms. One statement. */
export function listDeletedResources(service: Service): Promise<DeletedResource[]> {
  return service.query(selectDeletedResources)
}

/** Records deleted resources of a realm, if it exists. Two statements. */
export async function recordDeletedResources(
  service: Service,
  realm: string,
  resources: readonly DeletedResource[],
): Promise<void> {
  const [row] = await service.findRealms([realm])
  if (row) await service.query((tx) => insertDeletedResources(tx, row.number, resources))
}

/** Forgets deleted resources of a realm by file, if it exists: their objects are deleted or released. Two statements. */
export async function forgetDeletedResources(service: Service, realm: string, files: readonly string[]): Promise<void> {
  const [row] = await service.findRealms([realm])
  if (row) await service.query((tx) => deleteDeletedResources(tx, row.number, files))
}

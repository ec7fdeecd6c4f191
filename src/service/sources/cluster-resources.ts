// Records about the resources of a cluster: who has edited them, and deleted ones whose objects still exist. The cluster does not wait for
// these.
import {
  type DeletedResource,
  deleteDeletedResources,
  insertDeletedResources,
  selectDeletedResources,
  selectEditors,
  upsertEditor,
} from '../../store/sources/cluster-resources.ts'
import type { Service } from '../context/service.ts'
import type { PlanAuthor } from '../context/store-types.ts'

export type { DeletedResource } from '../../store/sources/cluster-resources.ts'

/** Milliseconds by which an edit may be older than an apply that did not contain it. */
const EDIT_DELAY = 60_000
/** Milliseconds after which edits are forgotten. */
const EDIT_LIFETIME = 90 * 24 * 60 * 60 * 1000

/** Records that a user of the cluster edits resources of a source. One statement. */
export function recordEditor(
  service: Service,
  { source, editor }: { readonly source: string; readonly editor: string },
): Promise<void> {
  const at = service.clock()
  return service.query((tx) => upsertEditor(tx, { source, editor, at }, new Date(at.getTime() - EDIT_LIFETIME)))
}

/** Returns the users who have edited resources of a source since its last apply; undefined: it was never applied. One statement. */
export async function listEditors(
  service: Service,
  { source, appliedAt }: { readonly source: string; readonly appliedAt: Date | undefined },
): Promise<PlanAuthor[]> {
  const since = new Date((appliedAt?.getTime() ?? EDIT_DELAY) - EDIT_DELAY)
  const editors = await service.query((tx) => selectEditors(tx, { source, since }))
  return editors.map((name) => ({ names: [name] }))
}

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

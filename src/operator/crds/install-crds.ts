// Installs the CRDs by server-side apply, also over those that exist.
import { retry } from '../../lib/timing/retry.ts'
import { type ClusterClient, ClusterError } from '../cluster/cluster-client.ts'
import { listCrds } from './crds.ts'

/** An installed CRD, and whether the API server serves it. */
export interface InstalledCrd {
  readonly name: string
  readonly outcome: 'created' | 'updated' | 'unchanged'
}

/** A CRD as the API server returns it. */
interface InstalledDefinition {
  readonly metadata: { readonly generation?: number }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** Milliseconds between looks for a served CRD, and their number. */
const [POLL_INTERVAL, MAX_POLLS] = [200, 150]

/**
 * Installs all CRDs, and waits until the API server serves them. Their resources stay.
 *
 * @throws ClusterError if the API server refuses a request; Error if it does not serve a CRD in time
 */
export async function installCrds(client: ClusterClient): Promise<InstalledCrd[]> {
  const installed: InstalledCrd[] = []
  for (const crd of listCrds()) installed.push(await installCrd(client, crd))
  for (const { name } of installed) await waitUntilServed(client, name)
  return installed
}

async function installCrd(client: ClusterClient, crd: ReturnType<typeof listCrds>[number]): Promise<InstalledCrd> {
  const { name } = crd.metadata
  const before = await findCrd(client, name)
  const path = `${DEFINITIONS}/${name}?force=true`
  const after = await client.request<InstalledDefinition>('PATCH', path, {
    body: crd,
    type: 'application/apply-patch+yaml',
  })
  const isChanged = before?.metadata.generation !== after.metadata.generation
  return { name, outcome: before ? (isChanged ? 'updated' : 'unchanged') : 'created' }
}

function waitUntilServed(client: ClusterClient, name: string): Promise<void> {
  const requireServed = async () => {
    if (!isServed(await findCrd(client, name)))
      throw new Error(`The API server does not serve the CRD ${name} yet. Try again.`)
  }
  return retry(requireServed, { delayAfter: (_, polls) => (polls < MAX_POLLS ? POLL_INTERVAL : undefined) })
}

const isServed = (crd: InstalledDefinition | undefined): boolean =>
  crd?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true

async function findCrd(client: ClusterClient, name: string): Promise<InstalledDefinition | undefined> {
  try {
    return await client.request<InstalledDefinition>('GET', `${DEFINITIONS}/${name}`)
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404) return undefined
    throw error
  }
}

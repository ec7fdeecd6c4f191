// Installs the CRDs of Regent in a cluster.
import { connectToCluster } from '../../operator/cluster/cluster-client.ts'
import { installCrds } from '../../operator/crds/install-crds.ts'

/** `regent operator install`: installs the CRDs, and prints what has changed. */
export async function install(): Promise<void> {
  const cluster = connectToCluster()
  for (const { name, outcome } of await installCrds(cluster)) console.log(`${name} ${outcome}`)
  console.log(`${cluster.server} serves the CRDs of Regent.`)
}

// Removes the finalizers of Kubernetes resources, before the operator is removed or its namespaces are reduced.
import { connectToCluster } from '../../operator/cluster/cluster-client.ts'
import { releaseFinalizers } from '../../operator/cluster/release-finalizers.ts'

/** `regent operator release`: removes the finalizers, and prints how many. */
export async function release({
  namespaces,
  class: className,
}: {
  readonly namespaces?: readonly string[]
  readonly class?: string
}): Promise<void> {
  const released = await releaseFinalizers(connectToCluster(), { namespaces, className })
  for (const { kind, count } of released) console.log(`${kind}: ${count} released`)
  const total = released.reduce((sum, { count }) => sum + count, 0)
  console.log(
    total
      ? `The objects of ${total === 1 ? '1 resource' : `${total} resources`} stay live, unmanaged.`
      : 'No resource has a finalizer of Regent.',
  )
}

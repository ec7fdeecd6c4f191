// Waits for permissions in a cluster: the API server reads new roles and bindings a moment after their creation.
import type { Connection, Resource } from './kubernetes.ts'

/** A role, or a binding of one to service accounts, with the fields that tests use. */
interface Permission extends Resource {
  readonly rules?: readonly Rule[]
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly name: string; readonly namespace: string }[]
}

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** Waits until the service accounts of the bindings have what the roles allow. `permissions`: roles with their bindings. */
export async function waitForPermissions(
  { request }: Pick<Connection, 'request'>,
  permissions: readonly Permission[],
): Promise<void> {
  for (const { roleRef, subjects = [], metadata } of permissions) {
    const role = permissions.find(
      (other) =>
        other.kind === roleRef?.kind &&
        other.metadata.name === roleRef.name &&
        (other.kind === 'ClusterRole' || other.metadata.namespace === metadata.namespace),
    )
    for (const rule of role?.rules ?? [])
      for (const subject of subjects) {
        const user = `system:serviceaccount:${subject.namespace}:${subject.name}`
        const spec = { user, resourceAttributes: toResourceAttributes(rule, metadata.namespace) }
        while (!(await request('POST', REVIEWS, { spec })).body.status.allowed)
          await new Promise((resolve) => setTimeout(resolve, 20))
      }
  }
}

const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

/** Returns the first request that a rule allows. */
function toResourceAttributes({ apiGroups, resources, resourceNames, verbs }: Rule, namespace: string | undefined) {
  const [resource, subresource] = resources![0]!.split('/')
  return { namespace, verb: verbs[0], group: apiGroups![0], resource, subresource, name: resourceNames?.[0] }
}

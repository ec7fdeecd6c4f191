// The plugin of kubectl: `kubectl regent plan` and `kubectl regent approve`. They need the cluster only, not the API of Regent.
import { kinds } from '../../kinds/index.ts'
import { API_VERSION } from '../../kinds/resource-kinds.ts'
import { retry } from '../../lib/timing/retry.ts'
import {
  type ClusterClient,
  ClusterError,
  connectToCluster,
  FIELD_MANAGER,
} from '../../operator/cluster/cluster-client.ts'
import { listResources } from '../../operator/cluster/list-resources.ts'
import { APPROVED_PLAN_ANNOTATION, type Resource } from '../../operator/cluster/resource.ts'
import { getResourceNames, type ResourceNames, realmSourceNames } from '../../operator/cluster/resource-names.ts'
import { setExitCode } from '../exit-codes.ts'

/** Options of the commands. */
interface NamespaceFlags {
  /** Default: the namespace of the kubeconfig. */
  readonly namespace?: string
  readonly allNamespaces?: true
}

/** A resource that may have a plan, with the names of its kind. */
interface PlannedResource {
  readonly names: ResourceNames
  readonly resource: Resource
}

/** Milliseconds between looks for the result of an approval, and their number. */
const [POLL_INTERVAL, MAX_POLLS] = [500, 120]
/** The kinds of resources with plans. */
const plannedKinds = [getResourceNames(kinds.realm), realmSourceNames]

/** `kubectl regent plan`: prints the plan of a resource, or all plans that are not applied. */
export async function plan(address: string | undefined, flags: NamespaceFlags): Promise<void> {
  const cluster = connectToCluster()
  const namespace = flags.namespace ?? cluster.namespace
  const planned =
    address === undefined
      ? (await listPlanned(cluster, flags.allNamespaces ? undefined : namespace)).filter(hasOpenPlan)
      : [await getPlanned(cluster, namespace, address)]
  if (!planned.length)
    console.log(
      flags.allNamespaces
        ? 'No plan is pending or only planned.'
        : `No plan is pending or only planned in ${namespace}.`,
    )
  for (const resource of planned) console.log(`${renderPlan(resource)}\n`)
  if (planned.some(({ resource }) => resource.status?.plan?.id !== undefined)) setExitCode('pendingApproval')
}

/** `kubectl regent approve`: approves the plan of a resource that is pending approval, and prints the result. */
export async function approve(address: string, flags: NamespaceFlags & { readonly plan?: string }): Promise<void> {
  const cluster = connectToCluster()
  const planned = await getPlanned(cluster, flags.namespace ?? cluster.namespace, address)
  const { id } = planned.resource.status?.plan ?? {}
  if (id === undefined) throw new Error(`${getAddress(planned)} has no plan that is pending approval.`)
  if (flags.plan !== undefined && flags.plan !== id)
    throw new Error(
      `The plan of ${getAddress(planned)} is now ${id}, not ${flags.plan}. Show it with: kubectl regent plan`,
    )
  const body = { metadata: { annotations: { [APPROVED_PLAN_ANNOTATION]: id } } }
  const path = `${getPath(planned)}?fieldManager=kubectl-${FIELD_MANAGER}`
  await cluster.request('PATCH', path, { body, type: 'application/merge-patch+json' })
  console.log(`Approved the plan ${id} of ${getAddress(planned)}.`)
  const after = await waitForResult(cluster, planned, id)
  const ready = after.status?.conditions?.find(({ type }) => type === 'Ready')
  console.log(`${ready?.reason ?? 'Unknown'}: ${ready?.message ?? 'The resource has no condition Ready.'}`)
  if (ready?.status !== 'True') setExitCode('pendingApproval')
}

/** Waits until the plan of a resource was applied or replaced. */
function waitForResult(cluster: ClusterClient, planned: PlannedResource, id: string): Promise<Resource> {
  const requireResult = async () => {
    const resource = await cluster.request<Resource>('GET', getPath(planned))
    const { status } = resource
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    if (status?.plan?.id === id && ready?.reason === 'PendingApproval' && !ready.message.includes('may not'))
      throw new Error(`The operator did not apply the plan ${id} in time. See: kubectl describe ${getAddress(planned)}`)
    return resource
  }
  return retry(requireResult, {
    delayAfter: (error, polls) => (error instanceof ClusterError || polls >= MAX_POLLS ? undefined : POLL_INTERVAL),
  })
}

/** Lists the Realms and RealmSources in a namespace, or in all. */
async function listPlanned(cluster: ClusterClient, namespace: string | undefined): Promise<PlannedResource[]> {
  const scope = namespace === undefined ? '' : `namespaces/${namespace}/`
  const lists = await Promise.all(
    plannedKinds.map(async (names) => {
      const { items } = await listResources<Resource>(cluster, `/apis/${API_VERSION}/${scope}${names.plural}`)
      return items.map((resource) => ({ names, resource }))
    }),
  )
  return lists.flat()
}

/** Returns a resource by `name` of a Realm, or by `kind/name`. @throws Error if there is none */
async function getPlanned(cluster: ClusterClient, namespace: string, address: string): Promise<PlannedResource> {
  const [kind, name] = address.includes('/') ? address.split('/') : ['realm', address]
  const names = plannedKinds.find(({ kind: kindName, plural, shortName }) =>
    [kindName.toLowerCase(), plural, shortName].includes(kind!.toLowerCase()),
  )
  if (!names) throw new Error(`${kind} has no plans. Use a Realm or a RealmSource, such as realmsource/acme.`)
  const resource = await cluster.request<Resource>(
    'GET',
    `/apis/${API_VERSION}/namespaces/${namespace}/${names.plural}/${name}`,
  )
  return { names, resource }
}

const getAddress = ({ names, resource: { metadata } }: PlannedResource): string =>
  `${names.kind.toLowerCase()}/${metadata.name} -n ${metadata.namespace}`

const getPath = ({ names, resource: { metadata } }: PlannedResource): string =>
  `/apis/${API_VERSION}/namespaces/${metadata.namespace}/${names.plural}/${metadata.name}`

const hasOpenPlan = ({ resource: { status } }: PlannedResource): boolean =>
  status?.plan?.id !== undefined || status?.plan?.changes !== undefined

/** Renders the plan of a resource with the reason why it is not applied, and the command that approves it. */
function renderPlan(planned: PlannedResource): string {
  const { status } = planned.resource
  const { id, changes } = status?.plan ?? {}
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const address = getAddress(planned)
  if (id === undefined && changes === undefined) return `${address}: no plan is pending. ${ready?.message ?? ''}`
  const reason = `${address}: ${ready?.message ?? 'The plan is not applied.'}`
  const approval = id === undefined ? [] : ['', `Approve it with: kubectl regent approve ${address} --plan ${id}`]
  return [reason, '', changes ?? 'The changes are not in the status.', ...approval].join('\n')
}

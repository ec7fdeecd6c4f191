// A service whose operator follows a real API server, and what tests ask of that.
import { inject, vi } from 'vitest'
import { type Cluster, openCluster } from '../../src/operator/cluster.ts'
import { OPERATE, type OperatorOptions, operator } from '../../src/operator/operator.ts'
import type { Service } from '../../src/service/context/service.ts'
import { seekLease } from '../../src/service/operations/leases.ts'
import { type Kubernetes, openKubernetes, type Resource } from './kubernetes.ts'
import { testService } from './service.ts'

/** How long a test waits for what must come, in milliseconds. */
const timeout = 60_000

/** A resource as the API server has it. */
// biome-ignore lint/suspicious/noExplicitAny: statuses of any kind
export type AnyResource = any

/** Namespaces of the tests, others are somebody else's; and where in them something was applied. */
const spaces = new Map<string, Set<string>>()

/** A running operator. */
export interface TestOperator {
  /** What it could not do, and tried again. */
  readonly failures: unknown[]
  stop(): Promise<void>
}

let cluster: Cluster | undefined

/** The API server, as the chart lets the operator ask it; without Helm, as whoever KUBECONFIG names. All of a server ask the same one. */
export const getOperatorCluster = (): Cluster => {
  cluster ??= openCluster(inject('operatorConfig'))
  return cluster
}

/** Starts the operator of the service. */
export function startOperator(service: Service, options: Partial<OperatorOptions> = {}): TestOperator {
  const failures: unknown[] = []
  const failed = (error: unknown) => failures.push(error)
  const counts = (namespace: string) => spaces.has(namespace)
  const git = { interval: 1, signers: undefined }
  const given = {
    cluster: getOperatorCluster(),
    limitOf: () => undefined,
    counts,
    git,
    say: () => {},
    failed,
    ...options,
  }
  const seeker = seekLease(service, OPERATE, 15, operator(service, given))
  return { failures, stop: () => seeker.close() }
}

/** What tests do with resources of one namespace. */
export interface TestNamespace {
  readonly namespace: string
  /** Applies it there. Throws what the API server refuses. */
  apply(createResource: object): Promise<void>
  get(resource: Pick<Resource, 'kind' | 'metadata'>): Promise<AnyResource>
  delete(...resources: Pick<Resource, 'apiVersion' | 'kind' | 'metadata'>[]): Promise<void>
  /** Waits until the condition Ready is so, of the resource as it is; gives it. */
  waitForReady(resource: Pick<Resource, 'kind' | 'metadata'>, status: 'True' | 'False', reason?: string): Promise<AnyResource>
  /** Takes its finalizers away, as nobody should. */
  removeFinalizers(resource: Pick<Resource, 'kind' | 'metadata'>): Promise<void>
  /** Waits until it is gone. */
  waitForDeletion(resource: Pick<Resource, 'kind' | 'metadata'>): Promise<void>
}

/** A new namespace. */
export async function createNamespace(kubernetes: Kubernetes, labels: Record<string, string> = {}): Promise<TestNamespace> {
  const namespace = await kubernetes.newNamespace(labels)
  const applied = new Set<string>()
  spaces.set(namespace, applied)
  const pathOf = async ({ kind, metadata, ...one }: Pick<Resource, 'kind' | 'metadata'> & Partial<Resource>) => {
    const { apiVersion = kind === 'Secret' ? 'v1' : 'regent.dev/v1alpha1' } = one
    return `${await kubernetes.pathOf({ apiVersion, kind }, namespace)}/${metadata.name}`
  }
  const get: TestNamespace['get'] = async (resource) => (await kubernetes.request('GET', await pathOf(resource))).body
  return {
    namespace,
    get,
    async apply(resource) {
      const one = resource as Resource
      const { status, body } = await kubernetes.apply({ ...one, metadata: { ...one.metadata, namespace } })
      if (status > 201) throw new Error(body.message)
      applied.add(await kubernetes.pathOf(one, namespace))
    },
    async delete(...resources) {
      for (const one of resources) await kubernetes.request('DELETE', await pathOf(one))
    },
    async waitForReady(resource, status, reason) {
      let last: AnyResource
      const stands = async () => {
        last = await get(resource)
        const ready = findCondition(last, 'Ready')
        const isNow = last.status?.observedGeneration === last.metadata?.generation
        return isNow && ready?.status === status && (reason === undefined || ready.reason === reason)
      }
      await vi.waitUntil(stands, { timeout }).catch(() => {
        throw new Error(`${resource.kind} ${resource.metadata.name}: ${JSON.stringify(last.status ?? last)}`)
      })
      return last
    },
    async removeFinalizers(resource) {
      const merge = { 'content-type': 'application/merge-patch+json' }
      await kubernetes.request('PATCH', await pathOf(resource), { metadata: { finalizers: null } }, merge)
    },
    async waitForDeletion(resource) {
      await vi.waitUntil(async () => (await get(resource)).code === 404, { timeout })
    },
  }
}

/** Deletes what was applied, and waits until it is gone: nothing holds it, as long as the operator runs. */
async function deleteApplied(kubernetes: Kubernetes): Promise<void> {
  const applied = [...spaces.values()]
  const paths = applied.flatMap((own) => [...own])
  // What has stayed once would fail all that follow.
  for (const own of applied) own.clear()
  for (const path of paths) await kubernetes.request('DELETE', path)
  for (const path of paths) {
    let left: readonly AnyResource[]
    const isEmpty = async () => {
      const { status, body } = await kubernetes.request('GET', path)
      // Other tests take the definition of imports away.
      left = status === 404 ? [] : body.items
      return left.length === 0
    }
    await vi.waitUntil(isEmpty, { timeout, interval: 200 }).catch((cause) => {
      throw new Error(`what stays in ${path}: ${JSON.stringify(left, undefined, 1)}`, { cause })
    })
  }
}

/** Ends the operator of a test file, after all that its tests have applied is gone; also where something of it stays. */
export async function stopTestOperator(kubernetes?: Kubernetes, operated?: TestOperator): Promise<void> {
  await kubernetes?.removeNamespaces()
  try {
    if (kubernetes) await deleteApplied(kubernetes)
  } finally {
    await operated?.stop()
  }
}

/** The service of the tests, the API server, and the operator that follows it. */
export async function startTestOperator(): Promise<{ service: Service; kubernetes: Kubernetes; operated: TestOperator }> {
  const { service } = await testService()
  const kubernetes = await openKubernetes()
  return { service, kubernetes, operated: startOperator(service) }
}

/** A condition of a resource, where it has that. */
export const findCondition = ({ status }: AnyResource, type: string): AnyResource =>
  status?.conditions?.find((one: AnyResource) => one.type === type)

/** Waits until it is so. */
export const waitUntil = (what: () => Promise<boolean>): Promise<unknown> => vi.waitUntil(what, { timeout })

/** A resource of Regent. */
export const resource = (kind: string, name: string, spec: object, more: object = {}): Resource => ({
  apiVersion: 'regent.dev/v1alpha1',
  kind,
  metadata: { name, ...more },
  spec,
})

// Runs the operator on a real API server, and helps tests to use its resources.
import { afterAll, beforeAll, inject, vi } from 'vitest'
import { type ClusterClient, connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { createOperator, OPERATOR_LEASE, type OperatorOptions } from '../../src/operator/operator.ts'
import type { Service } from '../../src/service/context/service.ts'
import { startLeaseElection } from '../../src/service/operations/leases.ts'
import { type Kubernetes, openKubernetes, type Resource } from './kubernetes.ts'
import { testService } from './service.ts'

/** Maximum time to wait for a condition, in milliseconds. */
const timeout = 60_000

/** A resource of the API server. */
// biome-ignore lint/suspicious/noExplicitAny: statuses of any kind
export type AnyResource = any

/** The namespaces of the tests, with the paths of applied resources. The operator ignores other namespaces. */
const spaces = new Map<string, Set<string>>()

/** A running operator. */
export interface TestOperator {
  /** Errors that the operator has reported. */
  readonly failures: unknown[]
  stop(): Promise<void>
}

let cluster: ClusterClient | undefined

/** Returns the connection with the permissions of the chart's operator, or those of KUBECONFIG without Helm. It is shared. */
export const getOperatorCluster = (): ClusterClient => {
  cluster ??= connectToCluster(inject('operatorConfig'))
  return cluster
}

/** Starts an operator for a service. `seconds`: the duration of its lease. */
export function startOperator(service: Service, options: Partial<OperatorOptions> = {}, seconds = 15): TestOperator {
  const failures: unknown[] = []
  const operatorOptions: OperatorOptions = {
    cluster: getOperatorCluster(),
    scope: {},
    publicUrl: 'https://id.example.org',
    findSourcePermissions: () => undefined,
    isAdoptable: () => false,
    isWatchedNamespace: (namespace) => spaces.has(namespace),
    gitDefaults: { interval: 1, signersFile: undefined, readsAuthors: false, artifactHosts: [] },
    log: () => {},
    onError: (error) => failures.push(error),
    ...options,
  }
  const seeker = startLeaseElection(service, createOperator(service, operatorOptions), {
    name: OPERATOR_LEASE,
    seconds,
  })
  return { failures, stop: () => seeker.close() }
}

/** A namespace with functions for its resources. */
export interface TestNamespace {
  readonly namespace: string
  /** Applies a resource. Throws if the API server refuses it. */
  apply(createResource: object): Promise<void>
  get(resource: Pick<Resource, 'kind' | 'metadata'>): Promise<AnyResource>
  delete(...resources: Pick<Resource, 'apiVersion' | 'kind' | 'metadata'>[]): Promise<void>
  /** Waits until the condition Ready of the current generation has the status, and returns the resource. */
  waitForReady(
    resource: Pick<Resource, 'kind' | 'metadata'>,
    status: 'True' | 'False',
    reason?: string,
  ): Promise<AnyResource>
  /** Removes all finalizers. */
  removeFinalizers(resource: Pick<Resource, 'kind' | 'metadata'>): Promise<void>
  /** Waits until the resource is deleted. */
  waitForDeletion(resource: Pick<Resource, 'kind' | 'metadata'>): Promise<void>
}

/** Creates a namespace. */
export async function createNamespace(
  kubernetes: Kubernetes,
  labels: Record<string, string> = {},
): Promise<TestNamespace> {
  const namespace = await kubernetes.newNamespace(labels)
  const applied = new Set<string>()
  spaces.set(namespace, applied)
  const pathOf = async ({ kind, metadata, ...rest }: Pick<Resource, 'kind' | 'metadata'> & Partial<Resource>) => {
    const { apiVersion = kind === 'Secret' ? 'v1' : 'regent.dev/v1alpha1' } = rest
    return `${await kubernetes.pathOf({ apiVersion, kind }, namespace)}/${metadata.name}`
  }
  const get: TestNamespace['get'] = async (resource) => (await kubernetes.request('GET', await pathOf(resource))).body
  return {
    namespace,
    get,
    async apply(resource) {
      const complete = resource as Resource
      const { status, body } = await kubernetes.apply({ ...complete, metadata: { ...complete.metadata, namespace } })
      if (status > 201) throw new Error(body.message)
      applied.add(await kubernetes.pathOf(complete, namespace))
    },
    async delete(...resources) {
      for (const resource of resources) await kubernetes.request('DELETE', await pathOf(resource))
    },
    async waitForReady(resource, status, reason) {
      let last: AnyResource
      const isReady = async () => {
        last = await get(resource)
        const ready = findCondition(last, 'Ready')
        const isNow = last.status?.observedGeneration === last.metadata?.generation
        return isNow && ready?.status === status && (reason === undefined || ready.reason === reason)
      }
      await vi.waitUntil(isReady, { timeout }).catch(() => {
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

/** Deletes all applied resources, and waits until they are deleted: the operator must run, to remove its finalizers. */
async function deleteApplied(kubernetes: Kubernetes): Promise<void> {
  const applied = [...spaces.values()]
  const paths = applied.flatMap((path) => [...path])
  // A resource that remains must not fail later test files.
  for (const paths of applied) paths.clear()
  for (const path of paths) await kubernetes.request('DELETE', path)
  for (const path of paths) {
    let remaining: readonly AnyResource[]
    const isEmpty = async () => {
      const { status, body } = await kubernetes.request('GET', path)
      // Other tests may have removed the definition of imports.
      remaining = status === 404 ? [] : body.items
      return remaining.length === 0
    }
    await vi.waitUntil(isEmpty, { timeout, interval: 200 }).catch((cause) => {
      throw new Error(`Resources remain in ${path}: ${JSON.stringify(remaining, undefined, 1)}`, { cause })
    })
  }
}

/** Deletes the resources of a test file, and stops its operator, even if resources remain. */
export async function stopTestOperator(kubernetes?: Kubernetes, operator?: TestOperator): Promise<void> {
  await kubernetes?.removeNamespaces()
  try {
    if (kubernetes) await deleteApplied(kubernetes)
  } finally {
    await operator?.stop()
  }
}

/** An operator with its service and API server, as the tests of a describe block use them. Set when their hooks and tests run. */
export class OperatorSetup {
  service!: Service
  kubernetes!: Kubernetes
  operator!: TestOperator
}

/** Starts an operator for the service of the tests before the tests of a describe block, and stops it after them. */
export function setUpOperator(getOptions: () => Partial<OperatorOptions> = () => ({})): OperatorSetup {
  const setup = new OperatorSetup()
  beforeAll(async () => {
    setup.service = (await testService()).service
    setup.kubernetes = await openKubernetes()
    setup.operator = startOperator(setup.service, getOptions())
  })
  afterAll(() => stopTestOperator(setup.kubernetes, setup.operator))
  return setup
}

/** Returns a condition of a resource; undefined if there is none. */
export const findCondition = ({ status }: AnyResource, type: string): AnyResource =>
  status?.conditions?.find((condition: AnyResource) => condition.type === type)

/** Waits until the condition is true. */
export const waitUntil = (condition: () => Promise<boolean>): Promise<unknown> => vi.waitUntil(condition, { timeout })

/** Returns a resource of Regent. */
export const resource = (kind: string, name: string, spec: object, more: object = {}): Resource => ({
  apiVersion: 'regent.dev/v1alpha1',
  kind,
  metadata: { name, ...more },
  spec,
})

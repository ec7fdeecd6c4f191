// A real API server of any Kubernetes cluster, given by KUBECONFIG. Tests leave the custom resource definitions of Regent and Flux there,
// and nothing else.
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { loadAll } from 'js-yaml'

/** Whether Kubernetes is available. */
export const hasKubernetes = Boolean(process.env.KUBECONFIG)

/** Part of the titles of tests on Kubernetes. It gives the reason if they are skipped. */
export const onKubernetes = hasKubernetes ? 'on Kubernetes' : 'skipped: no Kubernetes'

/** A resource, with the fields that tests use. */
export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [field: string]: unknown
}

/** A response of the API server. */
export interface KubernetesResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any kind
  readonly body: any
  /** Texts of warning headers. */
  readonly warnings: readonly string[]
}

/** A connection to an API server. */
export interface Connection {
  readonly config: KubeConfig
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<KubernetesResponse>
  /** `kubectl apply --server-side`. `options`: further parameters, such as `dryRun=All`. */
  apply(resource: Resource, options?: string): Promise<KubernetesResponse>
  /** Returns the path of the resources of a version and kind. */
  pathOf(resource: Pick<Resource, 'apiVersion' | 'kind'>, namespace?: string): Promise<string>
}

/** An API server with Regent's custom resource definitions. */
export interface Kubernetes extends Connection {
  /** Creates a namespace. */
  newNamespace(labels?: Record<string, string>): Promise<string>
  /** Deletes the created namespaces with their content. */
  removeNamespaces(): Promise<void>
}

/** Connects to the API server of a kubeconfig file, or of KUBECONFIG. */
export function connect(file?: string): Connection {
  const config = new KubeConfig()
  if (file === undefined) config.loadFromDefault()
  else config.loadFromFile(file)
  const { server } = config.getCurrentCluster()!

  async function sendRequest(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const options: RequestOptions = { method, headers: { 'content-type': 'application/json', ...headers } }
    await config.applyToHTTPSOptions(options)
    const { resolve, promise, reject } = Promise.withResolvers<IncomingMessage>()
    const sent = request(new URL(path, server), options, resolve).on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const response = await promise
    const text = Buffer.concat(await response.toArray()).toString()
    // For an unknown API group the server returns plain text.
    const isJson = response.headers['content-type']?.startsWith('application/json')
    const warnings = (response.headersDistinct.warning ?? []).map((header) =>
      JSON.parse(header.slice(header.indexOf('"'))),
    )
    return { status: response.statusCode!, body: isJson ? JSON.parse(text) : text, warnings }
  }

  async function pathOf({ apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>, namespace?: string) {
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { resources } = (await sendRequest('GET', base)).body as { resources: { kind: string; name: string }[] }
    const { name } = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'))!
    return namespace === undefined ? `${base}/${name}` : `${base}/namespaces/${namespace}/${name}`
  }

  async function apply(resource: Resource, options = '') {
    const { name, namespace } = resource.metadata
    const query = `fieldManager=tests&force=true&fieldValidation=Strict&${options}`
    const path = `${await pathOf(resource, namespace)}/${name}?${query}`
    return sendRequest('PATCH', path, resource, { 'content-type': 'application/apply-patch+yaml' })
  }

  return { config, request: sendRequest, apply, pathOf }
}

/** Connects to the API server, and installs the definitions of `crds/`. */
export async function openKubernetes(file?: string): Promise<Kubernetes> {
  const connection = connect(file)
  const { request: ask, apply } = connection
  const namespaces: string[] = []
  await installDefinitions(ask, apply)
  return {
    ...connection,
    async newNamespace(labels = {}) {
      const name = `regent-test-${randomBytes(6).toString('hex')}`
      namespaces.push(name)
      await ask('POST', '/api/v1/namespaces', { metadata: { name, labels } })
      return name
    },
    async removeNamespaces() {
      for (const name of namespaces) await ask('DELETE', `/api/v1/namespaces/${name}`)
    },
  }
}

/** Installs the definitions, and waits until they are served. */
async function installDefinitions(request: Kubernetes['request'], apply: Kubernetes['apply']): Promise<void> {
  const definitions = globSync('crds/*.yaml').flatMap(readResources)
  for (const definition of definitions) {
    const { status, body } = await apply(definition)
    if (status > 201) throw new Error(`${definition.metadata.name}: ${body.message}`)
  }
  for (const { metadata, spec } of definitions) {
    const { group, names } = spec as { group: string; names: { plural: string } }
    const described = async () => {
      const { body } = await request('GET', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`)
      const served = await request('GET', `/apis/${group}/v1alpha1/${names.plural}?limit=1`)
      const conditions = (body.status?.conditions ?? []) as { type: string; status: string }[]
      return served.status === 200 && conditions.some(({ type, status }) => type === 'Established' && status === 'True')
    }
    while (!(await described())) await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Returns the resources of a file. */
export function readResources(file: string): Resource[] {
  return loadAll(readFileSync(file, 'utf8')) as Resource[]
}

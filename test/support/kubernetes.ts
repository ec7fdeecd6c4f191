// A real API server of Kubernetes, where KUBECONFIG names one: any cluster will do. Tests leave the definitions of Regent's
// resources there, and nothing else.
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { loadAll } from 'js-yaml'

/** Whether there is one. */
export const hasKubernetes = Boolean(process.env.KUBECONFIG)

/** What tests on it are called, which says so where they are left out. */
export const onKubernetes = hasKubernetes ? 'on Kubernetes' : 'skipped: no Kubernetes'

/** A resource, as far as tests look at it. */
export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [field: string]: unknown
}

/** What the server answered. */
export interface KubernetesResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any kind
  readonly body: any
  /** What it warned of. */
  readonly warnings: readonly string[]
}

/** What the API server is asked. */
export interface Connection {
  /** The configuration by which it is asked. */
  readonly config: KubeConfig
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<KubernetesResponse>
  /** `kubectl apply --server-side`. `options`: further parameters, such as `dryRun=All`. */
  apply(resource: Resource, options?: string): Promise<KubernetesResponse>
  /** Where resources of that version and kind are. */
  pathOf(resource: Pick<Resource, 'apiVersion' | 'kind'>, namespace?: string): Promise<string>
}

/** The API server with the definitions of Regent's resources. */
export interface Kubernetes extends Connection {
  /** A namespace of the tests' own. */
  newNamespace(labels?: Record<string, string>): Promise<string>
  /** Removes these namespaces, with all that is in them. */
  removeNamespaces(): Promise<void>
}

/** The API server, asked as whoever the file names; without one, as whoever KUBECONFIG names. */
export function connect(file?: string): Connection {
  const config = new KubeConfig()
  if (file === undefined) config.loadFromDefault()
  else config.loadFromFile(file)
  const { server } = config.getCurrentCluster()!

  async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const options: RequestOptions = { method, headers: { 'content-type': 'application/json', ...headers } }
    await config.applyToHTTPSOptions(options)
    const { resolve, promise, reject } = Promise.withResolvers<IncomingMessage>()
    const sent = request(new URL(path, server), options, resolve).on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const answer = await promise
    const text = Buffer.concat(await answer.toArray()).toString()
    // Of a group that it does not know the server speaks in plain words.
    const isJson = answer.headers['content-type']?.startsWith('application/json')
    const warnings = (answer.headersDistinct.warning ?? []).map((one) => JSON.parse(one.slice(one.indexOf('"'))))
    return { status: answer.statusCode!, body: isJson ? JSON.parse(text) : text, warnings }
  }

  async function pathOf({ apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>, namespace?: string) {
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { resources } = (await ask('GET', base)).body as { resources: { kind: string; name: string }[] }
    const { name } = resources.find((one) => one.kind === kind && !one.name.includes('/'))!
    return namespace === undefined ? `${base}/${name}` : `${base}/namespaces/${namespace}/${name}`
  }

  async function apply(resource: Resource, options = '') {
    const { name, namespace } = resource.metadata
    const query = `fieldManager=tests&force=true&fieldValidation=Strict&${options}`
    const path = `${await pathOf(resource, namespace)}/${name}?${query}`
    return ask('PATCH', path, resource, { 'content-type': 'application/apply-patch+yaml' })
  }

  return { config, request: ask, apply, pathOf }
}

/** Opens it, with the definitions of `crds/` as they are now. */
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

/** Brings the definitions there, and waits until each is served as it is now. */
async function installDefinitions(ask: Kubernetes['request'], apply: Kubernetes['apply']): Promise<void> {
  const definitions = globSync('crds/*.yaml').flatMap(readResources)
  for (const definition of definitions) {
    const { status, body } = await apply(definition)
    if (status > 201) throw new Error(`${definition.metadata.name}: ${body.message}`)
  }
  for (const { metadata, spec } of definitions) {
    const { group, names } = spec as { group: string; names: { plural: string } }
    const described = async () => {
      const { body } = await ask('GET', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`)
      const served = await ask('GET', `/apis/${group}/v1alpha1/${names.plural}?limit=1`)
      const conditions = (body.status?.conditions ?? []) as { type: string; status: string }[]
      return served.status === 200 && conditions.some(({ type, status }) => type === 'Established' && status === 'True')
    }
    while (!(await described())) await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The resources of a file. */
export function readResources(file: string): Resource[] {
  return loadAll(readFileSync(file, 'utf8')) as Resource[]
}

// Keycloak's custom resource definitions of realm imports and clients, reduced for tests: any spec, and Keycloak's status of imports.
import { vi } from 'vitest'
import type { Kubernetes, Resource } from './kubernetes.ts'

const NAME = 'keycloakrealmimports.k8s.keycloak.org'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const PATH = `${DEFINITIONS}/${NAME}`
/** The label of a definition that tests have installed. Other definitions are not touched. */
const OWN = 'regent.dev/tests'
const VERSIONS = ['v2beta1', 'v2alpha1']
const timeout = 30_000

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
/** The status in Keycloak's definition. */
const status = {
  type: 'object',
  properties: {
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          lastTransitionTime: { type: 'string' },
          message: { type: 'string' },
          observedGeneration: { type: 'integer' },
          status: { enum: ['False', 'True', 'Unknown'], type: 'string' },
          type: { type: 'string' },
        },
      },
    },
  },
}
const version = (name: string, storage: boolean) => ({
  ...{ name, storage, served: true, subresources: { status: {} } },
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status } } },
})
const definition: Resource = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: Object.assign({ name: NAME }, { labels: { [OWN]: 'true' } }),
  spec: {
    group: 'k8s.keycloak.org',
    scope: 'Namespaced',
    names: {
      kind: 'KeycloakRealmImport',
      listKind: 'KeycloakRealmImportList',
      plural: 'keycloakrealmimports',
      singular: 'keycloakrealmimport',
    },
    versions: VERSIONS.map((name) => version(name, name === 'v2beta1')),
  },
}

/** Installs the definition, unless the cluster has it, and waits until both versions are served. */
export async function installKeycloakImports({ request, apply }: Kubernetes): Promise<void> {
  const isThere = async () => {
    // Other tests may have removed it.
    if ((await request('GET', PATH)).status === 404) await apply(definition)
    return (await served(request)).every((isServed) => isServed)
  }
  await vi.waitUntil(isThere, { timeout })
}

/** Removes the definition if tests have installed it, and waits until it is not served. Returns whether the cluster has none. */
export async function removeKeycloakImports({ request }: Kubernetes): Promise<boolean> {
  const { status, body } = await request('GET', PATH)
  if (status === 404) return true
  if (body.metadata.labels?.[OWN] === undefined) return false
  await request('DELETE', PATH)
  const isDeleted = async () => {
    const now = await request('GET', PATH)
    // Other tests may install it again, with another uid.
    return now.status === 404
      ? !(await served(request)).some((isServed) => isServed)
      : now.body.metadata.uid !== body.metadata.uid
  }
  await vi.waitUntil(isDeleted, { timeout })
  return true
}

/** Returns for each version whether the API server lists it, and serves it. */
async function served(ask: Kubernetes['request']): Promise<boolean[]> {
  const all: boolean[] = []
  for (const name of VERSIONS) {
    const base = `/apis/k8s.keycloak.org/${name}`
    const { status, body } = await ask('GET', base)
    all.push(
      status === 200 && body.resources.some((resource: { name: string }) => resource.name === 'keycloakrealmimports'),
    )
    all.push((await ask('GET', `${base}/keycloakrealmimports?limit=1`)).status === 200)
  }
  return all
}

/** Installs the definition of a client resource of Keycloak's operator, and waits until it is served. */
export async function installKeycloakClients({ request, apply }: Kubernetes, kind: string): Promise<void> {
  const plural = `${kind.toLowerCase()}s`
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() }
  const spec = { group: 'k8s.keycloak.org', scope: 'Namespaced', names, versions: [version('v2alpha1', true)] }
  const metadata = Object.assign({ name: `${plural}.k8s.keycloak.org` }, { labels: { [OWN]: 'true' } })
  await apply({ apiVersion: definition.apiVersion, kind: definition.kind, metadata, spec })
  const isServed = async () =>
    (await request('GET', `/apis/k8s.keycloak.org/v2alpha1/${plural}?limit=1`)).status === 200
  await vi.waitUntil(isServed, { timeout })
}

/** Removes the definition of a client resource. */
export async function removeKeycloakClients({ request }: Kubernetes, kind: string): Promise<void> {
  await request('DELETE', `${DEFINITIONS}/${kind.toLowerCase()}s.k8s.keycloak.org`)
}

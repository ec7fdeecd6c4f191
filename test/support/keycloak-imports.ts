// The definition of Keycloak's realm imports, as far as tests need it: any spec, in both versions.
import { vi } from 'vitest'
import type { Kubernetes, Resource } from './kubernetes.ts'

const NAME = 'keycloakrealmimports.k8s.keycloak.org'
const PATH = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${NAME}`
/** Whose definition is the tests' own: another one is left alone. */
const OWN = 'regent.dev/tests'
const VERSIONS = ['v2beta1', 'v2alpha1']
const timeout = 30_000

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const version = (name: string, storage: boolean) => ({
  ...{ name, storage, listServed: true, subresources: { status: {} } },
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
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

/** Brings the definition there, unless the cluster has it, and waits until both versions are served. */
export async function installKeycloakImports({ request, apply }: Kubernetes): Promise<void> {
  const isThere = async () => {
    // Other tests may just have taken it away.
    if ((await request('GET', PATH)).status === 404) await apply(definition)
    return (await served(request)).every((one) => one)
  }
  await vi.waitUntil(isThere, { timeout })
}

/** Takes the definition away where it is the tests' own, and waits until nothing is served. Whether the cluster has none. */
export async function removeKeycloakImports({ request }: Kubernetes): Promise<boolean> {
  const { status, body } = await request('GET', PATH)
  if (status === 404) return true
  if (body.metadata.labels?.[OWN] === undefined) return false
  await request('DELETE', PATH)
  const isGone = async () => {
    const now = await request('GET', PATH)
    // Other tests may bring it again; and who does so at once would else find what is about to end.
    return now.status === 404 ? !(await served(request)).some((one) => one) : now.body.metadata.uid !== body.metadata.uid
  }
  await vi.waitUntil(isGone, { timeout })
  return true
}

/** Of each version, whether the API server lists it, and answers it. */
async function served(ask: Kubernetes['request']): Promise<boolean[]> {
  const all: boolean[] = []
  for (const name of VERSIONS) {
    const base = `/apis/k8s.keycloak.org/${name}`
    const { status, body } = await ask('GET', base)
    all.push(status === 200 && body.resources.some((one: { name: string }) => one.name === 'keycloakrealmimports'))
    all.push((await ask('GET', `${base}/keycloakrealmimports?limit=1`)).status === 200)
  }
  return all
}

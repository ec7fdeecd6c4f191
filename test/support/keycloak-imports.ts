// The definition of Keycloak's realm imports, as far as tests need it: any spec, in both versions.
import { vi } from 'vitest'
import type { Kubernetes, Resource } from './kubernetes.ts'

const NAME = 'keycloakrealmimports.k8s.keycloak.org'
const PATH = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${NAME}`
/** Whose definition is the tests' own: another one is left alone. */
const OWN = 'regent.dev/tests'
const timeout = 30_000

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const version = (name: string, storage: boolean) => ({
  ...{ name, storage, served: true, subresources: { status: {} } },
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
    versions: [version('v2beta1', true), version('v2alpha1', false)],
  },
}

/** Brings the definition there, unless the cluster has it, and waits until both versions are served. */
export async function installImports({ ask, apply }: Kubernetes): Promise<void> {
  if ((await ask('GET', PATH)).status === 404) await apply(definition)
  for (const one of ['v2alpha1', 'v2beta1']) {
    const path = `/apis/k8s.keycloak.org/${one}/keycloakrealmimports?limit=1`
    await vi.waitUntil(async () => (await ask('GET', path)).status === 200, { timeout })
  }
}

/** Takes the definition away where it is the tests' own. Whether the cluster has none. */
export async function removeImports({ ask }: Kubernetes): Promise<boolean> {
  const { status, body } = await ask('GET', PATH)
  if (status === 404) return true
  if (body.metadata.labels?.[OWN] === undefined) return false
  await ask('DELETE', PATH)
  await vi.waitUntil(async () => (await ask('GET', PATH)).status === 404, { timeout })
  return true
}

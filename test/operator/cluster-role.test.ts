// The rights that the chart gives the operator: all that it asks for, and nothing that it does not ask for.
import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../src/operator/cluster.ts'
import { listParentFields, resourceKinds } from '../../src/realm-file/resources/resource-kinds.ts'
import { renderChart } from '../support/chart.ts'
import { hasHelm, withHelm } from '../support/helm.ts'
import { installKeycloakImports } from '../support/keycloak-imports.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes, readResources } from '../support/kubernetes.ts'
import { newName, testService } from '../support/service.ts'
import {
  createNamespace,
  getOperatorCluster,
  resource,
  startOperator,
  stopTestOperator,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

/** A rule of a ClusterRole. */
interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

describe.skipIf(!hasKubernetes || !hasHelm)(hasHelm ? onKubernetes : withHelm, () => {
  let kubernetes: Kubernetes
  let operated: TestOperator
  const used = new Set<string>()
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    await installKeycloakImports(kubernetes)
    const { service } = await testService()
    operated = startOperator(service, { cluster: recording(getOperatorCluster(), used) })
  })
  afterAll(() => stopTestOperator(kubernetes, operated))

  test('each right is used, and none is missing', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const kinds = globSync('crds/*.yaml')
      .flatMap(readResources)
      .map(({ spec }) => (spec as { names: { kind: string } }).names.kind)
    for (const kind of kinds) await space.apply(resource(kind, 'x', specOf(kind, realm)))
    const shop = (secret: string) => resource('RealmClient', 'shop', { realm, secret, writeSecretTo: { name: 'shop' } })
    const written = async (secret: string) => {
      await space.apply(shop(secret))
      const kept = { kind: 'Secret', metadata: { name: 'shop' } }
      await waitUntil(async () => (await space.get(kept)).data?.['client-secret'] === btoa(secret))
    }
    await written('first-secret')
    await written('second-secret')
    for (const kind of kinds)
      await waitUntil(async () => (await space.get(resource(kind, 'x', {}))).status !== undefined)

    const { rules } = renderChart().find(({ kind }) => kind === 'ClusterRole') as unknown as { rules: Rule[] }
    const granted = rules.flatMap(({ apiGroups, resources, verbs }) =>
      resources.flatMap((name) => verbs.map((verb) => `${verb} ${apiGroups[0]}/${name}`)),
    )
    const areUsed = async () => {
      // Other tests take it away, and bring it.
      await installKeycloakImports(kubernetes)
      return granted.every((one) => used.has(one))
    }
    await waitUntil(areUsed).catch(() => {})
    expect([...used].sort()).toEqual(granted.sort())
    expect(operated.failures).toEqual([])
  })
})

/** As little as a resource of the kind has to say. */
function specOf(kind: string, realm: string): object {
  // Nobody answers there.
  if (kind === 'RealmSource') return { url: 'https://127.0.0.1:1/realms.git' }
  const [parent] = listParentFields(resourceKinds.get(kind)!)
  return { realm, ...(parent && { [parent[0]]: 'a' }) }
}

/** Keeps the right that each request needs. */
function recording(cluster: Cluster, used: Set<string>): Cluster {
  const note = (verb: string, path: string) => {
    const steps = path.split('?')[0]!.split('/').slice(1)
    const [group, rest] = steps[0] === 'apis' ? [steps[1], steps.slice(3)] : ['', steps.slice(2)]
    const [name, , part] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest
    used.add(`${verb} ${group}/${part ? `${name}/${part}` : name}`)
  }
  return {
    ...cluster,
    ask: (method, path, body, type) => {
      note({ GET: 'list', POST: 'create', PATCH: 'patch', PUT: 'update', DELETE: 'delete' }[method], path)
      return cluster.ask(method, path, body, type)
    },
    lines: (path, line, signal) => {
      note('watch', path)
      return cluster.lines(path, line, signal)
    },
  }
}

// The permissions of the operator in the roles of the chart.
import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listParentFields, resourceKinds } from '../../src/kinds/resource-kinds.ts'
import type { ClusterClient } from '../../src/operator/cluster/cluster-client.ts'
import { renderChart, requiredValues } from '../support/chart.ts'
import { installFluxKind } from '../support/flux.ts'
import { hasHelm, withHelm } from '../support/helm.ts'
import { installKeycloakClients, installKeycloakImports, removeKeycloakClients } from '../support/keycloak-imports.ts'
import { hasKubernetes, onKubernetes, readResources } from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'
import { createNamespace, getOperatorCluster, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

/** A rule of a role. */
interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

describe.skipIf(!hasKubernetes || !hasHelm)(hasHelm ? onKubernetes : withHelm, () => {
  const usedPermissions = new Set<string>()
  const setup = setUpOperator(() => {
    const cluster = recordPermissions(getOperatorCluster(), usedPermissions)
    return { cluster, clusterLease: { namespace: cluster.namespace, name: newName('lease') } }
  })
  const clients = ['KeycloakOIDCClient', 'KeycloakSAMLClient']
  const fluxKinds = ['GitRepository', 'OCIRepository'] as const
  const installAll = async () => {
    await installKeycloakImports(setup.kubernetes)
    for (const kind of clients) await installKeycloakClients(setup.kubernetes, kind)
    for (const kind of fluxKinds) await installFluxKind(setup.kubernetes, kind)
  }
  beforeAll(installAll)
  afterAll(async () => {
    for (const kind of clients) await removeKeycloakClients(setup.kubernetes, kind)
  })

  test('the operator uses exactly the permissions of its roles', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const kinds = globSync('crds/*.yaml')
      .flatMap(readResources)
      .map(({ spec }) => (spec as { names: { kind: string } }).names.kind)
    for (const kind of kinds) await space.apply(resource(kind, 'x', createMinimalSpec(kind, realm)))
    for (const kind of fluxKinds)
      await space.apply(resource('RealmSource', kind.toLowerCase(), { sourceRef: { kind, name: 'x' } }))
    const shop = (secret: string, name = 'shop') =>
      resource('RealmClient', 'shop', { realm, secret, writeSecretTo: { name } })
    const waitForSecret = async (secret: string) => {
      await space.apply(shop(secret))
      const secretReference = { kind: 'Secret', metadata: { name: 'shop' } }
      await waitUntil(async () => (await space.get(secretReference)).data?.['client-secret'] === btoa(secret))
    }
    await waitForSecret('first-secret')
    await waitForSecret('second-secret')
    await space.apply(shop('second-secret', 'renamed'))
    await space.waitForDeletion({ kind: 'Secret', metadata: { name: 'shop' } })
    for (const kind of kinds)
      await waitUntil(async () => (await space.get(resource(kind, 'x', {}))).status !== undefined)

    const roles = renderChart([...requiredValues, 'operator.secrets.writtenIn={*}'], { templates: ['roles'] })
    const rules = (roles as unknown as { rules?: Rule[] }[]).flatMap((role) => role.rules ?? [])
    const granted = rules.flatMap(({ apiGroups, resources, verbs }) =>
      resources.flatMap((name) => verbs.map((verb) => `${verb} ${apiGroups[0]}/${name}`)),
    )
    const realmImport = {
      apiVersion: 'k8s.keycloak.org/v2beta1',
      kind: 'KeycloakRealmImport',
      metadata: { name: 'x' },
      spec: { keycloakCRName: 'keycloak', realm: { realm: newName() } },
    }
    const areAllUsed = async () => {
      // Other tests remove these definitions, and install them.
      await installAll()
      await space.apply(realmImport)
      return granted.every((permission) => usedPermissions.has(permission))
    }
    await waitUntil(areAllUsed).catch(() => {})
    expect([...usedPermissions].sort()).toEqual(granted.sort())
    expect(setup.operator.failures).toEqual([])
  })
})

/** Returns the smallest valid spec of the kind. */
function createMinimalSpec(kind: string, realm: string): object {
  // No server listens on this port.
  if (kind === 'RealmSource') return { url: 'https://127.0.0.1:1/realms.git' }
  const [parent] = listParentFields(resourceKinds.get(kind)!)
  return { realm, ...(parent && { [parent[0]]: 'a' }) }
}

/** Returns a connection that records the permission of each request. */
function recordPermissions(cluster: ClusterClient, permissions: Set<string>): ClusterClient {
  const record = (verb: string, path: string) => {
    const steps = path.split('?')[0]!.split('/').slice(1)
    // Every client may look for served versions.
    if (steps[0] === 'apis' && steps.length <= 3) return
    const [group, rest] = steps[0] === 'apis' ? [steps[1], steps.slice(3)] : ['', steps.slice(2)]
    const [name, , part] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest
    permissions.add(`${verb} ${group}/${part ? `${name}/${part}` : name}`)
  }
  return {
    ...cluster,
    request: (method, path, content) => {
      const read = /\/leases\/\w/.test(path) ? 'get' : 'list'
      record({ GET: read, POST: 'create', PATCH: 'patch', PUT: 'update', DELETE: 'delete' }[method], path)
      return cluster.request(method, path, content)
    },
    streamLines: (path, line, signal) => {
      record('watch', path)
      return cluster.streamLines(path, line, signal)
    },
  }
}

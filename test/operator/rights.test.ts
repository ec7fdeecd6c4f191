// The rights that the chart gives the operator: all that it asks for, and nothing that it does not ask for.
import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../src/operator/cluster.ts'
import { parentFields, resourceKinds } from '../../src/realm-file/resources/resource-kinds.ts'
import { rendered } from '../support/chart.ts'
import { hasHelm, withHelm } from '../support/helm.ts'
import { installImports } from '../support/keycloak-imports.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes, resourcesIn } from '../support/kubernetes.ts'
import {
  endOperated,
  newSpace,
  type Operated,
  operate,
  operatorsCluster,
  resource,
  until,
} from '../support/operated.ts'
import { newName, testService } from '../support/service.ts'

/** A rule of a ClusterRole. */
interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

describe.skipIf(!hasKubernetes || !hasHelm)(hasHelm ? onKubernetes : withHelm, () => {
  let kubernetes: Kubernetes
  let operated: Operated
  const used = new Set<string>()
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    await installImports(kubernetes)
    const { service } = await testService()
    operated = operate(service, { cluster: recording(operatorsCluster(), used) })
  })
  afterAll(() => endOperated(kubernetes, operated))

  test('each right is used, and none is missing', async () => {
    const space = await newSpace(kubernetes)
    const realm = newName()
    const kinds = globSync('crds/*.yaml')
      .flatMap(resourcesIn)
      .map(({ spec }) => (spec as { names: { kind: string } }).names.kind)
    for (const kind of kinds) await space.apply(resource(kind, 'x', specOf(kind, realm)))
    const shop = (secret: string) => resource('RealmClient', 'shop', { realm, secret, writeSecretTo: { name: 'shop' } })
    const written = async (secret: string) => {
      await space.apply(shop(secret))
      const kept = { kind: 'Secret', metadata: { name: 'shop' } }
      await until(async () => (await space.get(kept)).data?.['client-secret'] === btoa(secret))
    }
    await written('first-secret')
    await written('second-secret')
    for (const kind of kinds) await until(async () => (await space.get(resource(kind, 'x', {}))).status !== undefined)

    const { rules } = rendered().find(({ kind }) => kind === 'ClusterRole') as unknown as { rules: Rule[] }
    const granted = rules.flatMap(({ apiGroups, resources, verbs }) =>
      resources.flatMap((name) => verbs.map((verb) => `${verb} ${apiGroups[0]}/${name}`)),
    )
    const areUsed = async () => {
      // Other tests take it away, and bring it.
      await installImports(kubernetes)
      return granted.every((one) => used.has(one))
    }
    await until(areUsed).catch(() => {})
    expect([...used].sort()).toEqual(granted.sort())
    expect(operated.failures).toEqual([])
  })
})

/** As little as a resource of the kind has to say. */
function specOf(kind: string, realm: string): object {
  // Nobody answers there.
  if (kind === 'RealmSource') return { url: 'https://127.0.0.1:1/realms.git' }
  const [parent] = parentFields(resourceKinds.get(kind)!)
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

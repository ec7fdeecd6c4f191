// What docs/kubernetes.md tells Flux and Argo CD to look at: in their own languages it says what a resource says of itself.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  hasKubernetes,
  type Kubernetes,
  type KubernetesResponse,
  onKubernetes,
  openKubernetes,
} from '../support/kubernetes.ts'
import { resource } from '../support/test-operator.ts'

const documented = readFileSync('docs/kubernetes.md', 'utf8')
const blockWith = (key: string) => {
  const blocks = [...documented.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => load(text!))
  return (blocks as Record<string, unknown>[]).find((one) => key in one)![key]
}

const condition = (type: string, status = 'True', reason = 'Why') => ({
  ...{ type, status, reason, message: 'why' },
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const said = (...conditions: object[]) => ({ observedGeneration: 1, conditions })
const notReady = condition('Ready', 'False')
/** What is said of a resource of generation 1, and how it does by that. */
const cases = [
  { name: 'it is live', health: 'Healthy', status: said(condition('Ready')) },
  { name: 'it is live and has drifted', health: 'Healthy', status: said(condition('Ready'), condition('Drifted')) },
  { name: 'it is tried again', health: 'Progressing', status: said(notReady, condition('Reconciling')) },
  { name: 'somebody has to do something', health: 'Degraded', status: said(notReady, condition('Stalled')) },
  { name: 'it is suspended', health: 'Suspended', status: said(condition('Ready', 'False', 'Suspended')) },
]

const hasLua = spawnSync('lua', ['-v']).status === 0

describe.skipIf(!hasLua)(hasLua ? 'with Lua' : 'skipped: no Lua', () => {
  const customizations = load(blockWith('resource.customizations') as string) as Record<string, Record<string, string>>
  const script = customizations['regent.dev/*']!['health.lua']
  const healthOf = (generation: number, status: object) => {
    const obj = luaOf({ metadata: { generation }, status })
    const input = `obj = ${obj}\nprint((function() ${script} end)().status)`
    return spawnSync('lua', ['-'], { input, encoding: 'utf8' }).stdout.trim()
  }

  test.each(cases)('Argo CD: $name', ({ health, status }) => {
    expect(healthOf(1, status)).toBe(health)
    expect(healthOf(2, status)).toBe('Progressing')
  })

  test('Argo CD: nothing is said yet', () => expect(healthOf(1, { observedGeneration: -1 })).toBe('Progressing'))
})

/** A value as Lua writes it. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value).map(([key, one]) => `${key} = ${luaOf(one)}`)}}`
}

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const [flux] = blockWith('healthCheckExprs') as [Record<'current' | 'failed', string>]
  let kubernetes: Kubernetes
  let namespace: string
  const policies: string[] = []
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    namespace = await kubernetes.newNamespace()
    for (const name of ['current', 'failed'] as const) {
      await kubernetes.apply(resource('RealmRole', name, { realm: 'acme' }, { namespace }))
      await demand(name, flux[name])
    }
    for (const name of ['current', 'failed'] as const)
      await vi.waitUntil(async () => (await tried(name, said())).status === 422, { timeout: 30_000 })
  })
  afterAll(async () => {
    for (const path of policies) await kubernetes.request('DELETE', path)
    await kubernetes?.removeNamespaces()
  })

  /** The API server speaks the same language: it takes a status only where the expression holds. */
  const demand = async (name: string, expression: string) => {
    const called = { name: `${namespace}-${name}` }
    const base = '/apis/admissionregistration.k8s.io/v1'
    const resources = ['realmroles/status']
    const rule = { apiGroups: ['regent.dev'], apiVersions: ['*'], operations: ['UPDATE'], resources }
    const matchConditions = [{ name: 'own', expression: `object.metadata.name == '${name}'` }]
    const validations = [{ expression: expression.replaceAll('status.conditions', 'object.status.conditions') }]
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
    const made = [
      ['validatingadmissionpolicies', { matchConstraints: { resourceRules: [rule] }, matchConditions, validations }],
      [
        'validatingadmissionpolicybindings',
        { policyName: called.name, validationActions: ['Deny'], matchResources: { namespaceSelector } },
      ],
    ] as const
    for (const [plural, spec] of made) {
      expect(await kubernetes.request('POST', `${base}/${plural}`, { metadata: called, spec })).toMatchObject({
        status: 201,
      })
      policies.push(`${base}/${plural}/${called.name}`)
    }
  }
  const tried = async (name: string, status: object): Promise<KubernetesResponse> => {
    const path = `${await kubernetes.pathOf(resource('RealmRole', name, {}), namespace)}/${name}/status?dryRun=All`
    return kubernetes.request('PATCH', path, { status }, { 'content-type': 'application/merge-patch+json' })
  }

  test.each(cases)('Flux: $name', async ({ health, status }) => {
    expect((await tried('current', status)).status).toBe(health === 'Healthy' ? 200 : 422)
    expect((await tried('failed', status)).status).toBe(health === 'Degraded' ? 200 : 422)
  })

  test('a resource of which nothing is said yet is not taken for one that is live', async () => {
    const { body } = await kubernetes.apply(
      resource('RealmRole', 'new', { realm: 'acme' }, { namespace }),
      'dryRun=All',
    )
    expect(body).toMatchObject({ metadata: { generation: 1 }, status: { observedGeneration: -1 } })
  })
})

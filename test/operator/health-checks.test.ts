// The health checks for Flux and Argo CD in docs/kubernetes/flux-and-argo-cd.md, evaluated in their languages.
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

const page = readFileSync('docs/kubernetes/flux-and-argo-cd.md', 'utf8')
const getBlock = (key: string) => {
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => load(text!))
  return (blocks as Record<string, unknown>[]).find((block) => key in block)![key]
}

const condition = (type: string, status = 'True', reason = 'Why') => ({
  ...{ type, status, reason, message: 'why' },
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const createStatus = (...conditions: object[]) => ({ observedGeneration: 1, conditions })
const notReady = condition('Ready', 'False')
/** Statuses of a resource of generation 1, with the expected health. */
const cases = [
  { name: 'ready', health: 'Healthy', status: createStatus(condition('Ready')) },
  { name: 'ready and drifted', health: 'Healthy', status: createStatus(condition('Ready'), condition('Drifted')) },
  { name: 'reconciling', health: 'Progressing', status: createStatus(notReady, condition('Reconciling')) },
  { name: 'stalled', health: 'Degraded', status: createStatus(notReady, condition('Stalled')) },
  { name: 'suspended', health: 'Suspended', status: createStatus(condition('Ready'), condition('Suspended')) },
]

const hasLua = spawnSync('lua', ['-v']).status === 0

describe.skipIf(!hasLua)(hasLua ? 'with Lua' : 'skipped: no Lua', () => {
  const customizations = load(getBlock('resource.customizations') as string) as Record<string, Record<string, string>>
  const script = customizations['regent.dev/*']!['health.lua']
  const healthOf = (generation: number, status: object) => {
    const obj = toLua({ metadata: { generation }, status })
    const input = `obj = ${obj}\nprint((function() ${script} end)().status)`
    return spawnSync('lua', ['-'], { input, encoding: 'utf8' }).stdout.trim()
  }

  test.each(cases)('Argo CD: a resource that is $name has the health $health', ({ health, status }) => {
    expect(healthOf(1, status)).toBe(health)
    expect(healthOf(2, status)).toBe('Progressing')
  })

  test('Argo CD: a resource that was not observed yet is Progressing', () =>
    expect(healthOf(1, { observedGeneration: -1 })).toBe('Progressing'))
})

/** Returns a value as a Lua expression. */
function toLua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toLua).join(', ')}}`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value).map(([key, member]) => `${key} = ${toLua(member)}`)}}`
}

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const [flux] = getBlock('healthCheckExprs') as [Record<'current' | 'failed', string>]
  let kubernetes: Kubernetes
  let namespace: string
  const policies: string[] = []
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    namespace = await kubernetes.newNamespace()
    for (const name of ['current', 'failed'] as const) {
      await kubernetes.apply(resource('RealmRole', name, { realm: 'acme' }, { namespace }))
      await createPolicy(name, flux[name])
    }
    for (const name of ['current', 'failed'] as const)
      await vi.waitUntil(async () => (await tryStatus(name, createStatus())).status === 422, { timeout: 30_000 })
  })
  afterAll(async () => {
    for (const path of policies) await kubernetes.request('DELETE', path)
    await kubernetes?.removeNamespaces()
  })

  /** Creates an admission policy by which the API server, which uses CEL as Flux does, accepts a status only if the expression is true. */
  const createPolicy = async (name: string, expression: string) => {
    const metadata = { name: `${namespace}-${name}` }
    const base = '/apis/admissionregistration.k8s.io/v1'
    const resources = ['realmroles/status']
    const rule = { apiGroups: ['regent.dev'], apiVersions: ['*'], operations: ['UPDATE'], resources }
    const matchConditions = [{ name: 'own', expression: `object.metadata.name == '${name}'` }]
    const validations = [{ expression: expression.replaceAll('status.conditions', 'object.status.conditions') }]
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
    const policyObjects = [
      ['validatingadmissionpolicies', { matchConstraints: { resourceRules: [rule] }, matchConditions, validations }],
      [
        'validatingadmissionpolicybindings',
        { policyName: metadata.name, validationActions: ['Deny'], matchResources: { namespaceSelector } },
      ],
    ] as const
    for (const [plural, spec] of policyObjects) {
      expect(await kubernetes.request('POST', `${base}/${plural}`, { metadata, spec })).toMatchObject({
        status: 201,
      })
      policies.push(`${base}/${plural}/${metadata.name}`)
    }
  }
  const tryStatus = async (name: string, status: object): Promise<KubernetesResponse> => {
    const path = `${await kubernetes.pathOf(resource('RealmRole', name, {}), namespace)}/${name}/status?dryRun=All`
    return kubernetes.request('PATCH', path, { status }, { 'content-type': 'application/merge-patch+json' })
  }

  test.each(cases)('Flux: a resource that is $name has the health $health', async ({ health, status }) => {
    // Flux leaves the state of a suspended resource as it was.
    const isCurrent = health === 'Healthy' || health === 'Suspended'
    expect((await tryStatus('current', status)).status).toBe(isCurrent ? 200 : 422)
    expect((await tryStatus('failed', status)).status).toBe(health === 'Degraded' ? 200 : 422)
  })

  test('a new resource has the observed generation -1', async () => {
    const { body } = await kubernetes.apply(
      resource('RealmRole', 'new', { realm: 'acme' }, { namespace }),
      'dryRun=All',
    )
    expect(body).toMatchObject({ metadata: { generation: 1 }, status: { observedGeneration: -1 } })
  })
})

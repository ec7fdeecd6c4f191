// The account that the chart gives the operator, with the rights that the chart gives it, at the API server of the tests.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requiredValues, renderChart } from './chart.ts'
import { connect } from './kubernetes.ts'

/** An account of a release of the chart. */
export interface OperatorAccount {
  /** File with the configuration by which it asks. */
  readonly config: string
  /** Leaves nothing of it. */
  remove(): Promise<void>
}

/** Makes it, and waits until it may what it may. */
export async function createOperatorAccount(): Promise<OperatorAccount> {
  const { config, request, apply, pathOf } = connect()
  const name = `regent-test-${randomBytes(6).toString('hex')}`
  const templates = ['service-account', 'cluster-role']
  const resources = renderChart(requiredValues, { release: name, namespace: name, templates })
  await request('POST', '/api/v1/namespaces', { metadata: { name } })
  for (const one of resources) {
    const { status, body } = await apply(one)
    if (status > 201) throw new Error(`${one.kind}: ${body.message}`)
  }
  const account = `/api/v1/namespaces/${name}/serviceaccounts/${name}`
  // As long as the longest campaign.
  const lasting = { expirationSeconds: 12 * 60 * 60 }
  const { token } = (await request('POST', `${account}/token`, { spec: lasting })).body.status
  const may = async () => {
    const resourceAttributes = { verb: 'list', resource: 'secrets' }
    const asked = { spec: { user: `system:serviceaccount:${name}:${name}`, resourceAttributes } }
    return (await request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', asked)).body.status.allowed
  }
  while (!(await may())) await new Promise((resolve) => setTimeout(resolve, 20))

  const folder = await mkdtemp(join(tmpdir(), 'regent-account-'))
  const file = join(folder, 'config.json')
  const { server, caFile, caData } = config.getCurrentCluster()!
  const trust = caData ? { 'certificate-authority-data': caData } : { 'certificate-authority': caFile }
  const text = {
    clusters: [{ name, cluster: { server, ...trust } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  }
  await writeFile(file, JSON.stringify(text), { mode: 0o600 })
  return {
    config: file,
    async remove() {
      for (const one of resources.filter(({ metadata }) => !metadata.namespace))
        await request('DELETE', `${await pathOf(one)}/${one.metadata.name}`)
      await request('DELETE', `/api/v1/namespaces/${name}`)
      await rm(folder, { recursive: true })
    },
  }
}

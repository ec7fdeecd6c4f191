// Creates the service account and the permissions of the chart's operator at the API server of the tests.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderChart, requiredValues } from './chart.ts'
import { waitForPermissions } from './cluster-permissions.ts'
import { connect, type Resource } from './kubernetes.ts'

/** The service account of a release of the chart. */
export interface OperatorAccount {
  /** Path of a kubeconfig file for the account. */
  readonly config: string
  /** Deletes the account, and everything that was created for it. */
  remove(): Promise<void>
}

/** The name of the role for any Lease in the namespace of the account. */
export const LEASE_ROLE = 'test-leases'

/** Creates the account, and waits until its permissions are effective. */
export async function createOperatorAccount(): Promise<OperatorAccount> {
  const { config, request, apply, pathOf } = connect()
  const name = `regent-test-${randomBytes(6).toString('hex')}`
  const templates = ['service-account', 'roles']
  const values = [...requiredValues, `fullnameOverride=${name}`, 'operator.secrets.writtenIn={*}']
  const resources = renderChart(values, { release: name, namespace: name, templates })
  await request('POST', '/api/v1/namespaces', { metadata: { name } })
  for (const resource of resources) {
    const { status, body } = await apply(resource)
    if (status > 201) throw new Error(`${resource.kind}: ${body.message}`)
  }
  // Tests run at the same time, each with a Lease of its own.
  const leases = createLeaseRole(name)
  for (const resource of leases) await apply(resource)
  const account = `/api/v1/namespaces/${name}/serviceaccounts/${name}`
  // Longer than the longest test run.
  const lasting = { expirationSeconds: 12 * 60 * 60 }
  const { token } = (await request('POST', `${account}/token`, { spec: lasting })).body.status
  await waitForPermissions({ request }, [...resources, ...leases])

  const folder = await mkdtemp(join(tmpdir(), 'regent-account-'))
  const file = join(folder, 'config.json')
  const { server, caFile, caData } = config.getCurrentCluster()!
  const trust = caData ? { 'certificate-authority-data': caData } : { 'certificate-authority': caFile }
  const text = {
    clusters: [{ name, cluster: { server, ...trust } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: name } }],
    'current-context': name,
  }
  await writeFile(file, JSON.stringify(text), { mode: 0o600 })
  return {
    config: file,
    async remove() {
      for (const resource of resources.filter(({ metadata }) => !metadata.namespace))
        await request('DELETE', `${await pathOf(resource)}/${resource.metadata.name}`)
      await request('DELETE', `/api/v1/namespaces/${name}`)
      await rm(folder, { recursive: true })
    },
  }
}

/** Returns a role for any Lease in the namespace, and its binding to the service account with the same name. */
function createLeaseRole(name: string): Resource[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: LEASE_ROLE, namespace: name }
  const verbs = ['get', 'create', 'update']
  return [
    {
      apiVersion,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }],
    },
    {
      ...{ apiVersion, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: LEASE_ROLE },
      subjects: [{ kind: 'ServiceAccount', name, namespace: name }],
    },
  ]
}

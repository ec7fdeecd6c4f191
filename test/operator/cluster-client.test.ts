// Requests of the operator to the API server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { version } from '../../src/lib/version.ts'
import { connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getOperatorCluster } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  test('a request does not wait for 100 open watches', async () => {
    const cluster = getOperatorCluster()
    const ending = new AbortController()
    const path = '/api/v1/namespaces?watch=true&timeoutSeconds=60'
    const watches = Array.from({ length: 100 }, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const watch = cluster.streamLines(path, () => resolve(), ending.signal)
      return { firstEvent: promise, failure: expect(watch).rejects.toThrow() }
    })
    await Promise.all(watches.map(({ firstEvent }) => firstEvent))
    expect(await cluster.request('GET', '/api/v1/namespaces?limit=1')).toMatchObject({ kind: 'NamespaceList' })
    ending.abort()
    await Promise.all(watches.map(({ failure }) => failure))
  })
})

test('requests have a user agent with version and platform, and all writes have the field manager regent', async () => {
  const requests: string[] = []
  const agents = new Set<string | undefined>()
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    agents.add(request.headers['user-agent'])
    response.end('{"items":[],"metadata":{}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
  onTestFinished(async () => {
    server.close()
    await rm(folder, { recursive: true })
  })
  const { port } = server.address() as AddressInfo
  const toEntries = (value: object) => [{ name: 'test', ...value }]
  await writeFile(
    join(folder, 'config'),
    JSON.stringify({
      clusters: toEntries({ cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }),
      contexts: toEntries({ context: { cluster: 'test', user: 'test' } }),
      users: toEntries({ user: {} }),
      'current-context': 'test',
    }),
  )
  const cluster = connectToCluster(join(folder, 'config'))
  await cluster.request('GET', '/api/v1/namespaces')
  await cluster.streamLines('/api/v1/namespaces?watch=true', () => {}, new AbortController().signal)
  for (const path of [
    '/api/v1/namespaces',
    '/api/v1/namespaces?fieldManager=regent&force=true',
    '/api/v1/namespaces?a=b',
  ])
    await cluster.request('PATCH', path, { body: {} })
  expect([...agents]).toEqual([`regent/${version} (${platform()}/${arch()})`])
  expect(requests).toEqual([
    'GET /api/v1/namespaces',
    'GET /api/v1/namespaces?watch=true',
    'PATCH /api/v1/namespaces?fieldManager=regent',
    'PATCH /api/v1/namespaces?fieldManager=regent&force=true',
    'PATCH /api/v1/namespaces?a=b&fieldManager=regent',
  ])
})

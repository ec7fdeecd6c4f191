// Requests of the operator to the API server.
import { describe, expect, test } from 'vitest'
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

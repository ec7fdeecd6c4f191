// How a server asks the API server.
import { describe, expect, test } from 'vitest'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getOperatorCluster } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  test('what is asked for waits for no watch, however many there are', async () => {
    const cluster = getOperatorCluster()
    const ending = new AbortController()
    const path = '/api/v1/namespaces?watch=true&timeoutSeconds=60'
    const begun = Array.from({ length: 100 }, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const lasts = cluster.lines(path, () => resolve(), ending.signal)
      return { tells: promise, ends: expect(lasts).rejects.toThrow() }
    })
    await Promise.all(begun.map(({ tells }) => tells))
    expect(await cluster.ask('GET', '/api/v1/namespaces?limit=1')).toMatchObject({ kind: 'NamespaceList' })
    ending.abort()
    await Promise.all(begun.map(({ ends }) => ends))
  })
})

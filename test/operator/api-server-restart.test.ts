// A restart of the API server, as the log of a server with the operator shows it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { openKubernetes } from '../support/kubernetes.ts'
import { hasOwnCluster, type OwnCluster, onOwnCluster, startOwnCluster } from '../support/own-cluster.ts'
import { newName } from '../support/service.ts'
import { resource, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasOwnCluster)(onOwnCluster, () => {
  let cluster: OwnCluster
  let commands: CommandFolder
  beforeAll(async () => {
    cluster = await startOwnCluster()
    commands = await createCommandFolder({ KUBECONFIG: cluster.config })
  }, 120_000)
  afterAll(async () => {
    await commands?.remove()
    await cluster?.remove()
  })

  test('the log of an API server restart has lines at level info only, and resources are applied afterwards', async () => {
    const kubernetes = await openKubernetes(cluster.config)
    const namespace = await kubernetes.newNamespace()
    const server = await commands.serve('--source', '', '--operator', '--log-level', 'info')
    const acme = resource('Realm', 'acme', { realm: newName() }, { namespace })
    const isReady = async (generation: number) => {
      const path = `${await kubernetes.pathOf(acme, namespace)}/acme`
      const { status } = (await kubernetes.request('GET', path)).body
      const [ready] = status?.conditions ?? []
      return status?.observedGeneration === generation && ready.status === 'True'
    }
    await kubernetes.apply(acme)
    await waitUntil(() => isReady(1))
    const before = server.output().length
    const outage = server.until('does not respond')
    await cluster.stop()
    await outage
    await cluster.start()
    await kubernetes.apply({ ...acme, spec: { ...(acme.spec as object), displayName: 'Acme' } })
    await waitUntil(() => isReady(2))
    const lines = server.output().slice(before).split('\n').filter(Boolean)
    expect(lines.join('\n')).toMatch(/does not respond: \w+[\s\S]*responds again/)
    // Errors and warnings are JSON, and stacks have several lines.
    expect(lines.filter((line) => /"level":[45]0|^\s+at /.test(line))).toEqual([])
    expect(lines.length).toBeLessThan(10)
    expect(await server.stop()).toBe(0)
  }, 180_000)
})

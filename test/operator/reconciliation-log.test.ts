// The log of the operator: one line for each reconciliation that changes something.
import { describe, expect, test } from 'vitest'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const lines: string[] = []
  const setup = setUpOperator(() => ({ log: (line) => lines.push(line) }))

  test('a line names the changes of a reconciliation, its cause, and resources that are not applied', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const listLines = () => lines.filter((line) => line.startsWith(`Realm ${realm} `))
    const acme = resource('Realm', 'acme', { realm, displayName: 'Acme' })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    expect(listLines()).toEqual([
      expect.stringMatching(/ at sha256:\w+ \(resources changed\): 1 created, 1 updated, 0 deleted\.$/),
    ])
    const stalled = resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, defaultClientScopes: ['none'] })
    await space.apply(stalled)
    await space.waitForReady(stalled, 'False', 'ReferenceNotFound')
    await waitUntil(async () => listLines().length === 2)
    expect(listLines()[1]).toMatch(
      new RegExp(`: not applied: RealmClient ${space.namespace}/shop \\(ReferenceNotFound\\)\\.$`),
    )
    await space.apply(resource('Realm', 'acme', { realm, displayName: 'Acme Inc.' }))
    await waitUntil(async () => listLines().length === 3)
    expect(listLines()[2]).toMatch(/: 0 created, 1 updated, 0 deleted; not applied: RealmClient .*\.$/)
  })
})

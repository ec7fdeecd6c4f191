// Namespaces that a realm no longer admits: they can delete what they created, and the realm goes on.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { createNamespace, findCondition, resource, setUpOperator } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  const findClient = async (realm: string, name: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation

  test('a client of a namespace that is no longer admitted is deleted with its resource, and other edits are applied', async () => {
    const [owner, tenant] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    const acme = (spec: object) => resource('Realm', 'acme', { realm, ...spec })
    const realmRef = { name: 'acme', namespace: owner.namespace }
    const [app, remaining] = ['app', 'remaining'].map((name) => resource('RealmClient', name, { realmRef })) as [
      ReturnType<typeof resource>,
      ReturnType<typeof resource>,
    ]
    await owner.apply(acme({ allowedNamespaces: [{ name: tenant.namespace }] }))
    for (const item of [app, remaining]) await tenant.apply(item)
    for (const item of [app, remaining]) await tenant.waitForReady(item, 'True')
    await owner.apply(acme({ displayName: 'Acme' }))
    const { status } = await tenant.waitForReady(app, 'False', 'NotAdmitted')
    expect(status.conditions[0].message).toContain('Its object stays live, unmanaged, until the resource is deleted.')
    expect(await findClient(realm, 'app')).toBeDefined()
    await tenant.delete(app)
    await tenant.waitForDeletion(app)
    expect(await findClient(realm, 'app')).toBeUndefined()
    expect(await findClient(realm, 'remaining')).toBeDefined()
    await owner.apply(acme({ displayName: 'Other' }))
    await owner.waitForReady(acme({}), 'True')
    expect(findCondition(await tenant.get(remaining), 'Ready').reason).toBe('NotAdmitted')
    await tenant.delete(remaining)
    await tenant.waitForDeletion(remaining)
    expect(await findClient(realm, 'remaining')).toBeUndefined()
    expect(setup.operator.failures).toEqual([])
  })
})

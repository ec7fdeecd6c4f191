// Resources that are live although something in them has no effect: they are ready, with a warning.
import { describe, expect, test } from 'vitest'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'
import { createNamespace, findCondition, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  test('an unknown authenticator, mapper or required action is a warning condition, and an event', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realmRef = { name: 'acme' }
    const flow = (authenticator: string) =>
      resource('RealmFlow', 'flow', {
        ...{ realmRef, providerId: 'basic-flow', topLevel: true },
        authenticationExecutions: [{ authenticator, requirement: 'REQUIRED', priority: 10 }],
      })
    const mapper = resource('RealmProtocolMapper', 'mapper', {
      ...{ realmRef, client: 'shop' },
      ...{ protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-atribute-mapper' },
    })
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    const items = [flow('auth-cookei'), resource('RealmClient', 'shop', { realmRef }), mapper]
    for (const item of items) await space.apply(item)
    for (const item of items) await space.waitForReady(item, 'True')
    const [ofFlow, ofClient, ofMapper] = await Promise.all(
      items.map(async (item) => findCondition(await space.get(item), 'Warning')),
    )
    expect(ofFlow).toMatchObject({ status: 'True', message: expect.stringContaining('auth-cookei') })
    expect(ofMapper).toMatchObject({
      status: 'True',
      message: expect.stringContaining('oidc-usermodel-atribute-mapper'),
    })
    expect(ofClient).toBeUndefined()
    // A run in which nothing has changed keeps it, and the correction removes it.
    await space.apply(resource('RealmClient', 'other', { realmRef }))
    await space.waitForReady(resource('RealmClient', 'other', {}), 'True')
    expect(findCondition(await space.get(flow('')), 'Warning')).toEqual(ofFlow)
    await space.apply(flow('auth-cookie'))
    await waitUntil(async () => findCondition(await space.get(flow('')), 'Warning') === undefined)
    const path = `/apis/events.k8s.io/v1/namespaces/${space.namespace}/events`
    const { items: events } = (await setup.kubernetes.request('GET', path)).body
    const ofKind = (kind: string) =>
      events
        .filter((event: { regarding: { kind: string } }) => event.regarding.kind === kind)
        .map(({ type, reason }: { type: string; reason: string }) => `${type} ${reason}`)
    expect(ofKind('RealmFlow')).toEqual(expect.arrayContaining(['Normal Applied', 'Warning WithoutEffect']))
    expect(ofKind('RealmClient')).toContain('Normal Applied')
  })

  test('with unknownFields: warn, a Realm is ready although it has unknown fields, which are a warning condition', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = (more: object) =>
      resource('Realm', 'acme', {
        realm,
        futureField: 1,
        clients: [{ clientId: 'shop', futureSetting: true }],
        ...more,
      })
    await space.apply(acme({}))
    const invalid = await space.waitForReady(acme({}), 'False', 'Invalid')
    expect(findCondition(invalid, 'Ready').message).toMatch(/spec\.futureField: .*spec\.clients\[0\]\.futureSetting: /)
    await space.apply(acme({ unknownFields: 'warn' }))
    const ready = await space.waitForReady(acme({}), 'True')
    expect(findCondition(ready, 'Warning').message).toContain('spec.clients[0].futureSetting: ')
    await space.apply(acme({ unknownFields: 'error' }))
    await space.waitForReady(acme({}), 'False', 'Invalid')
  })

  test('a condition of another controller stays', async () => {
    const space = await createNamespace(setup.kubernetes)
    const acme = (displayName: string) => resource('Realm', 'acme', { realm, displayName })
    const realm = newName()
    await space.apply(acme('One'))
    await space.waitForReady(acme(''), 'True')
    const path = `/apis/regent.dev/v1alpha1/namespaces/${space.namespace}/realms/acme/status?fieldManager=other`
    const foreign = {
      ...{ type: 'Audited', status: 'True', reason: 'Checked', message: 'By another controller.' },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const { apiVersion, kind } = acme('')
    const metadata = { name: 'acme', namespace: space.namespace }
    const status = { apiVersion, kind, metadata, status: { conditions: [foreign] } }
    const apply = { 'content-type': 'application/apply-patch+yaml' }
    expect((await setup.kubernetes.request('PATCH', path, status, apply)).status).toBe(200)
    await space.apply(acme('Two'))
    await space.waitForReady(acme(''), 'True')
    expect(findCondition(await space.get(acme('')), 'Audited')).toMatchObject(foreign)
  })
})

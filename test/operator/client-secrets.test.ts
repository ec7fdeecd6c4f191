// Secrets of clients that the operator writes into Secrets of Kubernetes.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Resource } from '../../src/operator/cluster/resource.ts'
import { createSecretWriter } from '../../src/operator/cluster/secret-writer.ts'
import { regenerateSecret } from '../../src/service/admin-api/clients/client-secrets.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { logInWithPassword } from '../support/password-login.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import {
  createNamespace,
  findCondition,
  getOperatorCluster,
  resource,
  setUpOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  const getClientSecret = async (realm: string, client: string) => {
    const { representation } = await getLiveObject(setup.service, SYSTEM, realm, 'client', client)
    return setup.service.vault.open(representation.secret as string)
  }
  const rotate = async (realm: string, client: string) => {
    const { id } = await getLiveObject(setup.service, SYSTEM, realm, 'client', client)
    await setup.service.write(ANN, realm, (context) => regenerateSecret(context, id))
  }
  const canLogIn = async (realm: string, username: string, password: string) =>
    (await logInWithPassword(realm, { username, password })).status === 200
  const secret = (name: string, data: object = {}, labels: object = {}) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, labels }, data },
  })
  const pathOf = async ({ namespace }: TestNamespace, name: string) => `/api/v1/namespaces/${namespace}/secrets/${name}`
  const readTexts = async (space: TestNamespace, name: string): Promise<Record<string, string>> => {
    const { data = {} } = await space.get(secret(name))
    return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, atob(text as string)]))
  }
  const shop = (spec: object) => resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, ...spec })

  test('writeSecretTo writes the secret of the client into a Secret, after each change of the client or the Secret', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(shop({ writeSecretTo: { name: 'for-shop' } }))
    const { metadata } = await space.waitForReady(shop({}), 'True')
    const written = await space.get(secret('for-shop'))
    expect(written).toMatchObject({
      metadata: {
        labels: { 'regent.dev/secret': 'true' },
        ownerReferences: [{ kind: 'RealmClient', name: 'shop', uid: metadata.uid }],
      },
      type: 'Opaque',
    })
    const first = await getClientSecret(realm, 'shop')
    expect(await readTexts(space, 'for-shop')).toEqual({ 'client-secret': first })

    await rotate(realm, 'shop')
    const second = await getClientSecret(realm, 'shop')
    expect(second).not.toBe(first)
    await waitUntil(async () => (await readTexts(space, 'for-shop'))['client-secret'] === second)

    const merge = { 'content-type': 'application/merge-patch+json' }
    await setup.kubernetes.request(
      'PATCH',
      await pathOf(space, 'for-shop'),
      { data: { 'client-secret': btoa('mine') } },
      merge,
    )
    await waitUntil(async () => (await readTexts(space, 'for-shop'))['client-secret'] === second)
    await setup.kubernetes.request('DELETE', await pathOf(space, 'for-shop'))
    await waitUntil(async () => (await readTexts(space, 'for-shop'))['client-secret'] === second)

    await space.apply(shop({ writeSecretTo: { name: 'for-shop', key: 'password' } }))
    await waitUntil(
      async () => JSON.stringify(await readTexts(space, 'for-shop')) === JSON.stringify({ password: second }),
    )
    const { status } = await space.waitForReady(shop({}), 'True')
    expect(JSON.stringify(status)).not.toContain(second)
    await space.delete(shop({}))
    await space.waitForDeletion(secret('for-shop'))
    expect(setup.operator.failures).toEqual([])
  })

  test('a template writes several keys, and keys of other writers stay', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm }))
    const template = {
      OIDC_ISSUER: '$(issuer)',
      'config.json': '{"id":"$(clientId)","secret":"$(clientSecret)","realm":"$(realm)","price":"$$(5)"}',
    }
    await space.apply(shop({ writeSecretTo: { name: 'for-shop', template } }))
    await space.waitForReady(shop({}), 'True')
    const clientSecret = await getClientSecret(realm, 'shop')
    const issuer = `https://id.example.org/realms/${realm}`
    const config = `{"id":"shop","secret":"${clientSecret}","realm":"${realm}","price":"$(5)"}`
    expect(await readTexts(space, 'for-shop')).toEqual({ OIDC_ISSUER: issuer, 'config.json': config })

    const merge = { 'content-type': 'application/merge-patch+json' }
    const added = { data: { mine: btoa('stays') } }
    await setup.kubernetes.request('PATCH', await pathOf(space, 'for-shop'), added, merge)
    await space.apply(shop({ writeSecretTo: { name: 'for-shop', key: 'secret', template: { ID: '$(clientId)' } } }))
    const expected = { ID: 'shop', mine: 'stays', secret: clientSecret }
    await vi.waitFor(async () => expect(await readTexts(space, 'for-shop')).toEqual(expected), { timeout: 30_000 })

    await space.apply(shop({ writeSecretTo: { name: 'for-shop', template: { ID: '$(clientName)' } } }))
    const { status } = await space.waitForReady(shop({}), 'False', 'Invalid')
    expect(findCondition({ status }, 'Ready').message).toBe(
      'spec.writeSecretTo.template: $(clientName) does not exist. Use $(clientId), $(clientSecret), $(realm), $(issuer).',
    )
    // A public client has no secret, but an issuer.
    await space.apply(shop({ publicClient: true, writeSecretTo: { name: 'for-shop', template: { ID: '$(issuer)' } } }))
    await space.waitForReady(shop({}), 'True')
    expect(await readTexts(space, 'for-shop')).toEqual({ ID: issuer, mine: 'stays' })
  })

  test('the Secret follows a changed name, and only loses its written keys if there are other ones', async () => {
    const space = await createNamespace(setup.kubernetes)
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    for (const name of ['first', 'second']) {
      await space.apply(shop({ writeSecretTo: { name } }))
      await space.waitForReady(shop({}), 'True')
      expect(Object.keys(await readTexts(space, name))).toEqual(['client-secret'])
    }
    await space.waitForDeletion(secret('first'))
    const merge = { 'content-type': 'application/merge-patch+json' }
    const added = { data: { mine: btoa('stays') } }
    await setup.kubernetes.request('PATCH', await pathOf(space, 'second'), added, merge)
    await space.apply(shop({}))
    await waitUntil(async () => JSON.stringify(await readTexts(space, 'second')) === JSON.stringify({ mine: 'stays' }))
    expect((await space.get(secret('second'))).metadata.ownerReferences).toBeUndefined()
  })

  test('with deletionPolicy: Orphan the Secret stays, and belongs to the resource again when it is created again', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm }))
    const orphaned = shop({ deletionPolicy: 'Orphan', writeSecretTo: { name: 'for-shop' } })
    await space.apply(orphaned)
    await space.waitForReady(shop({}), 'True')
    const before = await readTexts(space, 'for-shop')
    await space.delete(shop({}))
    await space.waitForDeletion(shop({}))
    const { metadata } = await space.get(secret('for-shop'))
    expect(metadata.ownerReferences).toBeUndefined()
    await space.apply(orphaned)
    const created = await space.waitForReady(shop({}), 'True')
    expect((await space.get(secret('for-shop'))).metadata.ownerReferences).toMatchObject([
      { uid: created.metadata.uid },
    ])
    expect(await readTexts(space, 'for-shop')).toEqual(before)
  })

  test('a deleted Secret is written again while the resource of a live client is invalid', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(shop({ writeSecretTo: { name: 'for-shop' } }))
    await space.waitForReady(shop({}), 'True')
    await space.apply(
      shop({ authenticationFlowBindingOverrides: { browser: 'none' }, writeSecretTo: { name: 'for-shop' } }),
    )
    await space.waitForReady(shop({}), 'False')
    await space.delete(secret('for-shop'))
    const expected = await getClientSecret(realm, 'shop')
    await waitUntil(async () => (await readTexts(space, 'for-shop'))['client-secret'] === expected)
  })

  test('the secrets of a realm that no resource declares any more are not written again and again after a change', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    for (const item of [acme, shop({ writeSecretTo: { name: 'for-shop' } })]) await space.apply(item)
    await space.waitForReady(shop({}), 'True')
    // A realm with users remains, and belongs to its source, until its deletion is approved.
    const { create } = await testServer()
    await create(`/admin/realms/${realm}/users`, { username: 'ann', enabled: true })
    await space.delete(acme)
    await space.waitForDeletion(acme)
    let runs = 0
    const unsubscribe = setup.service.measurements.subscribe(({ quantity, labels }) => {
      if (quantity === 'reconciliation' && labels.controller === 'client-secrets') runs++
    })
    onTestFinished(() => void unsubscribe())
    await rotate(realm, 'shop')
    await vi.waitUntil(() => runs > 0, { timeout: 30_000 })
    // A second wake-up may cause another run. A new realm takes many times as long as a run.
    const createOther = async (name: string) => {
      const other = resource('Realm', name, { realm: newName() })
      await space.apply(other)
      await space.waitForReady(other, 'True')
    }
    await createOther('other')
    const runsBefore = runs
    await createOther('another')
    expect(runs).toBe(runsBefore)
  })

  test('writeSecretTo of a RealmUser writes a generated password, and a new one after the Secret was deleted', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(
      resource('Realm', 'acme', { realm, enabled: true, passwordPolicy: 'length(20) and upperCase(2) and digits(2)' }),
    )
    const template = { LOGIN: '$(username):$(password)@$(issuer)' }
    const profile = { email: 'bot@example.org', firstName: 'Build', lastName: 'Bot', enabled: true }
    const bot = (spec: object) => resource('RealmUser', 'bot', { realmRef: { name: 'acme' }, ...profile, ...spec })
    await space.apply(bot({ writeSecretTo: { name: 'bot', template } }))
    const { status } = await space.waitForReady(bot({}), 'True')
    const { password: first, LOGIN } = await readTexts(space, 'bot')
    expect(LOGIN).toBe(`bot:${first}@https://id.example.org/realms/${realm}`)
    expect(JSON.stringify(status)).not.toContain(first)
    expect(await canLogIn(realm, 'bot', first!)).toBe(true)

    await space.delete(secret('bot'))
    await waitUntil(async () => ![undefined, first].includes((await readTexts(space, 'bot')).password))
    const { password: second } = await readTexts(space, 'bot')
    await waitUntil(() => canLogIn(realm, 'bot', second!))
    expect(await canLogIn(realm, 'bot', first!)).toBe(false)
    const credentials = [{ type: 'password', value: 'declared-password-1A' }]
    await space.apply(bot({ writeSecretTo: { name: 'bot' }, credentials }))
    const invalid = await space.waitForReady(bot({}), 'False', 'Invalid')
    expect(findCondition(invalid, 'Ready').message).toContain('spec.writeSecretTo')
  })

  test('a secret that is a reference to the vault is not written', async () => {
    const space = await createNamespace(setup.kubernetes)
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    await space.apply(shop({ secret: '${vault.shop}', writeSecretTo: { name: 'for-shop' } }))
    const { status } = await space.waitForReady(shop({}), 'False', 'Invalid')
    expect(findCondition({ status }, 'Ready').message).toContain('the secret of the client shop is a reference')
    expect((await setup.kubernetes.request('GET', await pathOf(space, 'for-shop'))).status).toBe(404)
  })

  test('a Secret of another owner is not changed, and the resource is stalled until it is deleted', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const foreignData = { 'client-secret': btoa('mine') }
    await space.apply(secret('plain', foreignData))
    await space.apply(secret('labelled', foreignData, { 'regent.dev/secret': 'true' }))
    await space.apply(resource('Realm', 'acme', { realm, retryInterval: '1s' }))
    for (const name of ['plain', 'labelled']) {
      const { metadata } = await space.get(secret(name))
      await space.apply(shop({ writeSecretTo: { name } }))
      const { status } = await space.waitForReady(shop({}), 'False', 'SecretNotWritten')
      expect(findCondition({ status }, 'Ready').message).toBe(
        `spec.writeSecretTo: the Secret ${name} exists and does not belong to this resource: delete it, or choose another name`,
      )
      expect(findCondition({ status }, 'Stalled').status).toBe('True')
      expect((await space.get(secret(name))).metadata.resourceVersion).toBe(metadata.resourceVersion)
    }
    await space.delete(secret('labelled'))
    await space.waitForReady(shop({}), 'True')
    expect(await readTexts(space, 'labelled')).toEqual({ 'client-secret': await getClientSecret(realm, 'shop') })
    await space.apply(shop({ writeSecretTo: { name: 'other' }, publicClient: true }))
    const { status } = await space.waitForReady(shop({}), 'False', 'Invalid')
    expect(findCondition({ status }, 'Ready').message).toContain('the client shop has no secret')
  })

  test('a Secret that was changed, deleted or created since it was read is read again and written', async () => {
    const space = await createNamespace(setup.kubernetes)
    // The API server deletes objects whose owner does not exist.
    await space.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } })
    const owner: Resource = (
      await setup.kubernetes.request('GET', `/api/v1/namespaces/${space.namespace}/configmaps/owner`)
    ).body
    const { uid } = owner.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
    const createOwnedSecret = (text: string) => ({
      ...secret('overtaken', { 'client-secret': btoa(text) }),
      metadata: { name: 'overtaken', labels: { 'regent.dev/secret': 'true' }, ownerReferences },
    })
    const target = { owner, namespace: space.namespace, name: 'overtaken' }
    const writeSecret = (lastRead: Resource | undefined, text: string) =>
      createSecretWriter(getOperatorCluster(), {
        findSecret: () => lastRead,
        listSecrets: () => [],
        put: () => {},
      }).write({ ...target, texts: { 'client-secret': text } })

    await space.apply(createOwnedSecret('first'))
    const first = await space.get(secret('overtaken'))
    await space.apply(createOwnedSecret('second'))
    expect(await writeSecret(first, 'third')).toBeUndefined()
    expect(await readTexts(space, 'overtaken')).toEqual({ 'client-secret': 'third' })
    await space.delete(secret('overtaken'))
    expect(await writeSecret(first, 'fourth')).toBeUndefined()
    expect(await readTexts(space, 'overtaken')).toEqual({ 'client-secret': 'fourth' })
    expect(await writeSecret(undefined, 'fifth')).toBeUndefined()
    expect(await readTexts(space, 'overtaken')).toEqual({ 'client-secret': 'fifth' })
  })

  test('a tenant namespace gets no secret of a foreign client, or of one with admin permissions that it may not grant', async () => {
    const [owner, tenant] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    const acme = resource('Realm', 'acme', {
      realm,
      allowedNamespaces: [{ name: tenant.namespace }],
      clients: [{ clientId: 'platform' }],
    })
    const createSharedClient = (clientId: string, namespace?: string) =>
      resource('RealmClient', clientId, {
        realmRef: { name: 'acme', ...(namespace && { namespace }) },
        writeSecretTo: { name: `of-${clientId}` },
      })
    // A client with admin permissions that is no longer declared.
    const deletionPolicy = 'Orphan'
    const orphanSpec = { realmRef: { name: 'acme' }, deletionPolicy }
    const privileged = [
      resource('RealmClient', 'admin-tool', { ...orphanSpec, serviceAccountsEnabled: true }),
      resource('RealmUser', 'admin-tool', {
        ...orphanSpec,
        username: 'service-account-admin-tool',
        clientRoles: { 'realm-management': ['realm-admin'] },
      }),
    ]
    await owner.apply(acme)
    await owner.waitForReady(acme, 'True')
    for (const item of privileged) {
      await owner.apply(item)
      await owner.waitForReady(item, 'True')
    }
    await owner.delete(...privileged)
    for (const item of privileged) await owner.waitForDeletion(item)
    const realmRef = owner.namespace
    for (const clientId of ['portal', 'platform', 'admin-tool'])
      await tenant.apply(createSharedClient(clientId, realmRef))
    await tenant.waitForReady(createSharedClient('portal'), 'True')
    expect(await readTexts(tenant, 'of-portal')).toEqual({ 'client-secret': await getClientSecret(realm, 'portal') })
    for (const clientId of ['platform', 'admin-tool']) {
      const { status } = await tenant.waitForReady(createSharedClient(clientId), 'False', 'NotAdmitted')
      expect(findCondition({ status }, 'Ready').message).toContain(`client ${clientId}`)
      expect((await tenant.get(secret(`of-${clientId}`))).code).toBe(404)
    }
    const strong = createSharedClient('strong', realmRef)
    await tenant.apply({ ...strong, spec: { ...(strong.spec as object), serviceAccountsEnabled: true } })
    await tenant.waitForReady(strong, 'True')
    const strongUser = { realmRef: { name: 'acme' }, username: 'service-account-strong' }
    const clientRoles = { 'realm-management': ['realm-admin'] }
    await owner.apply(resource('RealmUser', 'strong', { ...strongUser, clientRoles }))
    const { status } = await tenant.waitForReady(strong, 'False', 'NotAdmitted')
    expect(findCondition({ status }, 'Ready').message).toContain('the client strong has roles')
    await owner.apply(createSharedClient('admin-tool'))
    await owner.waitForReady(createSharedClient('admin-tool'), 'True')
    expect(await readTexts(owner, 'of-admin-tool')).toEqual({
      'client-secret': await getClientSecret(realm, 'admin-tool'),
    })
  })
})

// An operator that reads some namespaces by Roles only, named Secrets, or the resources of a class.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { type ClusterClient, connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import type { Service } from '../../src/service/context/service.ts'
import { renderChart, requiredValues } from '../support/chart.ts'
import { waitForPermissions } from '../support/cluster-permissions.ts'
import { hasHelm, withHelm } from '../support/helm.ts'
import { installKeycloakImports } from '../support/keycloak-imports.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { newName, testService } from '../support/service.ts'
import {
  createNamespace,
  findCondition,
  resource,
  startOperator,
  stopTestOperator,
  type TestNamespace,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes || !hasHelm)(hasHelm ? onKubernetes : withHelm, () => {
  let kubernetes: Kubernetes
  let service: Service
  let folder: string
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    service = (await testService()).service
    folder = await mkdtemp(join(tmpdir(), 'regent-scope-'))
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes)
    await rm(folder, { recursive: true })
  })

  /** Applies the roles of a release in a namespace, and returns a connection with nothing but these. */
  const connectRelease = async (release: TestNamespace, values: readonly string[]): Promise<ClusterClient> => {
    const { namespace } = release
    const templates = ['service-account', 'roles']
    const resources = renderChart([...requiredValues, ...values], { namespace, templates })
    for (const rendered of resources)
      expect(await kubernetes.apply(rendered)).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
    await waitForPermissions(kubernetes, resources)
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/regent/token`
    const { token } = (await kubernetes.request('POST', path, { spec: { expirationSeconds: 3600 } })).body.status
    const config = JSON.parse(await readFile(inject('operatorConfig')!, 'utf8'))
    config.users[0].user.token = token
    config.contexts[0].context.namespace = namespace
    const file = join(folder, `${namespace}.json`)
    await writeFile(file, JSON.stringify(config))
    return connectToCluster(file)
  }
  const secret = (name: string, text: string) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { password: btoa(text) } },
  })

  test('with Roles in some namespaces, resources of these are applied, and no others', {
    timeout: 120_000,
  }, async () => {
    await installKeycloakImports(kubernetes)
    const spaces: TestNamespace[] = []
    for (const team of ['platform', 'shop', 'other']) spaces.push(await createNamespace(kubernetes, { team }))
    const [platform, shop, other] = spaces as [TestNamespace, TestNamespace, TestNamespace]
    const namespaces = [platform.namespace, shop.namespace]
    const cluster = await connectRelease(platform, [
      `operator.namespaces={${namespaces.join(',')}}`,
      'operator.secrets.names={smtp,shop-client}',
      `operator.secrets.writtenIn={${shop.namespace}}`,
    ])
    const operator = startOperator(service, {
      cluster,
      scope: { namespaces, secretNames: ['smtp', 'shop-client'] },
      clusterLease: { namespace: platform.namespace, name: 'regent' },
      isWatchedNamespace: (namespace) => namespaces.includes(namespace),
    })
    try {
      const realm = newName()
      // A Secret that is named needs no label.
      await platform.apply(secret('smtp', 'mail-password'))
      const acme = resource('Realm', 'acme', {
        realm,
        allowedNamespaces: [{ selector: { matchLabels: { team: 'shop' } } }],
        smtpServer: {
          host: 'mail.example.org',
          from: 'sso@example.org',
          password: { secretKeyRef: { name: 'smtp', key: 'password' } },
        },
      })
      await platform.apply(acme)
      const client = resource('RealmClient', 'shop', {
        realmRef: { name: 'acme', namespace: platform.namespace },
        writeSecretTo: { name: 'shop-client' },
      })
      await shop.apply(client)
      const ignored = resource('Realm', 'ignored', { realm: newName() })
      await other.apply(ignored)
      const realmImport = {
        apiVersion: 'k8s.keycloak.org/v2beta1',
        kind: 'KeycloakRealmImport',
        metadata: { name: 'imported' },
        spec: { keycloakCRName: 'keycloak', realm: { realm: newName() } },
      }
      await shop.apply(realmImport)
      await platform.waitForReady(acme, 'True')
      await shop.waitForReady(client, 'True')
      expect((await shop.get(secret('shop-client', ''))).data['client-secret']).toEqual(expect.any(String))
      await vi.waitUntil(async () => (await service.findRealms([realmImport.spec.realm.realm])).length > 0, {
        timeout: 30_000,
      })
      expect(findCondition(await other.get(ignored), 'Ready')).toBeUndefined()

      // Neither may be written in the namespace of the platform, nor with another name.
      const unpermitted = resource('RealmClient', 'unpermitted', {
        realmRef: { name: 'acme' },
        writeSecretTo: { name: 'shop-client' },
      })
      await platform.apply(unpermitted)
      const refused = await platform.waitForReady(unpermitted, 'False', 'SecretNotWritten')
      expect(findCondition(refused, 'Ready').message).toContain('operator.secrets.writtenIn')
      for (const item of [client, realmImport]) await shop.delete(item)
      await shop.waitForDeletion(client)
      for (const item of [unpermitted, acme]) {
        await platform.delete(item)
        await platform.waitForDeletion(item)
      }
      expect(operator.failures).toEqual([])
    } finally {
      await operator.stop()
    }
  })

  test('two operators with a class each apply the resources of their class', async () => {
    const space = await createNamespace(kubernetes)
    const cluster = await connectRelease(space, [`operator.namespaces={${space.namespace}}`])
    const start = (className: string | undefined) =>
      startOperator(service, {
        cluster,
        scope: { namespaces: [space.namespace], className },
        isWatchedNamespace: (namespace) => namespace === space.namespace,
      })
    const realms = ['plain', 'staging'].map((name) => {
      const labels = name === 'plain' ? {} : { 'regent.dev/class': name }
      return resource('Realm', name, { realm: newName(), displayName: 'first' }, { labels })
    })
    for (const realm of realms) await space.apply(realm)
    for (const [at, className] of [undefined, 'staging'].entries()) {
      const operator = start(className)
      await space.waitForReady(realms[at]!, 'True')
      if (at === 0) expect(findCondition(await space.get(realms[1]!), 'Ready')).toBeUndefined()
      await space.delete(realms[at]!)
      await space.waitForDeletion(realms[at]!)
      await operator.stop()
    }
  })
})

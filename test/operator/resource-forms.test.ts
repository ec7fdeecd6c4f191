// One realm in each of the forms that Kubernetes may have it in: it is the same realm then.
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { listResourceNames } from '../../src/realm-file/resources/resource-kinds.ts'
import { createDocument } from '../../src/realm-file/yaml/document.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { installKeycloakImports, removeKeycloakImports } from '../support/keycloak-imports.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { realmFiles } from '../support/realm-imports.ts'
import { toResources } from '../support/realm-resources.ts'
import { createSampleObjects, toDocument } from '../support/samples.ts'
import { newName } from '../support/service.ts'
import { createSource, planText } from '../support/sources.ts'
import {
  createNamespace,
  resource,
  startTestOperator,
  stopTestOperator,
  type TestNamespace,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

const documentIn = (file: URL) => parseDocuments(file.pathname, readFileSync(file, 'utf8'))[0]!
const moped = new URL('moped.json', realmFiles)
const benchmark = new URL('benchmark.yaml', realmFiles)

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes, operated)
    if (kubernetes) await removeKeycloakImports(kubernetes)
  })

  const importOf = (version: string, realm: Representation, placeholders = {}) => ({
    apiVersion: `k8s.keycloak.org/${version}`,
    kind: 'KeycloakRealmImport',
    metadata: { name: String(realm.realm) },
    spec: { keycloakCRName: 'keycloak', placeholders, realm },
  })
  /** What was told of an import. */
  const eventsOf = async ({ namespace }: TestNamespace, name: string): Promise<[reason: string, note: string][]> => {
    const { body } = await kubernetes.request('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`)
    const events = body.items as { reason: string; note: string; regarding: { kind: string; name: string } }[]
    const own = events.filter(({ regarding }) => regarding.kind === 'KeycloakRealmImport' && regarding.name === name)
    return own.map(({ reason, note }) => [reason, note])
  }
  /** All of it, but for what is made anew for each realm. */
  const exported = async (realm: string) => {
    const all = await service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true }))
    const text = JSON.stringify(all).replaceAll(realm, '{realm}')
    return JSON.parse(text, (field, value) => (field === 'createdTimestamp' ? typeof value : value))
  }

  test.skipIf(!existsSync(moped))('a realm, the same as separate resources, and as an import', async () => {
    const space = await createNamespace(kubernetes)
    // Of three realms only one can have its id.
    const { id: _, ...whole } = documentIn(moped).value as Representation
    const [one, two, three] = [newName(), newName(), newName()]
    const stated = [
      resource('Realm', 'whole', { ...whole, realm: one }),
      ...toResources(createDocument('moped', { ...whole, realm: two }), 'parts'),
    ]
    await installKeycloakImports(kubernetes)
    await Promise.all([...stated, importOf('v2beta1', { ...whole, realm: three })].map((each) => space.apply(each)))
    for (const each of stated) await space.waitForReady(each, 'True')
    await waitUntil(async () => (await eventsOf(space, three)).some(([reason]) => reason === 'Applied'))
    const expected = await exported(one)
    expect(await exported(two)).toEqual(expected)
    expect(await exported(three)).toEqual(expected)
  })

  test.each(['v2alpha1', 'v2beta1'])(
    'an import of %s is followed as soon as the cluster knows such, and takes Secrets for its placeholders',
    async (version) => {
      const space = await createNamespace(kubernetes)
      const realm = newName()
      // Where the cluster has a definition of its own, that stays.
      await removeKeycloakImports(kubernetes)
      await installKeycloakImports(kubernetes)
      const password = { secret: { name: 'mail', key: 'password' } }
      const smtpServer = { host: 'mail.example.org', from: 'a@example.org', password: '${PASSWORD}' }
      const stated = (more: object) =>
        importOf(version, { realm, smtpServer, displayName: '${displayName}', ...more }, { PASSWORD: password })
      await space.apply(stated({}))
      const told = async () => Object.fromEntries(await eventsOf(space, realm))
      await waitUntil(async () => 'SecretNotFound' in (await told()))
      expect((await told()).SecretNotFound).toContain('no Secret mail with the key password')
      const metadata = { name: 'mail', labels: { 'regent.dev/secret': 'true' } }
      await space.apply({ apiVersion: 'v1', kind: 'Secret', metadata, data: { password: btoa('a-password') } })
      await waitUntil(async () => 'Applied' in (await told()))
      const live = async () =>
        (await service.read(SYSTEM, realm, (context) => exportRealm(context, { secrets: true }))) as Representation
      expect(await live()).toMatchObject({
        displayName: '${displayName}',
        smtpServer: { password: 'a-password' },
      })
      await space.apply(stated({ displayName: 'Another' }))
      await waitUntil(async () => (await live()).displayName === 'Another')
      await space.apply(stated({ displayNme: 'Wrong' }))
      await waitUntil(async () => 'Invalid' in (await told()))
      expect((await told()).Invalid).toContain('displayNme')
      expect((await space.get(stated({}))).status).toBeUndefined()
    },
  )

  test('what every kind holds is live as a resource of its own', async () => {
    const realm = newName()
    const whole = toDocument(realm, createSampleObjects()) as Representation
    const parts = toResources(createDocument('world', whole), 'world')
    expect(new Set(parts.map(({ kind }) => kind))).toEqual(
      new Set(Object.values(kinds).map((kind) => listResourceNames(kind)[0])),
    )
    const space = await createNamespace(kubernetes)
    await Promise.all(parts.map((each) => space.apply(each)))
    for (const each of parts) await space.waitForReady(each, 'True')
    expect(await planText(service, createSource([whole], 'world.json'))).toContain('Nothing to do.')
  })

  test.skipIf(!existsSync(benchmark))('a large realm', async () => {
    const realm = newName()
    const whole = { ...(documentIn(benchmark).value as Representation), realm }
    const space = await createNamespace(kubernetes)
    const one = resource('Realm', 'benchmark', whole)
    await space.apply(one)
    await space.waitForReady(one, 'True')
    expect(await planText(service, createSource([whole], 'benchmark.yaml'))).toContain('Nothing to do.')
  })
})

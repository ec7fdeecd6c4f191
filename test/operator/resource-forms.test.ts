// A realm in each form of resources that the operator reads.
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import { listResourceNames } from '../../src/kinds/resource-kinds.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { createDocument } from '../../src/realm-file/yaml/document.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { installKeycloakImports, removeKeycloakImports } from '../support/keycloak-imports.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { realmFiles } from '../support/realm-imports.ts'
import { toResources } from '../support/realm-resources.ts'
import { createSampleObjects, toDocument } from '../support/samples.ts'
import { newName } from '../support/service.ts'
import { createSource, planText } from '../support/sources.ts'
import {
  type AnyResource,
  createNamespace,
  resource,
  setUpOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

const readDocument = (file: URL) => parseDocuments(file.pathname, readFileSync(file, 'utf8'))[0]!
const moped = new URL('moped.json', realmFiles)
const benchmark = new URL('benchmark.yaml', realmFiles)

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  // Runs after the operator has stopped.
  afterAll(() => removeKeycloakImports(setup.kubernetes))
  const setup = setUpOperator()

  const createImport = (version: string, realm: Representation, placeholders = {}) => ({
    apiVersion: `k8s.keycloak.org/${version}`,
    kind: 'KeycloakRealmImport',
    metadata: { name: String(realm.realm) },
    spec: { keycloakCRName: 'keycloak', placeholders, realm },
  })
  /** Returns the events of an import. */
  const listEvents = async ({ namespace }: TestNamespace, name: string): Promise<[reason: string, note: string][]> => {
    const { body } = await setup.kubernetes.request('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`)
    const events = body.items as { reason: string; note: string; regarding: { kind: string; name: string } }[]
    const importEvents = events.filter(
      ({ regarding }) => regarding.kind === 'KeycloakRealmImport' && regarding.name === name,
    )
    return importEvents.map(({ reason, note }) => [reason, note])
  }
  /** Returns the complete export, without values that differ for each realm. */
  const exportContent = async (realm: string) => {
    const all = await setup.service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true }))
    const text = JSON.stringify(all).replaceAll(realm, '{realm}')
    return JSON.parse(text, (field, value) => (field === 'createdTimestamp' ? typeof value : value))
  }

  test.skipIf(!existsSync(moped))(
    'a realm has the same content as one resource, as separate resources, and as an import',
    async () => {
      const space = await createNamespace(setup.kubernetes)
      // Only one of three realms can have the id.
      const { id: _, ...content } = readDocument(moped).value as Representation
      const [realmOfWhole, realmOfParts, realmOfImport] = [newName(), newName(), newName()]
      const resources = [
        resource('Realm', 'whole', { ...content, realm: realmOfWhole }),
        ...toResources(createDocument('moped', { ...content, realm: realmOfParts }), 'parts'),
      ]
      await installKeycloakImports(setup.kubernetes)
      await Promise.all(
        [...resources, createImport('v2beta1', { ...content, realm: realmOfImport })].map((item) => space.apply(item)),
      )
      for (const item of resources) await space.waitForReady(item, 'True')
      await waitUntil(async () => (await listEvents(space, realmOfImport)).some(([reason]) => reason === 'Applied'))
      const expected = await exportContent(realmOfWhole)
      expect(await exportContent(realmOfParts)).toEqual(expected)
      expect(await exportContent(realmOfImport)).toEqual(expected)
    },
  )

  test.each(['v2alpha1', 'v2beta1'])(
    'an import of %s is applied once its definition is installed, with the Secrets of its placeholders',
    async (version) => {
      const space = await createNamespace(setup.kubernetes)
      const realm = newName()
      // A definition that the cluster had before stays.
      await removeKeycloakImports(setup.kubernetes)
      await installKeycloakImports(setup.kubernetes)
      const password = { secret: { name: 'mail', key: 'password' } }
      const smtpServer = { host: 'mail.example.org', from: 'a@example.org', password: '${PASSWORD}' }
      const declareImport = (more: object) =>
        createImport(version, { realm, smtpServer, displayName: '${displayName}', ...more }, { PASSWORD: password })
      await space.apply(declareImport({}))
      const readEvents = async () => Object.fromEntries(await listEvents(space, realm))
      await waitUntil(async () => 'SecretNotFound' in (await readEvents()))
      const readConditions = async () => {
        const { conditions = [] } = (await space.get(declareImport({}))).status ?? {}
        return Object.fromEntries(conditions.map(({ type, status }: AnyResource) => [type, status]))
      }
      expect(await readConditions()).toMatchObject({ Ready: 'False', Reconciling: 'True', Done: 'False' })
      expect((await readEvents()).SecretNotFound).toContain('no Secret mail with the key password')
      const metadata = { name: 'mail', labels: { 'regent.dev/secret': 'true' } }
      await space.apply({ apiVersion: 'v1', kind: 'Secret', metadata, data: { password: btoa('a-password') } })
      await waitUntil(async () => 'Applied' in (await readEvents()))
      const live = async () =>
        (await setup.service.read(SYSTEM, realm, (context) =>
          exportRealm(context, { secrets: true }),
        )) as Representation
      await waitUntil(async () => (await readConditions()).Done === 'True')
      expect(await readConditions()).toEqual({ Ready: 'True', Done: 'True', Started: 'False', HasErrors: 'False' })
      expect(await live()).toMatchObject({
        displayName: '${displayName}',
        smtpServer: { password: 'a-password' },
      })
      await space.apply(declareImport({ displayName: 'Another' }))
      await waitUntil(async () => (await live()).displayName === 'Another')
      await space.apply(declareImport({ displayNme: 'Wrong' }))
      await waitUntil(async () => 'Invalid' in (await readEvents()))
      expect((await readEvents()).Invalid).toContain('displayNme')
      await waitUntil(async () => (await readConditions()).HasErrors === 'True')
      expect(await readConditions()).toMatchObject({ Ready: 'False', Stalled: 'True', Done: 'False' })
      // Once Keycloak's operator writes the status, Regent does not.
      const path = `/apis/k8s.keycloak.org/${version}/namespaces/${space.namespace}/keycloakrealmimports/${realm}/status`
      const keycloakStatus = { status: { conditions: [{ type: 'Done', status: 'True' }] } }
      const merge = { 'content-type': 'application/merge-patch+json' }
      await setup.kubernetes.request('PATCH', `${path}?fieldManager=keycloak-operator`, keycloakStatus, merge)
      await space.apply(declareImport({ displayName: 'Third' }))
      await waitUntil(async () => (await live()).displayName === 'Third')
      expect(await readConditions()).toEqual({ Done: 'True' })
    },
  )

  test('separate resources of every kind have the same result as the document of the realm', async () => {
    const realm = newName()
    const content = toDocument(realm, createSampleObjects()) as Representation
    const parts = toResources(createDocument('world', content), 'world')
    expect(new Set(parts.map(({ kind }) => kind))).toEqual(
      new Set(Object.values(kinds).map((kind) => listResourceNames(kind)[0])),
    )
    const space = await createNamespace(setup.kubernetes)
    await Promise.all(parts.map((item) => space.apply(item)))
    for (const item of parts) await space.waitForReady(item, 'True')
    expect(await planText(setup.service, createSource([content], 'world.json'))).toContain('Nothing to do.')
  })

  test.skipIf(!existsSync(benchmark))('a large realm is applied from one resource', async () => {
    const realm = newName()
    const content = { ...(readDocument(benchmark).value as Representation), realm }
    const space = await createNamespace(setup.kubernetes)
    const large = resource('Realm', 'benchmark', content)
    await space.apply(large)
    await space.waitForReady(large, 'True')
    expect(await planText(setup.service, createSource([content], 'benchmark.yaml'))).toContain('Nothing to do.')
  })
})

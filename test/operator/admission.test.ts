// Admission at a real API server: what the run would set aside is refused with its path, all else is taken, with what is to be known of it.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLoopback } from '../../src/lib/http/loopback.ts'
import { createDeadline } from '../../src/lib/timing/deadline.ts'
import { type AdmissionServer, serveAdmission } from '../../src/operator/admission/admission-server.ts'
import { reviewer } from '../../src/operator/admission/review.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listRealmSources } from '../../src/service/sources/source-records.ts'
import { renderChart, requiredValues } from '../support/chart.ts'
import { hasHelm, withHelm } from '../support/helm.ts'
import {
  connect,
  hasKubernetes,
  type Kubernetes,
  type KubernetesResponse,
  onKubernetes,
} from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'
import {
  createNamespace,
  getOperatorCluster,
  resource,
  startTestOperator,
  stopTestOperator,
  type TestNamespace,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

/** The API server must reach the test. */
const isNear = hasKubernetes && isLoopback(new URL(connect().config.getCurrentCluster()!.server).hostname)
const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

const skipped = [hasKubernetes && !isNear && 'skipped: Kubernetes is elsewhere', !hasHelm && withHelm].find(Boolean)

describe.skipIf(!isNear || !hasHelm)(skipped || onKubernetes, () => {
  const label = newName('regent-test')
  const failures: unknown[] = []
  const ending = new AbortController()
  let [options, service, kubernetes, operated, server, folder, ca] = [] as unknown as [
    Parameters<typeof reviewer>[1],
    Service,
    Kubernetes,
    TestOperator,
    AdmissionServer,
    string,
    Buffer,
  ]

  const reviewed = () => createNamespace(kubernetes, { [label]: 'yes' })
  const tried = (space: TestNamespace, one: ReturnType<typeof resource>, options = 'dryRun=All') =>
    kubernetes.apply({ ...one, metadata: { ...one.metadata, namespace: space.namespace } }, options)
  const client = (name: string, spec: object) => resource('RealmClient', name, { realmRef: { name: 'acme' }, ...spec })
  const denied = (why: string | RegExp) => ({
    status: 422,
    body: expect.objectContaining({ reason: 'Invalid', message: expect.stringMatching(why) }),
  })

  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
    folder = await mkdtemp(join(tmpdir(), 'regent-admission-'))
    const [certificateFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
    const of = ['-subj', '/CN=regent', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1']
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    spawnSync('openssl', ['req', '-x509', ...key, '-keyout', keyFile, '-out', certificateFile, ...of])
    ca = await readFile(certificateFile)
    const failed = (error: unknown) => failures.push(error)
    options = { cluster: getOperatorCluster(), limitOf: () => undefined, counts: () => true, failed }
    const listening = { host: '127.0.0.1', port: 0, certificateFile, keyFile }
    server = await serveAdmission(reviewer(service, options, ending.signal), listening, failed)
    const values = [...requiredValues, 'admission.enabled=true', `admission.namespaceSelector.matchLabels.${label}=yes`]
    const configuration = renderChart(values, { release: label, templates: ['admission'] })[1]!
    const [hook] = configuration.webhooks as object[]
    const clientConfig = { url: `https://127.0.0.1:${server.port}/admission`, caBundle: ca.toString('base64') }
    await kubernetes.request('POST', HOOKS, { ...configuration, webhooks: [{ ...hook, clientConfig }] })
    // API servers learn of webhooks after a while.
    const probe = await reviewed()
    const slip = resource('Realm', 'probe', {
      groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ nam: 'c' }] }] }],
    })
    await waitUntil(async () => (await tried(probe, slip)).status === 422)
  })
  afterAll(async () => {
    await kubernetes?.request('DELETE', `${HOOKS}/${label}`)
    await server?.close()
    ending.abort()
    await stopTestOperator(kubernetes, operated)
    if (folder) await rm(folder, { recursive: true })
  })

  test('what is wrong in a resource, or refers to nothing, is refused with its path, and nothing is kept', async () => {
    const space = await reviewed()
    const realm = newName()
    const deep = { realm, groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ name: 'c', nam: 'd' }] }] }] }
    expect(await tried(space, resource('Realm', 'acme', deep))).toMatchObject(
      denied(/denied the request: spec\.groups\[0\]\.subGroups\[0\]\.subGroups\[0\]\.nam: .*unknown field nam/),
    )
    const secret = { secretKeyRef: { name: 'shop', key: 'secret' } }
    const shown = { realm, groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ name: secret }] }] }] }
    expect(await tried(space, resource('Realm', 'acme', shown))).toMatchObject(
      denied(/spec\.groups\[0\]\.subGroups\[0\]\.subGroups\[0\]\.name: names a Secret, and is not secret/),
    )
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.waitForReady(resource('Realm', 'acme', {}), 'True')
    const before = await service.read(SYSTEM, realm, listRealmSources)
    const lost = client('portal', { defaultClientScopes: ['no-such-scope'] })
    expect(await tried(space, lost, '')).toMatchObject(denied(/: spec\.defaultClientScopes\[0\]: .*no-such-scope/))
    expect((await space.get(lost)).code).toBe(404)
    expect(await tried(space, client('portal', {}))).toMatchObject({ status: 201 })
    expect(await service.read(SYSTEM, realm, listRealmSources)).toEqual(before)
  })

  test('what was written a moment ago can be referred to', async () => {
    const space = await reviewed()
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    for (let at = 0; at < 5; at++) {
      await space.apply(
        resource('RealmClientScope', `scope-${at}`, { realmRef: { name: 'acme' }, protocol: 'openid-connect' }),
      )
      await space.apply(client(`client-${at}`, { defaultClientScopes: [`scope-${at}`] }))
    }
    await space.waitForReady(client('client-4', {}), 'True')
  })

  test('a realm that its namespace makes in the same moment is not taken for that of somebody else', async () => {
    const space = await reviewed()
    const realm = newName()
    const acme = (suspend: boolean) => resource('Realm', 'acme', { realm, suspend })
    await space.apply(acme(true))
    await space.waitForReady(acme(true), 'False', 'Suspended')
    // Who refuses looks twice, so that it is the second look which must not be mistaken.
    let looks = 0
    const find: Service['findRealms'] = async (names) => {
      if (++looks === 2) {
        await space.apply(acme(false))
        await space.waitForReady(acme(false), 'True')
      }
      return service.findRealms(names)
    }
    const { review } = reviewer({ ...service, findRealms: find }, options, ending.signal)
    const { body } = await tried(space, client('portal', {}))
    const lost = { ...body, spec: { ...body.spec, defaultClientScopes: ['no-such-scope'] } }
    const { refused } = await review({ resource: lost }, ending.signal, createDeadline(60_000, new Error('too late')))
    expect([refused, looks]).toEqual([expect.stringContaining('no-such-scope'), 2])
  })

  test('a namespace that is not admitted, and power that it may not give, are refused', async () => {
    const [owner, team] = [await reviewed(), await reviewed()]
    const realm = newName()
    const acme = (allowedNamespaces: object[]) => resource('Realm', 'acme', { realm, allowedNamespaces })
    const boss = resource('RealmUser', 'boss', { realm, clientRoles: { 'realm-management': ['realm-admin'] } })
    await owner.apply(acme([]))
    expect(await tried(team, boss)).toMatchObject(denied(`${realm} does not admit the namespace ${team.namespace}`))
    await owner.apply(acme([{ name: team.namespace }]))
    expect(await tried(team, boss)).toMatchObject(denied('create user boss: .*you lack realm-admin'))
    const user = resource('RealmUser', 'ann', { realm })
    await team.apply(user)
    await team.waitForReady(user, 'True')
    const { status, warnings } = await tried(owner, acme([]))
    expect([status, warnings]).toEqual([
      200,
      [expect.stringContaining(`RealmUser ${team.namespace}/ann does not count then`)],
    ])
  })

  test('of two that contradict each other the later one is refused, and the first goes on', async () => {
    const space = await reviewed()
    const shop = (resourceName: string, name: string) => client(resourceName, { clientId: 'shop', name })
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    await space.apply(shop('one', 'One'))
    expect(await tried(space, shop('other', 'Other'))).toMatchObject(
      denied(
        `: spec.name: client shop: name is declared differently at spec.name of RealmClient ${space.namespace}/one`,
      ),
    )
    expect(await tried(space, shop('one', 'Another'))).toMatchObject({ status: 200 })
    await space.waitForReady(shop('one', ''), 'True')
  })

  test('what is valid is taken, with warnings: of what still has to come, is advised against, waits, or goes', async () => {
    const space = await reviewed()
    const realm = newName()
    const acme = (clients: string[]) =>
      resource('Realm', 'acme', { realm, guards: { deletions: 0 }, clients: clients.map((clientId) => ({ clientId })) })
    const warned = async (
      one: ReturnType<typeof resource>,
      options?: string,
    ): Promise<KubernetesResponse['warnings']> => {
      const { status, warnings } = await tried(space, one, options)
      expect(status).toBeLessThan(202)
      return warnings
    }
    expect(await warned(client('early', {}))).toEqual([expect.stringContaining('there is no Realm')])
    expect(await warned(acme(['a', 'b']), '')).toEqual([])
    await space.waitForReady(acme([]), 'True')
    const secret = { secretKeyRef: { name: 'shop', key: 'secret' } }
    expect(await warned(client('shop', { secret }))).toEqual([expect.stringContaining('there is no Secret shop')])
    expect(await warned(client('wild', { redirectUris: ['*'] }))).toContainEqual(
      expect.stringMatching(/^spec\.redirectUris\[0\]: .*client wild.*\(/),
    )
    expect(await warned(acme(['a']))).toEqual(['deletes client b', expect.stringMatching(/needs an approval then/)])
  })

  test('what is no review is not answered, nor who does not show a certificate where that is demanded', async () => {
    const asked = async (to: AdmissionServer, options: RequestOptions, body = '') => {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      const at = { host: '127.0.0.1', port: to.port, path: '/admission', ca, method: 'POST', ...options }
      const sent = request(at, ({ statusCode }) => resolve(statusCode!)).on('error', reject)
      sent.end(body)
      return promise
    }
    expect(await asked(server, { method: 'GET' })).toBe(404)
    for (const path of ['/', '//']) expect(await asked(server, { path })).toBe(404)
    expect(await asked(server, {}, '{')).toBe(400)
    expect(await asked(server, {}, JSON.stringify({ kind: 'AdmissionReview' }))).toBe(400)
    expect(await asked(server, {}, ' '.repeat(9 * 1024 * 1024))).toBe(413)
    const [certificateFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
    const files = { certificateFile, keyFile, clientCaFile: certificateFile }
    const nobody = { review: () => Promise.reject(new Error('reviewed')) }
    const guarded = await serveAdmission(nobody, { host: '127.0.0.1', port: 0, ...files }, () => {})
    await expect(asked(guarded, {}, '{')).rejects.toThrow()
    expect(await asked(guarded, { cert: ca, key: await readFile(keyFile) }, '{')).toBe(400)
    await guarded.close()
  })

  test('where nobody answers, the API server takes it, and its status says what is wrong', async () => {
    const space = await reviewed()
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    const lost = client('portal', { defaultClientScopes: ['no-such-scope'] })
    expect(await tried(space, lost)).toMatchObject(denied('no-such-scope'))
    await server.close()
    await space.apply(lost)
    await space.waitForReady(lost, 'False', 'Invalid')
    expect(failures).toEqual([])
  })
})

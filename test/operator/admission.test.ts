// Admission reviews of a real API server: invalid resources are refused with the path of the error, and valid ones get warnings.
import { globSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type RequestOptions, request } from 'node:https'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFiles } from '../../src/http/server/secure-server.ts'
import { createDeadline } from '../../src/lib/timing/deadline.ts'
import { createAdmissionReviewer } from '../../src/operator/admission/admission-reviewer.ts'
import { type AdmissionServer, serveAdmission } from '../../src/operator/admission/admission-server.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listRealmSources } from '../../src/service/sources/source-records.ts'
import {
  hasAdmission,
  onAdmission,
  type ReviewerOptions,
  startAdmission,
  type TestAdmission,
} from '../support/admission-webhook.ts'
import { type KubernetesResponse, type Resource, readResources } from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'
import { getOperatorCluster, resource, setUpOperator, type TestNamespace } from '../support/test-operator.ts'

/** Returns the resources of Kubernetes in the YAML of a page. */
function readExamples(page: string): Resource[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)
  return [...blocks]
    .flatMap(([, text]) => loadAll(text!) as Resource[])
    .filter(({ apiVersion, metadata }) => apiVersion === 'regent.dev/v1alpha1' && metadata)
}

describe.skipIf(!hasAdmission)(onAdmission, () => {
  const setup = setUpOperator()
  const label = newName('regent-test')
  const failures: unknown[] = []
  /** Whether the server's settings permit namespaces to observe realms. */
  let permitsAdoption = false
  const ending = new AbortController()
  let admission: TestAdmission
  let options: ReviewerOptions

  const createReviewedNamespace = () => admission.createReviewedNamespace()
  const tryApply = (space: TestNamespace, candidate: ReturnType<typeof resource>, options = 'dryRun=All') =>
    setup.kubernetes.apply({ ...candidate, metadata: { ...candidate.metadata, namespace: space.namespace } }, options)
  const client = (name: string, spec: object) => resource('RealmClient', name, { realmRef: { name: 'acme' }, ...spec })
  const denial = (message: string | RegExp) => ({
    status: 422,
    body: expect.objectContaining({ reason: 'Invalid', message: expect.stringMatching(message) }),
  })

  beforeAll(async () => {
    options = {
      cluster: getOperatorCluster(),
      findSourcePermissions: () => undefined,
      isAdoptable: () => permitsAdoption,
      scope: {},
      isWatchedNamespace: () => true,
      onError: (error) => failures.push(error),
    }
    admission = await startAdmission(setup, label, options)
  })
  afterAll(async () => {
    ending.abort()
    await admission?.stop()
  })

  test('an invalid field or reference is refused with its path, and nothing is stored', async () => {
    const space = await createReviewedNamespace()
    const realm = newName()
    const unknownField = {
      realm,
      groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ name: 'c', nam: 'd' }] }] }],
    }
    expect(await tryApply(space, resource('Realm', 'acme', unknownField))).toMatchObject(
      denial(/denied the request: spec\.groups\[0\]\.subGroups\[0\]\.subGroups\[0\]\.nam: .*unknown field nam/),
    )
    const secret = { secretKeyRef: { name: 'shop', key: 'secret' } }
    const secretAsName = { realm, groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ name: secret }] }] }] }
    expect(await tryApply(space, resource('Realm', 'acme', secretAsName))).toMatchObject(
      denial(
        /spec\.groups\[0\]\.subGroups\[0\]\.subGroups\[0\]\.name: This field is not secret and cannot refer to a Secret/,
      ),
    )
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.waitForReady(resource('Realm', 'acme', {}), 'True')
    const before = await setup.service.read(SYSTEM, realm, listRealmSources)
    const unresolvedClient = client('portal', { defaultClientScopes: ['no-such-scope'] })
    expect(await tryApply(space, unresolvedClient)).toMatchObject({
      status: 201,
      warnings: [expect.stringMatching(/^spec\.defaultClientScopes\[0\]: .*no-such-scope/)],
    })
    // What another resource of the same apply may bring.
    for (const pending of [
      resource('Realm', 'other', { realm: newName(), browserFlow: 'mine' }),
      resource('RealmUser', 'ann', { realmRef: { name: 'acme' }, groups: ['/staff'] }),
    ])
      expect(await tryApply(space, pending)).toMatchObject({
        status: 201,
        warnings: [expect.stringMatching(/^spec\./)],
      })
    const invalidClient = client('portal', { rootUrl: 'none' })
    expect(await tryApply(space, invalidClient, '')).toMatchObject(denial(/spec\.rootUrl: .*not a valid URL/))
    expect((await space.get(invalidClient)).code).toBe(404)
    expect(await tryApply(space, client('portal', {}))).toMatchObject({ status: 201 })
    expect(await setup.service.read(SYSTEM, realm, listRealmSources)).toEqual(before)
  })

  test('a resource may refer to one that was written a moment before', async () => {
    const space = await createReviewedNamespace()
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    for (let index = 0; index < 5; index++) {
      await space.apply(
        resource('RealmClientScope', `scope-${index}`, { realmRef: { name: 'acme' }, protocol: 'openid-connect' }),
      )
      await space.apply(client(`client-${index}`, { defaultClientScopes: [`scope-${index}`] }))
    }
    await space.waitForReady(client('client-4', {}), 'True')
  })

  test('a realm that its own namespace creates during the review does not count as foreign', async () => {
    const space = await createReviewedNamespace()
    const realm = newName()
    const acme = (suspend: boolean) => resource('Realm', 'acme', { realm, suspend })
    await space.apply(acme(true))
    await space.waitForReady(acme(true), 'False', 'Suspended')
    // A refusal is checked a second time, so the realm is created before the second lookup.
    let looks = 0
    const find: Service['findRealms'] = async (names) => {
      if (++looks === 2) {
        await space.apply(acme(false))
        await space.waitForReady(acme(false), 'True')
      }
      return setup.service.findRealms(names)
    }
    const { review } = createAdmissionReviewer({ ...setup.service, findRealms: find }, options, ending.signal)
    const { body } = await tryApply(space, client('portal', {}))
    const invalidClient = { ...body, spec: { ...body.spec, rootUrl: 'none' } }
    const { refusal: refused } = await review(
      { resource: invalidClient, user: 'ann', isDryRun: true, isDeletion: false },
      ending.signal,
      createDeadline(60_000, new Error('too late')),
    )
    expect([refused, looks]).toEqual([expect.stringContaining('not a valid URL'), 2])
  })

  test('a namespace that is not admitted is refused, and so are admin permissions that it may not grant', async () => {
    const [owner, team] = [await createReviewedNamespace(), await createReviewedNamespace()]
    const realm = newName()
    const acme = (allowedNamespaces: object[]) => resource('Realm', 'acme', { realm, allowedNamespaces })
    const admin = resource('RealmUser', 'root', { realm, clientRoles: { 'realm-management': ['realm-admin'] } })
    await owner.apply(acme([]))
    expect(await tryApply(team, admin)).toMatchObject(denial(`${realm} does not admit the namespace ${team.namespace}`))
    await owner.apply(acme([{ name: team.namespace, kinds: ['RealmUser'] }]))
    expect(await tryApply(team, admin)).toMatchObject(denial('create user root: .*you lack realm-admin'))
    const user = resource('RealmUser', 'ann', { realm })
    await team.apply(user)
    await team.waitForReady(user, 'True')
    const { status, warnings } = await tryApply(owner, acme([]))
    expect([status, warnings]).toEqual([
      200,
      [expect.stringContaining(`RealmUser ${team.namespace}/ann will no longer be applied`)],
    ])
  })

  test('of two conflicting resources the later one is refused, and the first can still be changed', async () => {
    const space = await createReviewedNamespace()
    const shop = (resourceName: string, name: string) => client(resourceName, { clientId: 'shop', name })
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    await space.apply(shop('one', 'One'))
    expect(await tryApply(space, shop('other', 'Other'))).toMatchObject(
      denial(
        `: spec.name: client shop: name is declared differently at spec.name of RealmClient ${space.namespace}/one`,
      ),
    )
    expect(await tryApply(space, shop('one', 'Another'))).toMatchObject({ status: 200 })
    await space.waitForReady(shop('one', ''), 'True')
  })

  test('a valid resource gets warnings of missing references, lint findings, deletions and approvals', async () => {
    const space = await createReviewedNamespace()
    const realm = newName()
    const acme = (clients: string[]) =>
      resource('Realm', 'acme', { realm, guards: { deletions: 0 }, clients: clients.map((clientId) => ({ clientId })) })
    const getWarnings = async (
      candidate: ReturnType<typeof resource>,
      options?: string,
    ): Promise<KubernetesResponse['warnings']> => {
      const { status, warnings } = await tryApply(space, candidate, options)
      expect(status).toBeLessThan(202)
      return warnings
    }
    expect(await getWarnings(client('early', {}))).toEqual([expect.stringMatching(/There is no Realm \S+\. /)])
    expect(await getWarnings(acme(['a', 'b']), '')).toEqual([])
    await space.waitForReady(acme([]), 'True')
    const secret = { secretKeyRef: { name: 'shop', key: 'secret' } }
    expect(await getWarnings(client('shop', { secret }))).toEqual([expect.stringContaining('There is no Secret shop')])
    expect(await getWarnings(client('wild', { redirectUris: ['*'] }))).toContainEqual(
      expect.stringMatching(/^spec\.redirectUris\[0\]: .*client wild.*\(/),
    )
    expect(await getWarnings(acme(['a']))).toEqual(['deletes client b', expect.stringMatching(/will need an approval/)])
  })

  test('a server-side dry run accepts all examples in an empty cluster, each by itself and in any order', async () => {
    const resources = [
      ...globSync('examples/kubernetes/*.yaml').flatMap(readResources),
      ...[...globSync('docs/kubernetes/*.md'), 'docs/permissions.md', 'docs/realm-files.md'].flatMap(readExamples),
    ]
    expect(resources.length).toBeGreaterThan(10)
    const space = await createReviewedNamespace()
    // One of them observes a realm.
    permitsAdoption = true
    for (const { metadata, spec, ...example } of resources.reverse()) {
      // Other tests use the names of the realms.
      const uniqueSpec = example.kind === 'Realm' ? { ...(spec as object), realm: newName() } : spec
      const candidate = { ...example, metadata: { ...metadata, namespace: space.namespace }, spec: uniqueSpec }
      const { status, body } = await setup.kubernetes.apply(candidate, 'dryRun=All')
      expect([status, body.message], `${example.kind} ${metadata.name}`).toEqual([201, undefined])
    }
    permitsAdoption = false
  })

  test('requests that are not reviews are refused, and so are clients without the required certificate', async () => {
    const getStatus = async (target: AdmissionServer, options: RequestOptions, body = '') => {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      const requestOptions = {
        host: '127.0.0.1',
        port: target.port,
        path: '/admission',
        ca: admission.certificate,
        method: 'POST',
        ...options,
      }
      const post = request(requestOptions, ({ statusCode }) => resolve(statusCode!)).on('error', reject)
      post.end(body)
      return promise
    }
    expect(await getStatus(admission.server, { method: 'GET' })).toBe(404)
    for (const path of ['/', '//']) expect(await getStatus(admission.server, { path })).toBe(404)
    expect(await getStatus(admission.server, {}, '{')).toBe(400)
    expect(await getStatus(admission.server, {}, JSON.stringify({ kind: 'AdmissionReview' }))).toBe(400)
    expect(await getStatus(admission.server, {}, ' '.repeat(9 * 1024 * 1024))).toBe(413)
    const { certificateFile, keyFile } = admission.files
    const files = { readCertificate: readFiles(admission.files), clientCaFile: certificateFile }
    const nobody = { review: () => Promise.reject(new Error('reviewed')) }
    const mutualTlsServer = await serveAdmission(nobody, { host: '127.0.0.1', port: 0, ...files }, () => {})
    await expect(getStatus(mutualTlsServer, {}, '{')).rejects.toThrow()
    expect(await getStatus(mutualTlsServer, { cert: admission.certificate, key: await readFile(keyFile) }, '{')).toBe(
      400,
    )
    await mutualTlsServer.close()
  })

  test('without the admission server an invalid resource is accepted, and its status reports the error', async () => {
    const space = await createReviewedNamespace()
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    const invalidClient = client('portal', { rootUrl: 'none' })
    expect(await tryApply(space, invalidClient)).toMatchObject(denial('Root URL is not a valid URL'))
    await admission.server.close()
    await space.apply(invalidClient)
    await space.waitForReady(invalidClient, 'False', 'Invalid')
    expect(failures).toEqual([])
  })
})

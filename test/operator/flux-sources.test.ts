// RealmSources that refer to objects of Flux, on a real API server: their artifacts are applied.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import {
  type ArchiveServer,
  createArchive,
  digestOf,
  type FluxKind,
  fluxObject,
  installFluxKind,
  removeFluxKind,
  serveArchives,
  setFluxStatus,
} from '../support/flux.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { startRepositoryHost } from '../support/repository-host.ts'
import { newName } from '../support/service.ts'
import {
  createNamespace,
  findCondition,
  resource,
  setUpOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  let server: ArchiveServer
  beforeAll(async () => {
    server = await serveArchives()
  })
  afterAll(() => server.close())

  const acme = (spec: object = {}, kind: FluxKind = 'GitRepository') =>
    resource('RealmSource', 'realms', { sourceRef: { kind, name: 'realms' }, retryInterval: '1s', ...spec })
  const getMessage = async (space: TestNamespace) => findCondition(await space.get(acme()), 'Ready')?.message
  const displayName = async (realm: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'realm', realm).catch(() => undefined))?.representation
      .displayName

  /** Serves files as the artifact of an object of Flux, and writes its status. */
  const publish = async (
    space: TestNamespace,
    files: Readonly<Record<string, string>>,
    { revision, kind = 'GitRepository', owner }: { revision: string; kind?: FluxKind; owner?: string },
  ) => {
    const archive = await createArchive(files)
    const place = owner ?? `${kind.toLowerCase()}/${space.namespace}/realms`
    const path = `/${place}/${revision.slice(-8)}.tar.gz`
    server.archives.set(path, archive)
    const artifact = { url: server.url + path, revision, digest: digestOf(archive) }
    await setFluxStatus(setup.kubernetes, space.namespace, { kind, name: 'realms', status: { artifact } })
    return artifact
  }
  const revisionOf = (digit: string) => `main@sha1:${digit.repeat(40)}`

  test('the status names a missing Flux, object or artifact, and a new artifact is applied at once', async () => {
    const [space, realm] = [await createNamespace(setup.kubernetes), newName()]
    await space.apply(acme({ folder: './prod/' }))
    const hasReason = async (reason: string) => findCondition(await space.get(acme()), 'Ready')?.reason === reason
    if (await removeFluxKind(setup.kubernetes, 'GitRepository')) {
      // Other tests may install the definition again.
      await waitUntil(
        async () => (await hasReason('SourceNotServed')) || !(await removeFluxKind(setup.kubernetes, 'GitRepository')),
      )
      const message = 'The cluster does not serve GitRepository (source.toolkit.fluxcd.io/v1).'
      expect(await getMessage(space)).toContain(message)
    }
    await installFluxKind(setup.kubernetes, 'GitRepository')
    await space.waitForReady(acme(), 'False', 'SourceNotFound')
    expect(await getMessage(space)).toBe(`There is no GitRepository realms in the namespace ${space.namespace}.`)

    await space.apply(fluxObject('GitRepository', 'realms', 'https://git.example.com/acme/realms.git'))
    await space.waitForReady(acme(), 'False', 'SourceNotReady')
    const conditions = [{ type: 'Ready', status: 'False', reason: 'GitOperationFailed', message: 'no such host' }]
    const status = { conditions }
    await setFluxStatus(setup.kubernetes, space.namespace, { kind: 'GitRepository', name: 'realms', status })
    await waitUntil(async () => (await getMessage(space))?.endsWith('has no artifact yet: no such host'))

    const createFiles = (name: string) => ({
      'prod/acme.yaml': `realm: ${realm}\ndisplayName: ${name}\n`,
      './dev/acme.yaml': 'not: read\n',
      'README.md': 'Not read either',
    })
    await publish(space, createFiles('One'), { revision: revisionOf('1') })
    const applied = await space.waitForReady(acme(), 'True', 'Applied')
    expect(applied.status).toMatchObject({
      realm,
      lastAppliedRevision: revisionOf('1'),
      shortRevision: `main@sha1:${'1'.repeat(12)}`,
      inventory: { objects: 1 },
    })
    await publish(space, createFiles('Two'), { revision: revisionOf('2') })
    await waitUntil(async () => (await displayName(realm)) === 'Two')
    await waitUntil(async () => (await space.get(acme())).status.lastAppliedRevision === revisionOf('2'))

    await publish(space, { 'prod/acme.yaml': `realm: ${realm}\ndisplyName: Three\n` }, { revision: revisionOf('3') })
    await space.waitForReady(acme(), 'False', 'Invalid')
    expect(await getMessage(space)).toMatch(
      new RegExp(`^Revision ${revisionOf('3')} was not applied: prod/acme.yaml:2:1: .*did you mean displayName\\?`),
    )
    expect(await displayName(realm)).toBe('Two')

    await space.delete(acme())
    await space.waitForDeletion(acme())
    expect(await displayName(realm)).toBeUndefined()
    expect(setup.operator.failures).toEqual([])
  })

  test('an artifact with another digest, and one of another object, are not applied', async () => {
    const [space, realm] = [await createNamespace(setup.kubernetes), newName()]
    await installFluxKind(setup.kubernetes, 'GitRepository')
    await space.apply(fluxObject('GitRepository', 'realms', 'https://git.example.com/acme/realms.git'))
    await space.apply(acme())
    const artifact = await publish(space, { 'acme.yaml': `realm: ${realm}\n` }, { revision: revisionOf('1') })
    await space.waitForReady(acme(), 'True')

    const archive = await createArchive({ 'acme.yaml': `realm: ${realm}\ndisplayName: Changed\n` })
    server.archives.set(new URL(artifact.url).pathname, archive)
    const changed = { ...artifact, revision: revisionOf('2') }
    const [kind, name] = ['GitRepository', 'realms'] as const
    await setFluxStatus(setup.kubernetes, space.namespace, { kind, name, status: { artifact: changed } })
    await space.waitForReady(acme(), 'False', 'Failed')
    expect(await getMessage(space)).toContain(`it does not have the digest ${artifact.digest}`)

    const other = { revision: revisionOf('3'), owner: 'gitrepository/other/realms' }
    await publish(space, { 'acme.yaml': `realm: ${realm}\ndisplayName: Other\n` }, other)
    await space.waitForReady(acme(), 'False', 'SourceNotReady')
    expect(await getMessage(space)).toContain('which is not an address of this object')
    expect(await displayName(realm)).toBeUndefined()
  })

  test('a reference to another namespace is refused, and an OCIRepository is applied', async () => {
    const [space, other, realm] = [
      await createNamespace(setup.kubernetes),
      await createNamespace(setup.kubernetes),
      newName(),
    ]
    await installFluxKind(setup.kubernetes, 'OCIRepository')
    await space.apply(fluxObject('OCIRepository', 'realms', 'oci://registry.example.com/acme/realms'))
    const revision = `latest@sha256:${'a'.repeat(64)}`
    await publish(space, { 'acme.yaml': `realm: ${realm}\n` }, { revision, kind: 'OCIRepository' })
    const reference = { kind: 'OCIRepository', name: 'realms', namespace: space.namespace }
    await other.apply(acme({ sourceRef: reference }))
    await other.waitForReady(acme(), 'False', 'AccessDenied')
    expect(await getMessage(other)).toContain('a RealmSource refers to objects of its own namespace only')
    await space.apply(acme({ sourceRef: reference }))
    await space.waitForReady(acme(), 'True', 'Applied')
    expect((await space.get(acme())).status.lastAppliedRevision).toBe(revision)
  })

  test('the commit of an artifact gets a status in the repository of the GitRepository', async () => {
    const [space, realm] = [await createNamespace(setup.kubernetes), newName()]
    const host = await startRepositoryHost()
    try {
      await installFluxKind(setup.kubernetes, 'GitRepository')
      const token = { name: 'token', labels: { 'regent.dev/secret': 'true' } }
      await space.apply({ apiVersion: 'v1', kind: 'Secret', metadata: token, stringData: { token: 'the-token' } })
      await space.apply(fluxObject('GitRepository', 'realms', 'ssh://git@git.example.com/acme/realms.git'))
      const commitStatus = { provider: 'gitea', secretRef: { name: 'token' }, apiUrl: `${host.url}/api/v1` }
      await space.apply(acme({ commitStatus }))
      await publish(space, { 'acme.yaml': `realm: ${realm}\n` }, { revision: revisionOf('1') })
      const statuses = await host.waitForStatuses('1'.repeat(40), 2)
      expect(statuses.map(({ path, body }) => [path, body.state])).toEqual(
        ['pending', 'success'].map((state) => [`/api/v1/repos/acme/realms/statuses/${'1'.repeat(40)}`, state]),
      )
    } finally {
      host.close()
    }
  })

  test('the API server refuses a RealmSource with both url and sourceRef, or with fields that Flux has itself', async () => {
    const space = await createNamespace(setup.kubernetes)
    const url = 'https://git.example.com/acme/realms.git'
    await expect(space.apply(acme({ url }))).rejects.toThrow('exactly one of url and sourceRef is required')
    await expect(space.apply(acme({ interval: '1m' }))).rejects.toThrow('interval requires a url')
    const commitStatus = { provider: 'github', secretRef: { name: 'token' } }
    await expect(space.apply(acme({ commitStatus }, 'OCIRepository'))).rejects.toThrow('of the kind GitRepository')
  })
})

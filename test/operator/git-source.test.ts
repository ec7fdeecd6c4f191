// RealmSource at a real API server: a repository is followed as its resource says, and the resource says how that stands.

import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { signWebhook } from '../../src/lib/webhook-signature.ts'
import { webhooks } from '../../src/operator/git/webhooks.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listPermittedSources } from '../../src/service/sources/source-records.ts'
import { wakeSources } from '../../src/service/sources/source-status.ts'
import {
  createCertificate,
  createRepository,
  type GitServer,
  hasGit,
  hasSshd,
  type Repository,
  startGitServer,
  startSshServer,
} from '../support/git.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import {
  type AnyResource,
  createNamespace,
  getOperatorCluster,
  resource,
  startTestOperator,
  stopTestOperator,
  type TestNamespace,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

const PASSWORD = 'token-of-the-repository'

describe.skipIf(!hasKubernetes || !hasGit)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  const folders: string[] = []
  const hosts: GitServer[] = []
  const spaces: TestNamespace[] = []
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
  })
  afterAll(async () => {
    delete process.env.GIT_SSL_CAINFO
    await stopTestOperator(kubernetes, operated)
    for (const host of hosts) await host.close()
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  // Each asks its server every second.
  afterEach(async () => {
    for (const space of spaces.splice(0)) await space.delete(resource('RealmSource', 'realms', {}))
  })
  const spaceOfTest = async () => {
    const space = await createNamespace(kubernetes)
    spaces.push(space)
    return space
  }

  /** A repository, and the server that gives it out to whoever has the password. */
  const newRepository = async (): Promise<Repository & { readonly host: GitServer; readonly https: string }> => {
    const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
    folders.push(folder)
    const repository = await createRepository(folder)
    const { file, ...tls } = await createCertificate(folder)
    process.env.GIT_SSL_CAINFO = file
    const host = await startGitServer(folder, 'ci', PASSWORD, tls)
    hosts.push(host)
    return { ...repository, host, https: `https://${host.host}/realms.git` }
  }
  const secret = (name: string, stringData: Record<string, string>, labels = { 'regent.dev/secret': 'true' }) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, labels }, stringData },
  })
  const credentials = { secretRef: { name: 'git' } }
  const loggedIn = (space: TestNamespace) => space.apply(secret('git', { username: 'ci', password: PASSWORD }))
  const source = (url: string, spec: object = {}, annotations = {}) =>
    resource('RealmSource', 'realms', { url, credentials, interval: '1s', ...spec }, { annotations })
  const live = async (realm: string) => (await service.findRealms([realm])).length > 0
  const displayName = async (realm: string) =>
    (await getLiveObject(service, SYSTEM, realm, 'realm', realm).catch(() => undefined))?.representation.displayName
  const clientOf = async (realm: string, name: string) =>
    (await getLiveObject(service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation
  const condition = (one: AnyResource, type: string) =>
    one.status.conditions.find((each: AnyResource) => each.type === type)

  test('a push is live; a broken commit says where it is wrong, and the last good one stays; deleted, all of it goes', async () => {
    const [space, repository, realm] = [await spaceOfTest(), await newRepository(), newName()]
    const stated = (name: string) => ({ 'prod/acme.yaml': `realm: ${realm}\ndisplayName: ${name}\n` })
    const first = await repository.push(stated('One'))
    await loggedIn(space)
    const acme = source(repository.https, { folder: 'prod' })
    await space.apply(acme)
    expect((await space.waitForReady(acme, 'True', 'Applied')).status).toMatchObject({
      realm,
      lastAppliedRevision: first,
      lastAttemptedRevision: first,
      inventory: { objects: 1 },
      plan: { create: 1, delete: 0 },
      history: [{ revision: first, outcome: 'Applied' }],
    })
    const second = await repository.push(stated('Two'))
    await waitUntil(async () => (await displayName(realm)) === 'Two')
    await waitUntil(async () => (await space.get(acme)).status.lastAppliedRevision === second)

    const broken = await repository.push({ 'prod/acme.yaml': `realm: ${realm}\ndisplyName: Three\n` })
    const wrong = await space.waitForReady(acme, 'False', 'Invalid')
    expect(condition(wrong, 'Stalled').message).toMatch(
      new RegExp(`^the commit ${broken} was not applied: prod/acme.yaml:2:1: .*did you mean displayName\\?`),
    )
    expect(wrong.status).toMatchObject({ lastAppliedRevision: second, lastAttemptedRevision: broken })
    expect(await displayName(realm)).toBe('Two')
    const fixed = await repository.push(stated('Four'))
    const { status } = await space.waitForReady(acme, 'True')
    expect(status.history.map(({ revision, outcome }: AnyResource) => [revision, outcome])).toEqual([
      [fixed, 'Applied'],
      [broken, 'Failed'],
      [second, 'Applied'],
      [first, 'Applied'],
    ])
    expect(JSON.stringify(status)).not.toContain(PASSWORD)

    await space.delete(acme)
    await space.waitForDeletion(acme)
    expect(await live(realm)).toBe(false)
    expect(operated.failures).toEqual([])
  })

  test('wrong credentials and a server that does not answer are said, and tried again; only a labelled Secret is read', async () => {
    const [space, repository, realm] = [await spaceOfTest(), await newRepository(), newName()]
    await repository.push({ 'acme.yaml': `realm: ${realm}\n` })
    const acme = source(repository.https, { retryInterval: '1s' })
    await space.apply(acme)
    await space.waitForReady(acme, 'False', 'SecretNotFound')
    await space.apply(secret('git', { username: 'ci', password: PASSWORD }, {} as never))
    expect(condition(await space.get(acme), 'Ready').reason).toBe('SecretNotFound')
    await space.apply(secret('git', { username: 'ci', password: 'a wrong one' }))
    const refused = await space.waitForReady(acme, 'False', 'Failed')
    expect(condition(refused, 'Reconciling').message).toContain('Authentication failed')
    expect(JSON.stringify(refused.status)).not.toContain('a wrong one')
    repository.host.isUp = false
    await loggedIn(space)
    await waitUntil(async () => condition(await space.get(acme), 'Ready').message.includes('503'))
    expect(await live(realm)).toBe(false)
    repository.host.isUp = true
    await space.waitForReady(acme, 'True')
    expect(await live(realm)).toBe(true)
  })

  test('a suspended source is not read, one that is asked for is read now; orphaned, what it stated stays and is nobody’s', async () => {
    const [space, repository, realm] = [await spaceOfTest(), await newRepository(), newName()]
    const stated = (name: string) => repository.push({ 'acme.yaml': `realm: ${realm}\ndisplayName: ${name}\n` })
    await stated('One')
    await loggedIn(space)
    const acme = (spec: object, at = '1') =>
      source(repository.https, { interval: '1h', ...spec }, { 'reconcile.regent.dev/requestedAt': at })
    await space.apply(acme({}))
    await space.waitForReady(acme({}), 'True')
    const second = await stated('Two')
    await space.apply(acme({}, '2'))
    await waitUntil(async () => (await space.get(acme({}))).status.lastHandledReconcileAt === '2')
    expect((await space.get(acme({}))).status.lastAppliedRevision).toBe(second)
    await space.apply(acme({ suspend: true }, '2'))
    const { status } = await space.waitForReady(acme({}), 'False', 'Suspended')
    expect(status.conditions).toHaveLength(1)
    await stated('Three')
    await space.apply(acme({ suspend: true }, '3'))
    await waitUntil(async () => (await space.get(acme({}))).status.lastHandledReconcileAt === '3')
    expect(await displayName(realm)).toBe('Two')
    await space.apply(acme({ deletionPolicy: 'Orphan' }, '3'))
    await waitUntil(async () => (await displayName(realm)) === 'Three')
    await space.delete(acme({}))
    await space.waitForDeletion(acme({}))
    expect(await displayName(realm)).toBe('Three')
    expect((await listPermittedSources(service, SYSTEM)).filter((one) => one.realm === realm)).toEqual([])
  })

  test('a source of another namespace touches a realm only where that admits it, and gives no power there', async () => {
    const [owner, team] = [await spaceOfTest(), await spaceOfTest()]
    const [repository, realm] = [await newRepository(), newName()]
    const acme = (spec: object) => resource('Realm', 'acme', { realm, ...spec })
    const file = (text: string) => repository.push({ 'team.yaml': `realm: ${realm}\n${text}` })
    await owner.apply(acme({}))
    await owner.waitForReady(acme({}), 'True')
    await file('clients: [{ clientId: portal }]\n')
    await loggedIn(team)
    const realms = source(repository.https)
    await team.apply(realms)
    const { status } = await team.waitForReady(realms, 'False', 'Invalid')
    expect(status.conditions[0].message).toContain(
      `team.yaml:1:1: the realm ${realm} does not admit the namespace ${team.namespace}`,
    )
    await owner.apply(acme({ allowedNamespaces: [{ name: team.namespace }] }))
    await team.waitForReady(realms, 'True')
    expect(await clientOf(realm, 'portal')).toBeDefined()
    await file('users: [{ username: boss, clientRoles: { realm-management: [realm-admin] } }]\n')
    const beyond = await team.waitForReady(realms, 'False', 'Invalid')
    expect(condition(beyond, 'Ready').message).toContain('realm-admin')
    await file('clients: [{ clientId: portal }]\n')
    await team.waitForReady(realms, 'True')
    // What is made elsewhere is not its either.
    const made = await service.createRealm(
      SYSTEM,
      { representation: { realm: newName() } },
      async ({ realm }) => realm.name,
    )
    for (const one of [made, 'master']) {
      await repository.push({ 'team.yaml': `realm: ${one}\ndisplayName: Taken\n` })
      const taken = `there is a realm ${one} that ${team.namespace} has not made`
      await waitUntil(async () => condition(await team.get(realms), 'Ready').message.includes(taken))
    }
    expect(await clientOf(realm, 'portal')).toBeDefined()
    await owner.delete(acme({}))
    await owner.waitForDeletion(acme({}))
    expect(await live(realm)).toBe(false)
  })

  test('where signers are named only what one of them has signed is applied', async () => {
    const [space, repository, realm] = [await spaceOfTest(), await newRepository(), newName()]
    const folder = await mkdtemp(join(tmpdir(), 'regent-test-keys-'))
    folders.push(folder)
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
    const key = await readFile(join(folder, 'key.pub'), 'utf8')
    const unsigned = await repository.push({ 'acme.yaml': `realm: ${realm}\n` })
    await loggedIn(space)
    await space.apply(secret('signers', { allowed_signers: `ann@example.com ${key}` }))
    const acme = source(repository.https, { signers: { secretRef: { name: 'signers' } } })
    await space.apply(acme)
    const { status } = await space.waitForReady(acme, 'False', 'Invalid')
    expect(status.conditions[0].message).toContain(
      `commit ${unsigned} is not signed by an allowed signer of the source`,
    )
    expect(await live(realm)).toBe(false)
    const how = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${join(folder, 'key')}`, '-c', 'commit.gpgsign=true']
    await repository.push({}, ...how)
    await space.waitForReady(acme, 'True')
    expect(await live(realm)).toBe(true)
  })

  test.skipIf(!hasSshd)(
    'a repository by ssh is read with the key of its Secret, from a host that it knows',
    async () => {
      const [space, repository, realm] = [await spaceOfTest(), await newRepository(), newName()]
      const folder = await mkdtemp(join(tmpdir(), 'regent-test-ssh-'))
      folders.push(folder)
      const ssh = await startSshServer(folder)
      try {
        await repository.push({ 'acme.yaml': `realm: ${realm}\n` })
        const acme = source(repository.url.replace('file://', `ssh://${ssh.host}`))
        const identity = await readFile(join(folder, 'user-key'), 'utf8')
        await space.apply(secret('git', { identity, known_hosts: '' }))
        await space.apply(acme)
        const { status } = await space.waitForReady(acme, 'False', 'Failed')
        expect(status.conditions[0].message).toContain('Host key verification failed')
        await ssh.trustHost()
        await space.apply(secret('git', { identity, known_hosts: await readFile(join(folder, 'known-hosts'), 'utf8') }))
        await space.waitForReady(acme, 'True')
        expect(await live(realm)).toBe(true)
      } finally {
        ssh.close()
      }
    },
  )

  test('a plan that waits is approved by an annotation; a source waits for those that it depends on', async () => {
    const [space, repository, realm] = [await spaceOfTest(), await newRepository(), newName()]
    const clients = (names: string[]) =>
      repository.push({ 'acme.yaml': JSON.stringify({ realm, clients: names.map((clientId) => ({ clientId })) }) })
    await clients(['a', 'b'])
    await loggedIn(space)
    const acme = (spec: object, annotations = {}) =>
      source(repository.https, { guards: { deletions: 0 }, ...spec }, annotations)
    await space.apply(acme({ dependsOn: ['base'] }))
    await space.waitForReady(acme({}), 'False', 'DependencyNotReady')
    await space.apply(acme({}))
    await space.waitForReady(acme({}), 'True')
    await clients(['a'])
    const { status } = await space.waitForReady(acme({}), 'False', 'PendingApproval')
    expect(condition({ status }, 'Stalled').message).toContain(`kubectl annotate realmsource realms`)
    expect(await clientOf(realm, 'b')).toBeDefined()
    await space.apply(acme({}, { 'regent.dev/approved-plan': status.plan.id }))
    await space.waitForReady(acme({}), 'True')
    expect(await clientOf(realm, 'b')).toBeUndefined()
  })

  test('a push is live at once where the host tells it, signed with the secret of the source', async () => {
    const [space, repository, realm] = [await spaceOfTest(), await newRepository(), newName()]
    const stated = (name: string) => repository.push({ 'acme.yaml': `realm: ${realm}\ndisplayName: ${name}\n` })
    await stated('One')
    await loggedIn(space)
    await space.apply(secret('hook', { secret: 'of the webhook' }))
    const webhook = { secretKeyRef: { name: 'hook', key: 'secret' } }
    const acme = source(repository.https, { interval: '1h', webhook })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    const ending = new AbortController()
    const inCluster = webhooks(
      getOperatorCluster(),
      () => true,
      () => {},
      ending.signal,
    )
    const told = { source: async (name: string) => receiver(await inCluster.secretOf(name), name) }
    const receiver = (own: string | undefined, name: string) =>
      own === undefined ? undefined : { secret: own, pushed: () => void wakeSources(service, [name]) }
    const app = await createServer(service, { basePath: '/v1', webhook: told })
    const post = async (name: string, key: string) => {
      const payload = JSON.stringify({ repository: {} })
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signWebhook(payload, key) }
      const url = `/regent/v1/webhook?source=kubernetes:${space.namespace}/${name}`
      return (await app.inject({ method: 'POST', url, headers, payload })).statusCode
    }
    await stated('Two')
    expect(await post('realms', 'another secret')).toBe(401)
    expect(await post('other', 'of the webhook')).toBe(401)
    expect(await post('realms', 'of the webhook')).toBe(202)
    await waitUntil(async () => (await displayName(realm)) === 'Two')
    ending.abort()
    await app.close()
  })
})

// RealmSource resources on a real API server: the operator follows their repositories, and reports in their status.

import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { signWebhook } from '../../src/lib/webhook-signature.ts'
import { watchWebhookSources } from '../../src/operator/git/git-source-webhooks.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
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
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { startRepositoryHost } from '../support/repository-host.ts'
import { newName } from '../support/service.ts'
import {
  type AnyResource,
  createNamespace,
  getOperatorCluster,
  resource,
  setUpOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

const PASSWORD = 'token-of-the-repository'

describe.skipIf(!hasKubernetes || !hasGit)(onKubernetes, () => {
  const folders: string[] = []
  const hosts: GitServer[] = []
  const spaces: TestNamespace[] = []
  // Runs after the operator has stopped.
  afterAll(async () => {
    delete process.env.GIT_SSL_CAINFO
    for (const host of hosts) await host.close()
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })
  const setup = setUpOperator()

  // Each source polls its server every second.
  afterEach(async () => {
    for (const space of spaces.splice(0)) await space.delete(resource('RealmSource', 'realms', {}))
  })
  const createSourceNamespace = async () => {
    const space = await createNamespace(setup.kubernetes)
    spaces.push(space)
    return space
  }

  /** Creates a repository, and a git server that requires the password. */
  const createServedRepository = async (): Promise<
    Repository & { readonly host: GitServer; readonly https: string }
  > => {
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
  const applyCredentials = (space: TestNamespace) => space.apply(secret('git', { username: 'ci', password: PASSWORD }))
  const source = (url: string, spec: object = {}, annotations = {}) =>
    resource('RealmSource', 'realms', { url, credentials, interval: '1s', ...spec }, { annotations })
  const isLive = async (realm: string) => (await setup.service.findRealms([realm])).length > 0
  const displayName = async (realm: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'realm', realm).catch(() => undefined))?.representation
      .displayName
  const findClient = async (realm: string, name: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation
  const getCondition = (resource: AnyResource, type: string) =>
    resource.status.conditions.find((candidate: AnyResource) => candidate.type === type)

  test('a push is applied, an invalid commit is reported with its position, and deletion of the source deletes its realm', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const createFiles = (name: string) => ({ 'prod/acme.yaml': `realm: ${realm}\ndisplayName: ${name}\n` })
    const first = await repository.push(createFiles('One'))
    await applyCredentials(space)
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
    const second = await repository.push(createFiles('Two'))
    await waitUntil(async () => (await displayName(realm)) === 'Two')
    await waitUntil(async () => (await space.get(acme)).status.lastAppliedRevision === second)

    const invalidCommit = await repository.push({ 'prod/acme.yaml': `realm: ${realm}\ndisplyName: Three\n` })
    const invalid = await space.waitForReady(acme, 'False', 'Invalid')
    expect(getCondition(invalid, 'Stalled').message).toMatch(
      new RegExp(`^Commit ${invalidCommit} was not applied: prod/acme.yaml:2:1: .*did you mean displayName\\?`),
    )
    expect(invalid.status).toMatchObject({ lastAppliedRevision: second, lastAttemptedRevision: invalidCommit })
    expect(await displayName(realm)).toBe('Two')
    const fixed = await repository.push(createFiles('Four'))
    const { status } = await space.waitForReady(acme, 'True')
    expect(status.history.map(({ revision, outcome }: AnyResource) => [revision, outcome])).toEqual([
      [fixed, 'Applied'],
      [invalidCommit, 'Failed'],
      [second, 'Applied'],
      [first, 'Applied'],
    ])
    expect(JSON.stringify(status)).not.toContain(PASSWORD)

    await space.delete(acme)
    await space.waitForDeletion(acme)
    expect(await isLive(realm)).toBe(false)
    expect(setup.operator.failures).toEqual([])
  })

  test('a missing, unlabelled or wrong Secret and an unavailable server are reported, and retried', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    await repository.push({ 'acme.yaml': `realm: ${realm}\n` })
    const acme = source(repository.https, { retryInterval: '1s' })
    await space.apply(acme)
    await space.waitForReady(acme, 'False', 'SecretNotFound')
    await space.apply(secret('git', { username: 'ci', password: PASSWORD }, {} as never))
    expect(getCondition(await space.get(acme), 'Ready').reason).toBe('SecretNotFound')
    await space.apply(secret('git', { username: 'ci', password: 'wrong-password' }))
    const refused = await space.waitForReady(acme, 'False', 'Failed')
    expect(getCondition(refused, 'Reconciling').message).toContain('Authentication failed')
    expect(JSON.stringify(refused.status)).not.toContain('wrong-password')
    repository.host.isUp = false
    await applyCredentials(space)
    await waitUntil(async () => getCondition(await space.get(acme), 'Ready').message.includes('503'))
    expect(await isLive(realm)).toBe(false)
    repository.host.isUp = true
    await space.waitForReady(acme, 'True')
    expect(await isLive(realm)).toBe(true)
  })

  test('a server with a certificate of a private CA is refused, unless certSecretRef has the certificate of the CA', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    await repository.push({ 'acme.yaml': `realm: ${realm}\n` })
    const authority = await readFile(process.env.GIT_SSL_CAINFO!, 'utf8')
    delete process.env.GIT_SSL_CAINFO
    await applyCredentials(space)
    const acme = source(repository.https, { retryInterval: '1s' })
    await space.apply(acme)
    const refused = await space.waitForReady(acme, 'False', 'Failed')
    expect(getCondition(refused, 'Ready').message).toContain('certificate')
    await space.apply(secret('authority', { 'ca.crt': authority }))
    await space.apply(source(repository.https, { retryInterval: '1s', certSecretRef: { name: 'authority' } }))
    await space.waitForReady(acme, 'True')
    expect(await isLive(realm)).toBe(true)
  })

  test('a Secret with a GitHub App, named as Flux does, gives access to the repository and to the status of its commits', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const github = await startRepositoryHost()
    try {
      github.token = PASSWORD
      const sha = await repository.push({ 'acme.yaml': `realm: ${realm}\n` })
      const app = { githubAppID: '4711', githubAppInstallationID: '42', githubAppBaseURL: `${github.url}/api/v3` }
      await space.apply(secret('git', app))
      const commitStatus = { provider: 'github', apiUrl: `${github.url}/api/v3` }
      const acme = source(repository.https, { commitStatus, retryInterval: '1s' })
      await space.apply(acme)
      const missing = await space.waitForReady(acme, 'False', 'SecretNotFound')
      expect(getCondition(missing, 'Ready').message).toContain('githubAppPrivateKey')
      await space.apply(secret('git', { ...app, githubAppPrivateKey: github.privateKey }))
      // The git server accepts the user ci only, and GitHub's user for installation tokens is another one.
      const refused = await space.waitForReady(acme, 'False', 'Failed')
      expect(getCondition(refused, 'Ready').message).toContain('Authentication failed')
      repository.host.user = 'x-access-token'
      await space.waitForReady(acme, 'True')
      const statuses = await github.waitForStatuses(sha, 2)
      expect(statuses.map(({ body }) => [body.state, body.context])).toEqual(
        ['pending', 'success'].map((state) => [state, `regent/${space.namespace}/realms`]),
      )
      expect(statuses[0]).toMatchObject({
        path: `/api/v3/repos/realms/statuses/${sha}`,
        headers: { authorization: `Bearer ${PASSWORD}` },
      })
      expect(github.tokenRequests[0]).toMatchObject({
        path: '/api/v3/app/installations/42/access_tokens',
        claims: { iss: '4711' },
      })
      expect(JSON.stringify(await space.get(acme))).not.toContain(PASSWORD)
      await space.delete(acme)
      await space.waitForDeletion(acme)
    } finally {
      github.close()
    }
  })

  test('the status of commits is set with the token of its own Secret, which is required', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const gitlab = await startRepositoryHost()
    try {
      const sha = await repository.push({ 'acme.yaml': `realm: ${realm}\ndisplyName: Acme\n` })
      await applyCredentials(space)
      const commitStatus = { provider: 'gitlab', apiUrl: `${gitlab.url}/api/v4`, context: 'identity' }
      const acme = (fields: object) => source(repository.https, { commitStatus: { ...commitStatus, ...fields } })
      await space.apply(acme({}))
      const invalid = await space.waitForReady(acme({}), 'False', 'Invalid')
      expect(getCondition(invalid, 'Ready').message).toBe('commitStatus requires a token that may set statuses')
      await space.apply(acme({ secretRef: { name: 'token' } }))
      await space.waitForReady(acme({}), 'False', 'SecretNotFound')
      await space.apply(secret('token', { token: 'token-that-sets-statuses' }))
      const statuses = await gitlab.waitForStatuses(sha, 2)
      expect(statuses[1]).toMatchObject({
        path: `/api/v4/projects/realms/statuses/${sha}`,
        headers: { 'private-token': 'token-that-sets-statuses' },
        body: { state: 'failed', context: 'identity', description: expect.stringContaining('acme.yaml:2:1: ') },
      })
    } finally {
      gitlab.close()
    }
  })

  test('suspend stops a source, requestedAt reads it at once, and deletionPolicy Orphan retains its realm unmanaged', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const pushRealm = (name: string) => repository.push({ 'acme.yaml': `realm: ${realm}\ndisplayName: ${name}\n` })
    await pushRealm('One')
    await applyCredentials(space)
    const acme = (spec: object, at = '1') =>
      source(repository.https, { interval: '720h', ...spec }, { 'reconcile.regent.dev/requestedAt': at })
    await space.apply(acme({}))
    await space.waitForReady(acme({}), 'True')
    // The interval is longer than the longest timer.
    const requests = repository.host.countRequests()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(repository.host.countRequests()).toBe(requests)
    const second = await pushRealm('Two')
    await space.apply(acme({}, '2'))
    await waitUntil(async () => (await space.get(acme({}))).status.lastHandledReconcileAt === '2')
    expect((await space.get(acme({}))).status.lastAppliedRevision).toBe(second)
    await space.apply(acme({ suspend: true }, '2'))
    await waitUntil(async () => getCondition(await space.get(acme({})), 'Suspended')?.status === 'True')
    await space.waitForReady(acme({}), 'True')
    await pushRealm('Three')
    await space.apply(acme({ suspend: true }, '3'))
    await waitUntil(async () => (await space.get(acme({}))).status.lastHandledReconcileAt === '3')
    expect(await displayName(realm)).toBe('Two')
    await space.apply(acme({ deletionPolicy: 'Orphan' }, '3'))
    await waitUntil(async () => (await displayName(realm)) === 'Three')
    await space.delete(acme({}))
    await space.waitForDeletion(acme({}))
    expect(await displayName(realm)).toBe('Three')
    expect(
      (await listPermittedSources(setup.service, SYSTEM)).filter((candidate) => candidate.realm === realm),
    ).toEqual([])
  })

  test('a source of another namespace must be admitted by the realm, and cannot grant admin permissions there', async () => {
    const [owner, team] = [await createSourceNamespace(), await createSourceNamespace()]
    const [repository, realm] = [await createServedRepository(), newName()]
    const acme = (spec: object) => resource('Realm', 'acme', { realm, ...spec })
    const pushFile = (text: string) => repository.push({ 'team.yaml': `realm: ${realm}\n${text}` })
    await owner.apply(acme({}))
    await owner.waitForReady(acme({}), 'True')
    await pushFile('clients: [{ clientId: portal }]\n')
    await applyCredentials(team)
    const realms = source(repository.https)
    await team.apply(realms)
    const { status } = await team.waitForReady(realms, 'False', 'Invalid')
    expect(status.conditions[0].message).toContain(
      `team.yaml:1:1: the realm ${realm} does not admit the namespace ${team.namespace}`,
    )
    await owner.apply(acme({ allowedNamespaces: [{ name: team.namespace, kinds: ['RealmClient', 'RealmUser'] }] }))
    await team.waitForReady(realms, 'True')
    expect(await findClient(realm, 'portal')).toBeDefined()
    await pushFile('users: [{ username: root, clientRoles: { realm-management: [realm-admin] } }]\n')
    const refused = await team.waitForReady(realms, 'False', 'Invalid')
    expect(getCondition(refused, 'Ready').message).toContain('realm-admin')
    await pushFile('clients: [{ clientId: portal }]\n')
    await team.waitForReady(realms, 'True')
    // Realms that no resource created are foreign too.
    const foreignRealm = await setup.service.createRealm(
      SYSTEM,
      { representation: { realm: newName() } },
      async ({ realm }) => realm.name,
    )
    for (const realmName of [foreignRealm, 'master']) {
      await repository.push({ 'team.yaml': `realm: ${realmName}\ndisplayName: Taken\n` })
      const message = `the realm ${realmName} exists and was not created by the namespace ${team.namespace}`
      await waitUntil(async () => getCondition(await team.get(realms), 'Ready').message.includes(message))
    }
    expect(await findClient(realm, 'portal')).toBeDefined()
    await owner.delete(acme({}))
    await owner.waitForDeletion(acme({}))
    expect(await isLive(realm)).toBe(false)
  })

  test('documents that SOPS has encrypted are decrypted with the keys of a Secret that end with .agekey', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const recorded = join(import.meta.dirname, '..', 'realm-file', 'encrypted')
    const [text, ...keys] = await Promise.all(
      ['mac-only.yaml', 'key-1.txt', 'key-2.txt'].map((name) => readFile(join(recorded, name), 'utf8')),
    )
    await repository.push({ 'realm.yaml': text!.replace('realm: shop', `realm: ${realm}`) })
    await applyCredentials(space)
    await space.apply(source(repository.https, {}))
    const refused = await space.waitForReady(source(repository.https, {}), 'False', 'Invalid')
    expect(getCondition(refused, 'Ready').message).toContain('realm.yaml:22:1: the file is encrypted for age1')
    const encrypted = source(repository.https, { decryption: { provider: 'sops', secretRef: { name: 'sops-age' } } })
    await space.apply(encrypted)
    const missing = await space.waitForReady(encrypted, 'False', 'SecretNotFound')
    expect(getCondition(missing, 'Ready').message).toContain('no Secret sops-age with the key *.agekey')
    await space.apply(secret('sops-age', { 'other.agekey': keys[1]!, note: 'no key' }))
    await space.waitForReady(encrypted, 'False', 'Invalid')
    await space.apply(secret('sops-age', { 'other.agekey': keys[1]!, 'team.agekey': keys[0]!, note: 'no key' }))
    const { status } = await space.waitForReady(encrypted, 'True')
    expect(JSON.stringify(status)).not.toMatch(/s3cret|AGE-SECRET/)
    expect(await isLive(realm)).toBe(true)
  })

  test('with signers, only commits signed by one of them are applied', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const folder = await mkdtemp(join(tmpdir(), 'regent-test-keys-'))
    folders.push(folder)
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
    const key = await readFile(join(folder, 'key.pub'), 'utf8')
    const unsigned = await repository.push({ 'acme.yaml': `realm: ${realm}\n` })
    await applyCredentials(space)
    await space.apply(secret('signers', { allowed_signers: `ann@example.com ${key}` }))
    const acme = source(repository.https, { signers: { secretRef: { name: 'signers' } } })
    await space.apply(acme)
    const { status } = await space.waitForReady(acme, 'False', 'Invalid')
    expect(status.conditions[0].message).toContain(
      `commit ${unsigned} is not signed by an allowed signer of the source`,
    )
    expect(await isLive(realm)).toBe(false)
    const signing = [
      '-c',
      'gpg.format=ssh',
      '-c',
      `user.signingkey=${join(folder, 'key')}`,
      '-c',
      'commit.gpgsign=true',
    ]
    await repository.push({}, ...signing)
    await space.waitForReady(acme, 'True')
    expect(await isLive(realm)).toBe(true)
  })

  test.skipIf(!hasSshd)(
    'a repository is read over ssh with the key of its Secret, if the Secret has the host key',
    async () => {
      const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
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
        expect(await isLive(realm)).toBe(true)
      } finally {
        ssh.close()
      }
    },
  )

  test('a source waits for its dependencies, and an annotation approves its pending plan', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const clients = (names: string[]) =>
      repository.push({ 'acme.yaml': JSON.stringify({ realm, clients: names.map((clientId) => ({ clientId })) }) })
    await clients(['a', 'b'])
    await applyCredentials(space)
    const acme = (spec: object, annotations = {}) =>
      source(repository.https, { guards: { deletions: 0 }, ...spec }, annotations)
    await space.apply(acme({ dependsOn: ['base'] }))
    await space.waitForReady(acme({}), 'False', 'DependencyNotReady')
    await space.apply(acme({}))
    await space.waitForReady(acme({}), 'True')
    await clients(['a'])
    const { status } = await space.waitForReady(acme({}), 'False', 'PendingApproval')
    expect(getCondition({ status }, 'Stalled').message).toContain(
      `kubectl annotate --overwrite -n ${space.namespace} realmsource realms`,
    )
    expect(await findClient(realm, 'b')).toBeDefined()
    await space.apply(acme({}, { 'regent.dev/approved-plan': status.plan.id }))
    await space.waitForReady(acme({}), 'True')
    expect(await findClient(realm, 'b')).toBeUndefined()
  })

  test('a webhook signed with the secret of the source applies a push at once', async () => {
    const [space, repository, realm] = [await createSourceNamespace(), await createServedRepository(), newName()]
    const pushRealm = (name: string) => repository.push({ 'acme.yaml': `realm: ${realm}\ndisplayName: ${name}\n` })
    await pushRealm('One')
    await applyCredentials(space)
    await space.apply(secret('hook', { secret: 'of the webhook' }))
    const webhook = { secretKeyRef: { name: 'hook', key: 'secret' } }
    const acme = source(repository.https, { interval: '1h', webhook })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    const ending = new AbortController()
    const inCluster = watchWebhookSources(getOperatorCluster(), {
      scope: {},
      isWatchedNamespace: () => true,
      onError: () => {},
      signal: ending.signal,
    })
    const receivers = { source: async (name: string) => createReceiver(await inCluster.findSecret(name), name) }
    const createReceiver = (secret: string | undefined, name: string) =>
      secret === undefined ? undefined : { secret, pushed: () => void wakeSources(setup.service, [name]) }
    const app = await createServer(setup.service, { basePath: '/v1', webhook: receivers })
    const post = async (name: string, key: string) => {
      const payload = JSON.stringify({ repository: {} })
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signWebhook(payload, key) }
      const url = `/regent/v1/webhook?source=kubernetes:${space.namespace}/${name}`
      return (await app.inject({ method: 'POST', url, headers, payload })).statusCode
    }
    await pushRealm('Two')
    expect(await post('realms', 'another secret')).toBe(401)
    expect(await post('other', 'of the webhook')).toBe(401)
    expect(await post('realms', 'of the webhook')).toBe(202)
    await waitUntil(async () => (await displayName(realm)) === 'Two')
    ending.abort()
    await app.close()
  })
})

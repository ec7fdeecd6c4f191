// The same document is refused alike as a resource without admission, as a document of a RealmSource, and by REST.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCertificate, createRepository, type GitServer, hasGit, startGitServer } from '../support/git.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import {
  createNamespace,
  findCondition,
  resource,
  setUpOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

const PASSWORD = 'token-of-the-repository'
const claim = { protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' }

/** Documents that are refused: kind, name and spec, and the reason. */
const DOCUMENTS: readonly (readonly [kind: string, name: string, spec: object, reason: string])[] = [
  ['RealmFlow', 'browser', { topLevel: true }, 'may not declare RealmFlow in realm {realm}: kind not permitted'],
  ['RealmRequiredAction', 'verify', { alias: 'VERIFY_EMAIL', enabled: false }, 'kind not permitted'],
  ['RealmLocalization', 'en', { texts: { a: 'b' } }, 'kind not permitted'],
  ['RealmClient', 'other', {}, 'name not permitted. Permitted names: team-*, /team-*, shop, account-console, /staff'],
  [
    'RealmClient',
    'account-console',
    { redirectUris: ['https://evil.example/*'] },
    'client account-console is built in',
  ],
  ['RealmClient', 'shop', { redirectUris: ['https://evil.example/*'] }, 'client shop is declared by'],
  ['RealmClient', 'team-shop', { renamedFrom: 'shop' }, 'client shop is declared by'],
  ['RealmClient', 'team-live', {}, 'client team-live exists, and this source did not create it'],
  ['RealmProtocolMapper', 'evil', { client: 'shop', ...claim }, 'client shop is declared by'],
  ['RealmRole', 'extra', { client: 'shop' }, 'client shop is declared by'],
  ['RealmGroup', 'staff', { attributes: { a: ['b'] } }, 'group /staff is declared by'],
  ['RealmGroup', 'team-staff', { realmRoles: ['staff'] }, 'may not grant role staff in realm {realm}'],
  ['RealmGroup', 'team-admins', { clientRoles: { shop: ['admin'] } }, 'may not grant role admin of client shop'],
  ['RealmUser', 'team-eve', { groups: ['/staff'] }, 'may not add to group /staff, which it does not declare,'],
  ['RealmClient', 'team-admin', { clientId: 'regent-permissions' }, 'name not permitted'],
  ['RealmClient', 'team-saml', { protocol: 'saml', baseUrl: 'data:text/html,x' }, 'illegal scheme'],
  ['RealmClient', 'team-uri', { rootUrl: 'javascript:alert(1)' }, 'illegal scheme'],
  [
    'RealmUser',
    'team-admin',
    { clientRoles: { 'realm-management': ['realm-admin'] } },
    'This grants more admin permissions than you have: you lack realm-admin of {realm}',
  ],
]

describe.skipIf(!hasKubernetes || !hasGit)(onKubernetes, () => {
  let folder: string
  let host: GitServer
  // Runs after the operator has stopped.
  afterAll(async () => {
    delete process.env.GIT_SSL_CAINFO
    await host?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })
  const setup = setUpOperator()
  let owner: TestNamespace
  let team: TestNamespace
  let git: TestNamespace
  const realm = newName()
  let repository: Awaited<ReturnType<typeof createRepository>>
  const source = () =>
    resource('RealmSource', 'realms', {
      ...{ url: `https://${host.host}/realms.git`, interval: '1s', credentials: { secretRef: { name: 'git' } } },
    })

  beforeAll(async () => {
    owner = await createNamespace(setup.kubernetes)
    team = await createNamespace(setup.kubernetes)
    git = await createNamespace(setup.kubernetes)
    const names = ['team-*', '/team-*', 'shop', 'account-console', '/staff']
    const kinds = ['RealmClient', 'RealmGroup', 'RealmUser']
    const acme = resource('Realm', 'acme', {
      ...{ realm, enabled: true, clients: [{ clientId: 'shop' }], groups: [{ name: 'staff' }] },
      roles: { realm: [{ name: 'staff' }], client: { shop: [{ name: 'admin' }] } },
      allowedNamespaces: [team, git].map(({ namespace }) => ({ name: namespace, kinds, names })),
    })
    await owner.apply(acme)
    await owner.waitForReady(acme, 'True')
    await (await testServer()).create(`/admin/realms/${realm}/clients`, { clientId: 'team-live' })
    folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
    repository = await createRepository(folder)
    const { file, ...tls } = await createCertificate(folder)
    process.env.GIT_SSL_CAINFO = file
    host = await startGitServer(folder, 'ci', PASSWORD, tls)
    await git.apply({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git', labels: { 'regent.dev/secret': 'true' } } },
      stringData: { username: 'ci', password: PASSWORD },
    })
    await repository.push({ 'acme.yaml': JSON.stringify(toDocument('RealmClient', 'team-first', {})) })
    await git.apply(source())
    await git.waitForReady(source(), 'True')
  })
  afterAll(async () => {
    await git?.delete(source())
  })

  const toDocument = (kind: string, name: string, spec: object) => resource(kind, name, { realm, ...spec })
  /** Returns the reason in a message: the part after the name of the source, or the expected text if the message contains it. */
  const toReason = (message: string, reason: string) => {
    const refusal = /may not [^;\n]*/.exec(message)?.[0].replace(/\.$/, '')
    return refusal ?? (message.includes(reason) ? reason : message)
  }

  test.each(DOCUMENTS)('%s %s is refused alike by all interfaces: %j', async (kind, name, spec, expected) => {
    const document = toDocument(kind, name, spec)
    const reason = expected.replace('{realm}', realm)
    const commit = await repository.push({ 'acme.yaml': JSON.stringify(document) })
    await team.apply(document)
    const { status } = await team.waitForReady(document, 'False')
    const byResource = toReason(findCondition({ status }, 'Ready').message, reason)
    const { call } = await testServer()
    const files = [{ file: 'acme.yaml', text: JSON.stringify(document), values: [] }]
    const body = { name: `kubernetes:${team.namespace}`, files }
    const { body: refusal } = await call('POST', '/regent/v1/apply', { body })
    const byApply = refusal.problems?.[0].message ?? refusal.errorMessage
    let message = ''
    await waitUntil(async () => {
      message = findCondition(await git.get(source()), 'Ready')?.message ?? ''
      return message.includes(`Commit ${commit} was not applied`)
    })
    expect([byResource, toReason(byApply, reason), toReason(message, reason)]).toEqual([
      expect.stringContaining(reason),
      byResource,
      byResource,
    ])
    await team.delete(document)
    await team.waitForDeletion(document)
  })
})

// Formats of documents: Regent’s resources, exports and imports of Keycloak, and folders with other Kubernetes manifests.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { DocumentError } from '../../src/realm-file/yaml/problem.ts'
import { readFileSource } from '../../src/reconcile/read/file-source.ts'
import { deserializeSource } from '../../src/reconcile/read/source-text.ts'
import type { RunOutcome } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, planText } from '../support/sources.ts'

const { service } = await testService()
const folder = await mkdtemp(join(tmpdir(), 'formats-'))
afterAll(() => rm(folder, { recursive: true }))

type Files = Record<string, string | object>

/** Writes files into a folder, and returns it as a serialized and deserialized source. */
async function createFolderSource(files: Files, unknownFields?: 'warn', env = {}) {
  const root = await mkdtemp(join(folder, 'source-'))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
  const {
    documents: _,
    warnings: __,
    ...text
  } = await readFileSource(root, { name: root, env, isAllowed: () => true, unknownFields })
  return deserializeSource(JSON.parse(JSON.stringify(text).replaceAll(`${root}/`, '')))
}

const apply = async (files: Files, unknownFields?: 'warn', env = {}) =>
  applySource(service, await createFolderSource(files, unknownFields, env))
const exportNamed = (realm: string) => service.read(SYSTEM, realm, (context) => exportRealm(context, { secrets: true }))
const listNotes = ({ notes, realms }: RunOutcome) =>
  [...notes, ...realms.flatMap(({ plan }) => plan.notes)].map(
    ({ message, position }) => `${position?.file}:${position?.line}:${position?.column}: ${message}`,
  )

/** Applies files that are refused, and returns the lines of the error. */
async function getRefusal(files: Files): Promise<string[]> {
  const error: unknown = await apply(files).catch((reason: unknown) => reason)
  if (!(error instanceof DocumentError)) throw error
  return error.message.replaceAll(/\/\S*\/source-\w+\//g, '').split('\n')
}

const resource = (kind: string, spec: string[], name = 'x') =>
  [
    'apiVersion: regent.dev/v1alpha1',
    `kind: ${kind}`,
    `metadata: {name: ${name}}`,
    'spec:',
    ...spec.map((line) => `  ${line}`),
  ].join('\n')

describe('resources', () => {
  test('a realm and its objects may each be a resource, in several files', async () => {
    const realm = newName()
    const outcome = await apply({
      'realm.yaml': resource('Realm', ['enabled: true', 'displayName: Shop'], realm),
      'apps/client.yaml': resource('RealmClient', [`realmRef: {name: ${realm}}`, 'publicClient: true'], 'web'),
      'apps/roles.yaml': [
        resource('RealmRole', [`realm: ${realm}`, 'client: web', 'name: buyer']),
        resource('RealmRole', [`realm: ${realm}`, 'name: staff']),
        resource(
          'RealmProtocolMapper',
          [`realm: ${realm}`, 'client: web', 'protocolMapper: oidc-address-mapper'],
          'address',
        ),
        resource('RealmIdentityProvider', [`realm: ${realm}`, 'providerId: oidc'], 'corp'),
        resource('RealmIdentityProviderMapper', [`realm: ${realm}`, 'identityProviderAlias: corp'], 'email'),
        resource('RealmFlow', [`realm: ${realm}`, 'alias: our flow', 'topLevel: true']),
        resource('RealmAuthenticationFlow', [`realm: ${realm}`, 'alias: their flow']),
      ].join('\n---\n'),
    })
    const [{ plan }] = outcome.realms as [RunOutcome['realms'][number]]
    expect(
      plan.actions.map(({ kind, key, position }) => `${kind} ${key.join('/')} ${position?.file}:${position?.line}`),
    ).toEqual([
      'client web apps/client.yaml:1',
      'role client/web/buyer apps/roles.yaml:1',
      'role staff apps/roles.yaml:9',
      'protocolMapper client/web/address apps/roles.yaml:16',
      'identityProvider corp apps/roles.yaml:24',
      'identityProviderMapper identityProvider/corp/email apps/roles.yaml:31',
      'authenticationFlow our flow apps/roles.yaml:38',
      'authenticationFlow their flow apps/roles.yaml:46',
      `realm ${realm} realm.yaml:1`,
    ])
    expect(await exportNamed(realm)).toMatchObject({
      displayName: 'Shop',
      roles: {
        realm: expect.arrayContaining([expect.objectContaining({ name: 'staff' })]),
        client: { web: [{ name: 'buyer' }] },
      },
    })
  })

  test('a group with subgroups, a user and a component may be resources', async () => {
    const realm = newName()
    await apply({
      'a.yaml': [
        resource('Realm', ['enabled: true'], realm),
        resource('RealmGroup', [`realm: ${realm}`, 'subGroups: [{name: night, description: Late}]'], 'staff'),
        resource('RealmUser', [`realm: ${realm}`, 'groups: [/staff/night]'], 'ann'),
        resource(
          'RealmComponent',
          [`realm: ${realm}`, 'providerType: org.keycloak.keys.KeyProvider', 'providerId: hmac-generated'],
          'ours',
        ),
      ].join('\n---\n'),
    })
    expect(await exportNamed(realm)).toMatchObject({
      groups: [{ name: 'staff', subGroups: [{ name: 'night', description: 'Late' }] }],
      users: [{ username: 'ann', groups: ['/staff/night'] }],
      components: { 'org.keycloak.keys.KeyProvider': [{ name: 'ours', providerId: 'hmac-generated' }] },
    })
  })

  test('a resource of a group names it by its path, whose ancestors other resources declare in any order', async () => {
    const realm = newName()
    const group = (kind: string, path: string, ...lines: string[]) =>
      resource(kind, [`realm: ${realm}`, `path: ${path}`, ...lines], path.replaceAll('/', '-').slice(1))
    await apply({
      'a.yaml': [
        resource('Realm', ['organizationsEnabled: true'], realm),
        resource('RealmOrganization', [`realm: ${realm}`, 'alias: acme', 'name: Acme'], 'acme'),
        group('RealmGroup', '/staff/night', 'description: Late'),
        group('RealmOrganizationGroup', '/staff/night', 'organization: acme', 'description: Late'),
        group('RealmGroup', '/staff'),
        group('RealmOrganizationGroup', '/staff', 'organization: acme'),
      ].join('\n---\n'),
    })
    const groups = [{ name: 'staff', subGroups: [{ name: 'night', description: 'Late' }] }]
    expect(await exportNamed(realm)).toMatchObject({ groups, organizations: [{ groups }] })
    const night = { 'a.yaml': group('RealmGroup', '/day/night') }
    await expect(apply(night)).rejects.toThrow('There is no group /day')
    expect(await getRefusal({ 'a.yaml': group('RealmGroup', 'night') })).toEqual([
      'a.yaml:6:3: RealmGroup: spec.path must be a path such as /staff/night',
    ])
  })

  test('every kind has a resource, whose name contains the name of the kind', async () => {
    const [message] = await getRefusal({ 'a.yaml': resource('RealmClints', []) })
    expect(message).toBe('a.yaml:2:1: unknown kind RealmClints; did you mean RealmClient?')
    const [all] = await getRefusal({ 'a.yaml': resource('Nonsense', []) })
    for (const { name } of Object.values(kinds)) expect(all?.toLowerCase()).toContain(name.toLowerCase())
  })

  test('the name of a realm may differ from the name of its resource, which references use', async () => {
    const realm = newName()
    await apply({
      'a.yaml': [
        resource('RealmClient', ['realmRef: {name: production}', 'clientId: web']),
        resource('Realm', [`realm: ${realm}`], 'production'),
      ].join('\n---\n'),
    })
    expect(await exportNamed(realm)).toMatchObject({
      clients: expect.arrayContaining([expect.objectContaining({ clientId: 'web' })]),
    })
  })

  test('a reference to a realm in another namespace contains the namespace', async () => {
    const [first, second] = [newName(), newName()]
    const createRealmResource = (namespace: string, realm: string) =>
      resource('Realm', [`realm: ${realm}`], 'main').replace('{name: main}', `{name: main, namespace: ${namespace}}`)
    const createRoleResource = (namespace: string, ref: string) =>
      resource('RealmRole', [`realmRef: ${ref}`], 'staff').replace(
        '{name: staff}',
        `{name: staff, namespace: ${namespace}}`,
      )
    await apply({
      'a.yaml': [
        createRealmResource('a', first),
        createRealmResource('b', second),
        createRoleResource('a', '{name: main, namespace: b}'),
      ].join('\n---\n'),
    })
    const listRoles = async (realm: string) => (await exportNamed(realm)).roles ?? null
    expect(await listRoles(second)).toMatchObject({ realm: [{ name: 'staff' }] })
    expect(await listRoles(first)).toBeNull()
  })

  test('fields for the Kubernetes operator are validated, and ignored with a note', async () => {
    const realm = newName()
    const files = (interval: string) => ({
      'a.yaml': [
        resource('Realm', [`interval: ${interval}`, 'deletionPolicy: Orphan', 'enabled: true'], realm),
        resource('RealmRole', [`realmRef: {name: ${realm}}`, 'deletionPolicy: Delete'], 'staff'),
      ].join('\n---\n'),
    })
    expect(await getRefusal(files('often'))).toEqual([
      'a.yaml:5:3: Realm: interval must be a duration such as 30s, 5m or 1h30m, or 0s for none',
    ])
    expect(listNotes(await apply(files('1h30m')))).toEqual([
      'a.yaml:5:3: interval of Realm is ignored, since it only applies in Kubernetes',
      'a.yaml:6:3: deletionPolicy of 2 resources is ignored, since it only applies in Kubernetes',
    ])
    expect(listNotes(await apply({ 'a.yaml': resource('Realm', ['enabled: true'], realm) }))).toEqual([])
  })

  test('a reference to a Kubernetes Secret is refused outside of a cluster', async () => {
    const client = resource('RealmClient', ['realm: shop', 'secret: {secretKeyRef: {name: shop, key: web}}'], 'web')
    expect(await getRefusal({ 'a.yaml': client })).toEqual([
      'a.yaml:6:3: client web: secret refers to a Kubernetes Secret, which is read only in a cluster: declare the value, as a variable such as $(env:NAME)',
    ])
  })

  test('a resource of a realm or client neither creates nor deletes the realm or client', async () => {
    const realm = newName()
    const client = resource('RealmClient', [`realm: ${realm}`, 'clientId: web'])
    expect(await getRefusal({ 'a.yaml': client })).toEqual([
      `a.yaml:5:3: realm ${realm} does not exist, and no document of this source declares it. Declare it, or correct the name.`,
    ])
    await apply({ 'realm.yaml': `realm: ${realm}\nclients: [{clientId: web}]` })
    const mapper = (owner: string) =>
      resource('RealmProtocolMapper', [`realm: ${realm}`, `client: ${owner}`, 'protocolMapper: oidc-address-mapper'])
    expect(await getRefusal({ 'a.yaml': mapper('wed') })).toEqual([
      expect.stringMatching(
        /^a.yaml:\d:\d: protocol mapper x of client wed: client wed does not exist\. Did you mean web\?$/,
      ),
    ])
    const source = await createFolderSource({ 'a.yaml': mapper('web') })
    await applySource(service, { ...source, name: 'mappers' })
    const none = await createFolderSource({ 'a.yaml': resource('RealmRole', [`realm: ${realm}`, 'name: staff']) })
    expect(await planText(service, { ...none, name: 'mappers' })).toMatch(
      /\+ role staff.*- protocol mapper x of client web.*1 to create, 0 to update, 1 to delete/s,
    )
  })

  test('invalid resources are refused at their positions', async () => {
    expect(
      await getRefusal({
        'a.yaml': [
          resource('RealmClient', ['realm: shop', 'clientId: web', 'redirctUris: [a]']),
          resource('RealmClient', ['clientId: web']),
          resource('RealmProtocolMapper', ['realm: shop']),
          'apiVersion: regent.dev/v2\nkind: Realm',
          'apiVersion: regent.dev/v1alpha1\nkind: Realm\nrealm: shop',
          'kind: RealmClient',
          resource('Realm', []),
        ].join('\n---\n'),
      }),
    ).toEqual([
      'a.yaml:12:1: RealmClient: spec has no realm: add "realmRef: {name: <realm>}"',
      'a.yaml:18:1: RealmProtocolMapper: a protocol mapper needs a client scope or a client: add "clientScope: <name>" or "client: <clientId>"',
      'a.yaml:21:1: apiVersion must be regent.dev/v1alpha1',
      'a.yaml:24:1: Realm: spec must be an object, not null',
      'a.yaml:26:1: Realm: unknown field realm: put fields of the object into spec',
      'a.yaml:28:1: apiVersion must be regent.dev/v1alpha1',
      'a.yaml:33:1: Realm: spec must be an object, not null',
    ])
    expect(
      await getRefusal({ 'a.yaml': resource('RealmClient', ['realm: shop', 'clientId: web', 'redirctUris: [a]']) }),
    ).toEqual(['a.yaml:7:3: client web: unknown field redirctUris; did you mean redirectUris?'])
  })

  test('other resources of a folder are ignored with a note; a folder without declarations is refused', async () => {
    const realm = newName()
    const deployment = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n'
    const outcome = await apply({
      'a.yaml': deployment,
      'b.yaml': resource('Realm', ['enabled: true'], realm),
      'Chart.yaml': 'apiVersion: v2\nname: chart\n',
      'c.yaml': resource('RealmSource', ['url: https://git.example.org/realms.git'], 'team'),
    })
    expect(listNotes(outcome)).toEqual([
      'Chart.yaml:1:1: v2 declares no realm and is ignored',
      'a.yaml:1:1: Deployment web declares no realm and is ignored',
      'c.yaml:1:1: RealmSource team declares no realm and is ignored',
    ])
    await expect(apply({ 'a.yaml': deployment })).rejects.toThrow(/contains no document that declares a realm/)
  })

  test('the resources of a List of kubectl are read', async () => {
    const realm = newName()
    const items = [
      {
        apiVersion: 'regent.dev/v1alpha1',
        kind: 'Realm',
        metadata: { name: realm, uid: '1' },
        spec: {},
        status: { ready: true },
      },
      { apiVersion: 'regent.dev/v1alpha1', kind: 'RealmRole', metadata: { name: 'a' }, spec: { realm, colour: 'red' } },
    ]
    const list = { apiVersion: 'v1', kind: 'List', items }
    expect(await getRefusal({ 'a.json': list })).toEqual([
      'a.json:25:9: role a: unknown field colour: the fields are name, description, composites, attributes, id and renamedFrom',
    ])
  })
})

describe('exports and imports of Keycloak', () => {
  test('the files of a directory export are one realm', async () => {
    const realm = newName()
    const outcome = await apply({
      [`${realm}-realm.json`]: { realm, enabled: true },
      [`${realm}-users-0.json`]: { realm, users: [{ username: 'ann', enabled: true }] },
    })
    expect(outcome.realms.map(({ plan }) => plan.realm)).toEqual([realm])
  })

  test('a partial export with masked secrets keeps the live secrets', async () => {
    const realm = newName()
    await apply({ 'a.yaml': `realm: ${realm}\nclients: [{clientId: web, secret: s3cret}]` })
    await apply({ 'realm-export.json': { realm, enabled: true, clients: [{ clientId: 'web', secret: '**********' }] } })
    expect(await exportNamed(realm)).toMatchObject({
      clients: expect.arrayContaining([expect.objectContaining({ clientId: 'web', secret: 's3cret' })]),
    })
  })

  test('a KeycloakRealm of the legacy operator is applied', async () => {
    const realm = newName()
    const resource = { apiVersion: 'keycloak.org/v1alpha1', kind: 'KeycloakRealm', metadata: { name: 'shop' } }
    await apply({ 'a.json': { ...resource, spec: { realm: { realm, displayName: 'Shop' } } } })
    expect(await exportNamed(realm)).toMatchObject({ displayName: 'Shop' })
    expect(await getRefusal({ 'a.json': { ...resource, spec: {} } })).toEqual([
      'a.json:7:3: KeycloakRealm: spec.realm must be an object, the representation of a realm',
    ])
  })

  test.each(['v2alpha1', 'v2beta1'])(
    'a KeycloakRealmImport (%s) is applied, with placeholders from the environment',
    async (version) => {
      const realm = newName()
      const text = [
        `apiVersion: k8s.keycloak.org/${version}`,
        'kind: KeycloakRealmImport',
        'metadata: {name: shop}',
        'spec:',
        '  keycloakCRName: keycloak',
        '  placeholders:',
        '    PASSWORD: {secret: {name: mail, key: password}}',
        '  realm:',
        `    realm: ${realm}`,
        '    displayName: ${role_admin}',
        '    smtpServer: {from: a@b.c, password: "${PASSWORD}"}',
      ].join('\n')
      await apply({ 'a.yaml': text }, undefined, { PASSWORD: 'hunter2' })
      expect(await exportNamed(realm)).toMatchObject({
        displayName: '${role_admin}',
        smtpServer: { from: 'a@b.c', password: 'hunter2' },
      })
      expect(await getRefusal({ 'a.yaml': text })).toEqual([
        'a.yaml:11:31: $(env:PASSWORD): the environment variable is not set: set it, or give a default, as in $(env:NAME:-default)',
      ])
      expect(
        await getRefusal({ 'a.yaml': text.replace('displayName', 'displyName').replace('"${PASSWORD}"', 'x') }),
      ).toEqual([`a.yaml:10:5: realm ${realm}: unknown field displyName; did you mean displayName?`])
    },
  )
})

test('with unknownFields set to warn, unknown fields are noted, and the others are applied', async () => {
  const realm = newName()
  const text = [
    `realm: ${realm}`,
    'displyName: Shop',
    'clients:',
    '  - clientId: web',
    '    name: Web',
    '    redirctUris: [a]',
    'roles: {reaml: [{name: a}], realm: [{name: b, colour: red}]}',
  ].join('\n')
  expect(listNotes(await apply({ 'a.yaml': text }, 'warn'))).toEqual([
    `a.yaml:7:9: realm ${realm}: unknown field roles.reaml; did you mean realm? (ignored)`,
    `a.yaml:2:1: realm ${realm}: unknown field displyName; did you mean displayName? (ignored)`,
    'a.yaml:6:5: client web: unknown field redirctUris; did you mean redirectUris? (ignored)',
    'a.yaml:7:47: role b: unknown field colour: the fields are name, description, composites, attributes, id and renamedFrom (ignored)',
  ])
  expect(await exportNamed(realm)).toMatchObject({
    clients: expect.arrayContaining([expect.objectContaining({ clientId: 'web', name: 'Web' })]),
  })
  expect((await getRefusal({ 'a.yaml': text })).length).toBe(4)
})

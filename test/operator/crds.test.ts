// The custom resource definitions: a real API server accepts what Regent reads, and refuses errors with their path.
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { API_VERSION, listParentFields, listResourceNames, SOURCE_RESOURCE } from '../../src/kinds/resource-kinds.ts'
import { canReferToSecret } from '../../src/operator/desired/secret-fields.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import {
  hasKubernetes,
  type Kubernetes,
  type KubernetesResponse,
  onKubernetes,
  openKubernetes,
  type Resource,
  readResources,
} from '../support/kubernetes.ts'
import {
  consistentFields,
  createSampleObject,
  createSampleObjects,
  listSettableFields,
  toDocument,
} from '../support/samples.ts'

type Schema = {
  [member: string]: unknown
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
}
const definitions = globSync('crds/*.yaml').flatMap(readResources)
const schemaOf = ({ spec }: Resource) =>
  (spec as { versions: [{ schema: { openAPIV3Schema: Schema } }] }).versions[0].schema.openAPIV3Schema
const kindNames = (Object.keys(kinds) as KindName[]).map((name) => [listResourceNames(kinds[name])[0]!, name] as const)

test('every kind has a definition with a description of every field', () => {
  const names = definitions.map(({ spec }) => (spec as { names: { kind: string } }).names.kind)
  expect(names.sort()).toEqual([...kindNames.map(([resource]) => resource), SOURCE_RESOURCE].sort())
  const listUndescribed = (schema: Schema, path: string): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
      ...(property.description || name === 'metadata' ? [] : [`${path}.${name}`]),
      ...listUndescribed(property, `${path}.${name}`),
    ]),
    ...(schema.items ? listUndescribed(schema.items, `${path}[]`) : []),
    ...(typeof schema.additionalProperties === 'object'
      ? listUndescribed(schema.additionalProperties, `${path}{}`)
      : []),
  ]
  for (const definition of definitions)
    expect(listUndescribed(schemaOf(definition), definition.metadata.name)).toEqual([])
})

test('a Secret may be referenced where the definition has secretKeyRef, and not in other fields', () => {
  const listSecretPaths = (schema: Schema, path: (string | number)[]): (string | number)[][] => [
    ...(schema.properties?.secretKeyRef ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([field, property]) =>
      listSecretPaths(property, [...path, field]),
    ),
    ...(schema.items ? listSecretPaths(schema.items, [...path, 0]) : []),
    ...(typeof schema.additionalProperties === 'object'
      ? listSecretPaths(schema.additionalProperties, [...path, 'key'])
      : []),
  ]
  const secretPaths = kindNames.flatMap(([resource, name]) => {
    const definition = definitions.find(({ spec }) => (spec as { names: { kind: string } }).names.kind === resource)!
    const { spec } = schemaOf(definition).properties!
    return listSecretPaths(spec!, []).map((path) => ({ name, path }))
  })
  expect(secretPaths.length).toBeGreaterThan(10)
  for (const { name, path } of secretPaths)
    expect(canReferToSecret(kinds[name], path), `${name} ${path.join('.')}`).toBe(true)
  expect(canReferToSecret(kinds.client, ['name'])).toBe(false)
  expect(canReferToSecret(kinds.realm, ['users', 0, 'username'])).toBe(false)
})

test('each definition fits into the last-applied annotation of kubectl apply', () => {
  for (const definition of definitions) expect(JSON.stringify(definition).length).toBeLessThan(256 * 1024)
})

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let kubernetes: Kubernetes
  let namespace: string
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    namespace = await kubernetes.newNamespace()
  })
  afterAll(() => kubernetes.removeNamespaces())

  const resource = (kind: string, spec: object, name = 'x') => ({
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace },
    spec,
  })
  const tryApply = (kind: string, spec: object) => kubernetes.apply(resource(kind, spec), 'dryRun=All')
  const withRealm = (kind: KindName, spec: Representation) =>
    kind === 'realm'
      ? spec
      : {
          realmRef: { name: 'acme' },
          ...Object.fromEntries(
            listParentFields(kinds[kind])
              .slice(0, 1)
              .map(([field]) => [field, 'a']),
          ),
          ...spec,
        }

  test.each(kindNames)('%s accepts every field, with each sample value and with null', async (name, kind) => {
    const fields = listSettableFields(kind)
    const mapFields = (value: (values: readonly unknown[]) => unknown) =>
      Object.fromEntries(fields.map(([field, , values]) => [field, value(values)])) as Representation
    for (const fieldValues of [
      mapFields(([first]) => first),
      mapFields(([, second]) => second),
      mapFields(() => null),
    ]) {
      const spec =
        kind === 'realm'
          ? fieldValues
          : createSampleObject(kind, 'x', { ...fieldValues, ...consistentFields[kind] }).representation
      expect(await tryApply(name, withRealm(kind, spec))).toMatchObject({ status: 201, body: { spec } })
    }
  })

  test('a Realm accepts all kinds of content, and the lenient forms of values that Regent reads', async () => {
    const { realm, ...content } = toDocument('x', createSampleObjects()) as Representation
    expect(await tryApply('Realm', content)).toMatchObject({ status: 201, body: { spec: content } })
    const spec = {
      enabled: 'true',
      accessTokenLifespan: '300',
      displayName: 7,
      attributes: { flag: true, number: 1.5, none: null },
      smtpServer: { port: 25 },
      users: [{ username: 'ann', enabled: 'false', lastName: 12, attributes: { single: 'a', many: ['a', 1] } }],
      groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ name: 'c', anything: 'goes' }] }] }],
      authenticationFlows: [{ alias: 'a', authenticationExecutions: [{ requirement: 'OPTIONAL' }] }],
    }
    expect(await tryApply('Realm', spec)).toMatchObject({ status: 201, body: { spec } })
  })

  const files = globSync('../shared/data/realms/*.{yaml,json}')
  test.each(files)('a Realm accepts the content of %s', async (file) => {
    for (const { value } of parseDocuments(file, readFileSync(file, 'utf8')))
      expect(await tryApply('Realm', value as Representation)).toMatchObject({ status: 201, body: { spec: value } })
  })

  test('the examples are accepted, and lists have the printer columns', async () => {
    const examples = globSync('examples/kubernetes/*.yaml').flatMap(readResources)
    for (const example of examples) {
      const metadata = { ...example.metadata, namespace }
      expect(await kubernetes.apply({ ...example, metadata })).toMatchObject({ status: 201 })
    }
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Applied',
      message: 'The declared state is live.',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const client = { ...resource('RealmClient', {}, 'shop') }
    const path = await kubernetes.pathOf(client, namespace)
    const status = {
      realm: 'globex',
      lastAppliedRevision: 'sha256:1',
      shortRevision: '1',
      drift: 2,
      conditions: [condition],
    }
    const response = await kubernetes.request('PATCH', `${path}/shop/status`, { status }, MERGE)
    expect(response).toMatchObject({ status: 200, body: { status } })
    const { body } = await kubernetes.request('GET', path, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    })
    expect(body.columnDefinitions.map((column: { name: string }) => column.name)).toEqual([
      'Name',
      'Realm',
      'Ready',
      'Reason',
      'Suspended',
      'Revision',
      'Drift',
      'Age',
      'Message',
    ])
    const cells = body.rows.map((row: { cells: unknown[] }) => row.cells)
    expect(cells.find(([name]: string[]) => name === 'shop').with(7, 'age')).toEqual([
      'shop',
      'globex',
      'True',
      'Applied',
      null,
      '1',
      2,
      'age',
      'The declared state is live.',
    ])
  })

  test('each kind has a unique short name and the category regent', async () => {
    const { resources } = (await kubernetes.request('GET', `/apis/${API_VERSION}`)).body
    const resourceTypes = resources.filter(({ name }: { name: string }) => !name.includes('/'))
    expect(resourceTypes.map(({ kind }: { kind: string }) => kind).sort()).toEqual(
      [...kindNames.map(([name]) => name), SOURCE_RESOURCE].sort(),
    )
    const shortNames = resourceTypes.flatMap(
      ({ shortNames, categories }: { shortNames: string[]; categories: string[] }) => {
        expect(categories).toEqual(['regent'])
        return shortNames
      },
    )
    expect(new Set(shortNames).size).toBe(kindNames.length + 1)
  })

  test('an invalid value is refused with its path', async () => {
    const create = async (kind: string, spec: object) => {
      const path = await kubernetes.pathOf({ apiVersion: API_VERSION, kind }, namespace)
      return kubernetes.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, resource(kind, spec))
    }
    const listErrors = async (kind: string, spec: object) => listErrorPaths(await create(kind, spec))
    const realmReference = { realmRef: { name: 'acme' } }
    expect(await listErrors('Realm', { enabled: 'perhaps' })).toEqual(['spec.enabled'])
    expect(listErrorPaths(await tryApply('Realm', { displayName: { a: 1 } }))).toEqual(['spec.displayName'])
    expect(await listErrors('Realm', { accessTokenLifespan: 1.5 })).toEqual(['spec.accessTokenLifespan'])
    expect(await listErrors('Realm', { defaultSignatureAlgorithm: 'RS1' })).toEqual(['spec.defaultSignatureAlgorithm'])
    expect(await listErrors('Realm', { clients: [{ redirectUris: 'a' }] })).toEqual([
      'spec.clients[0].clientId',
      'spec.clients[0].redirectUris',
    ])
    expect(await listErrors('Realm', { interval: 'often', prune: 'some' })).toEqual(['spec.interval', 'spec.prune'])
    expect(await listErrors('Realm', { allowedNamespaces: [{ name: 'a', selector: {} }] })).toEqual([
      'spec.allowedNamespaces',
    ])
    expect(await listErrors('RealmClient', {})).toEqual(['spec'])
    expect(await listErrors('RealmClient', { ...realmReference, realm: 'acme' })).toEqual(['spec'])
    expect(await listErrors('RealmProtocolMapper', { ...realmReference, client: 'a', clientScope: 'b' })).toEqual([
      'spec',
    ])
    expect(await listErrors('RealmClient', { ...realmReference, secret: { secretKeyRef: { name: 'a' } } })).toEqual([
      'spec.secret.secretKeyRef.key',
    ])
    const secretName = { ...realmReference, name: { secretKeyRef: { name: 'a', key: 'b' } } }
    expect(listErrorPaths(await tryApply('RealmClient', secretName))).toEqual(['spec.name'])
    const unknown = await create('RealmClient', { ...realmReference, redirctUris: [] })
    expect(unknown.body.message).toContain('unknown field "spec.redirctUris"')
  })

  test('every secret field accepts a secretKeyRef', async () => {
    const secretKeyRef = { name: 'a', key: 'b' }
    const secret = { secretKeyRef }
    const spec = {
      smtpServer: { host: 'mail', password: secret },
      clients: [{ clientId: 'a', secret }],
      identityProviders: [{ alias: 'a', config: { clientSecret: secret } }],
      users: [{ username: 'a', credentials: [{ type: 'password', value: secret }] }],
      components: {
        'org.keycloak.storage.UserStorageProvider': [{ name: 'a', config: { bindCredential: [secret] } }],
      },
    }
    expect(await tryApply('Realm', spec)).toMatchObject({ status: 201, body: { spec } })
  })

  test('a RealmSource accepts the URL of a git repository, but no path or file of the server', async () => {
    const url = 'https://git.example.org/realms.git'
    const spec = {
      url,
      ref: 'main',
      folder: 'prod',
      interval: '1m',
      credentials: { secretRef: { name: 'git' } },
      prune: 'none',
    }
    expect(await tryApply(SOURCE_RESOURCE, spec)).toMatchObject({ status: 201, body: { spec } })
    expect(await tryApply(SOURCE_RESOURCE, { url: 'git@git.example.org:realms.git' })).toMatchObject({ status: 201 })
    for (const invalidSpec of [{}, { url: 'file:///etc' }, { url: '/etc' }])
      expect(listErrorPaths(await tryApply(SOURCE_RESOURCE, invalidSpec))).toEqual(['spec.url'])
    for (const field of ['path', 'variables', 'signersFile'])
      expect((await tryApply(SOURCE_RESOURCE, { url, [field]: 'x' })).body.message).toContain(
        `.spec.${field}: field not declared`,
      )
  })

  test('the name and the parent of an object cannot be changed, except by renamedFrom', async () => {
    const names: [kind: string, spec: object, edit: object][] = [
      ['RealmClient', { clientId: 'web' }, { clientId: 'web2' }],
      ['RealmUser', { username: 'bob' }, { username: 'robert' }],
      ['RealmGroup', {}, { name: 'other' }],
      ['RealmFlow', { alias: 'flow' }, {}],
    ]
    for (const [kind, spec, edit] of names) {
      const apply = (fields: object) =>
        kubernetes.apply(resource(kind, { realmRef: { name: 'acme' }, ...fields }, 'named'))
      expect(await apply(spec)).toMatchObject({ status: 201 })
      const { status, body } = await apply(edit)
      expect([status, body.message]).toEqual([422, expect.stringContaining('set renamedFrom to its former name')])
      const renamedFrom = String(Object.values(spec)[0] ?? 'named')
      expect(await apply({ ...edit, renamedFrom })).toMatchObject({ status: 200 })
    }
    const role = (client: string) =>
      kubernetes.apply(resource('RealmRole', { realmRef: { name: 'acme' }, client }, 'role'))
    expect(await role('web')).toMatchObject({ status: 201 })
    expect(await role('other')).toMatchObject({ status: 422 })
  })

  test('the realm of a resource cannot be changed', async () => {
    const changeSpec = async (kind: string, name: string, before: object, after: object) => {
      expect(await kubernetes.apply(resource(kind, before, name))).toMatchObject({ status: 201 })
      return listErrorPaths(await kubernetes.apply(resource(kind, after, name)))
    }
    expect(await changeSpec('Realm', 'a', { realm: 'one' }, { realm: 'two' })).toEqual(['spec.realm'])
    expect(await changeSpec('Realm', 'b', { realm: 'one', enabled: true }, { enabled: true })).toEqual(['spec.realm'])
    expect(await changeSpec('Realm', 'c', { enabled: true }, { enabled: false })).toEqual([])
    expect(await changeSpec('RealmRole', 'a', { realm: 'one' }, { realm: 'two' })).toEqual(['spec.realm'])
    expect(await changeSpec('RealmRole', 'b', { realmRef: { name: 'one' } }, { realmRef: { name: 'two' } })).toEqual([
      'spec.realmRef',
    ])
  })
})

const MERGE = { 'content-type': 'application/merge-patch+json' }

/** Returns the paths of the errors. */
function listErrorPaths({ status, body }: KubernetesResponse): string[] {
  if (status < 300) return []
  expect(status).toBe(422)
  const fields: string[] = body.details.causes.map(({ field }: { field: string }) => field)
  // A cause without a field reports that rules were not evaluated because of the other errors.
  return fields.filter((field) => field !== '<nil>').sort()
}

// The definitions of Regent's resources: a real API server takes what Regent reads, and refuses what is wrong with its path.
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { mayNameSecret } from '../../src/operator/secrets/secret-places.ts'
import {
  API_VERSION,
  listParentFields,
  listResourceNames,
  SOURCE_RESOURCE,
} from '../../src/realm-file/resources/resource-kinds.ts'
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
const all = (Object.keys(kinds) as KindName[]).map((name) => [listResourceNames(kinds[name])[0]!, name] as const)

test('every kind has a definition, in which every field is described', () => {
  const names = definitions.map(({ spec }) => (spec as { names: { kind: string } }).names.kind)
  expect(names.sort()).toEqual([...all.map(([resource]) => resource), SOURCE_RESOURCE].sort())
  const poor = (schema: Schema, path: string): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => [
      ...(one.description || name === 'metadata' ? [] : [`${path}.${name}`]),
      ...poor(one, `${path}.${name}`),
    ]),
    ...(schema.items ? poor(schema.items, `${path}[]`) : []),
    ...(typeof schema.additionalProperties === 'object' ? poor(schema.additionalProperties, `${path}{}`) : []),
  ]
  for (const definition of definitions) expect(poor(schemaOf(definition), definition.metadata.name)).toEqual([])
})

test('a Secret is read where a definition lets it be named, and nowhere else', () => {
  const named = (schema: Schema, path: (string | number)[]): (string | number)[][] => [
    ...(schema.properties?.secretKeyRef ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([field, one]) => named(one, [...path, field])),
    ...(schema.items ? named(schema.items, [...path, 0]) : []),
    ...(typeof schema.additionalProperties === 'object' ? named(schema.additionalProperties, [...path, 'key']) : []),
  ]
  const places = all.flatMap(([resource, name]) => {
    const definition = definitions.find(({ spec }) => (spec as { names: { kind: string } }).names.kind === resource)!
    const { spec } = schemaOf(definition).properties!
    return named(spec!, []).map((path) => ({ name, path }))
  })
  expect(places.length).toBeGreaterThan(10)
  for (const { name, path } of places) expect(mayNameSecret(kinds[name], path), `${name} ${path.join('.')}`).toBe(true)
  expect(mayNameSecret(kinds.client, ['name'])).toBe(false)
  expect(mayNameSecret(kinds.realm, ['users', 0, 'username'])).toBe(false)
})

test('a plain kubectl apply can keep what it applied in an annotation', () => {
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
  const tried = (kind: string, spec: object) => kubernetes.apply(resource(kind, spec), 'dryRun=All')
  const placed = (kind: KindName, spec: Representation) =>
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

  test.each(all)('%s takes every field, in each of its values and as null', async (name, kind) => {
    const fields = listSettableFields(kind)
    const having = (value: (values: readonly unknown[]) => unknown) =>
      Object.fromEntries(fields.map(([field, , values]) => [field, value(values)])) as Representation
    for (const own of [having(([one]) => one), having(([, other]) => other), having(() => null)]) {
      const spec =
        kind === 'realm' ? own : createSampleObject(kind, 'x', { ...own, ...consistentFields[kind] }).representation
      expect(await tried(name, placed(kind, spec))).toMatchObject({ status: 201, body: { spec } })
    }
  })

  test('a realm takes all that is in it, and the forms in which Regent reads values', async () => {
    const { realm, ...whole } = toDocument('x', createSampleObjects()) as Representation
    expect(await tried('Realm', whole)).toMatchObject({ status: 201, body: { spec: whole } })
    const spec = {
      enabled: 'true',
      accessTokenLifespan: '300',
      displayName: 7,
      attributes: { flag: true, number: 1.5, none: null },
      smtpServer: { port: 25 },
      users: [{ username: 'ann', enabled: 'false', lastName: 12, attributes: { one: 'a', many: ['a', 1] } }],
      groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ name: 'c', anything: 'goes' }] }] }],
      authenticationFlows: [{ alias: 'a', authenticationExecutions: [{ requirement: 'OPTIONAL' }] }],
    }
    expect(await tried('Realm', spec)).toMatchObject({ status: 201, body: { spec } })
  })

  const files = globSync('../shared/data/realms/*.{yaml,json}')
  test.each(files)('%s is a realm', async (file) => {
    for (const { value } of parseDocuments(file, readFileSync(file, 'utf8')))
      expect(await tried('Realm', value as Representation)).toMatchObject({ status: 201, body: { spec: value } })
  })

  test('the examples are taken, and listed with what counts of them', async () => {
    const examples = globSync('examples/kubernetes/*.yaml').flatMap(readResources)
    for (const one of examples) {
      const metadata = { ...one.metadata, namespace }
      expect(await kubernetes.apply({ ...one, metadata })).toMatchObject({ status: 201 })
    }
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Applied',
      message: 'all is as stated',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const client = { ...resource('RealmClient', {}, 'shop') }
    const path = await kubernetes.pathOf(client, namespace)
    const status = { realm: 'globex', lastAppliedRevision: 'sha256:1', drift: 2, conditions: [condition] }
    const written = await kubernetes.request('PATCH', `${path}/shop/status`, { status }, MERGE)
    expect(written).toMatchObject({ status: 200, body: { status } })
    const { body } = await kubernetes.request('GET', path, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    })
    expect(body.columnDefinitions.map((column: { name: string }) => column.name)).toEqual([
      'Name',
      'Realm',
      'Ready',
      'Revision',
      'Drift',
      'Age',
      'Message',
    ])
    const cells = body.rows.map((row: { cells: unknown[] }) => row.cells)
    expect(cells.find(([name]: string[]) => name === 'shop').with(5, 'age')).toEqual([
      'shop',
      'globex',
      'True',
      'sha256:1',
      2,
      'age',
      'all is as stated',
    ])
  })

  test('each is found by a short name, and all by their category', async () => {
    const { resources } = (await kubernetes.request('GET', `/apis/${API_VERSION}`)).body
    const own = resources.filter(({ name }: { name: string }) => !name.includes('/'))
    expect(own.map(({ kind }: { kind: string }) => kind).sort()).toEqual(
      [...all.map(([name]) => name), SOURCE_RESOURCE].sort(),
    )
    const short = own.flatMap(({ shortNames, categories }: { shortNames: string[]; categories: string[] }) => {
      expect(categories).toEqual(['regent'])
      return shortNames
    })
    expect(new Set(short).size).toBe(all.length + 1)
  })

  test('what is wrong is refused with its path', async () => {
    const created = async (kind: string, spec: object) => {
      const path = await kubernetes.pathOf({ apiVersion: API_VERSION, kind }, namespace)
      return kubernetes.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, resource(kind, spec))
    }
    const refused = async (kind: string, spec: object) => refusals(await created(kind, spec))
    const inAcme = { realmRef: { name: 'acme' } }
    expect(await refused('Realm', { enabled: 'perhaps' })).toEqual(['spec.enabled'])
    expect(await refused('Realm', { displayName: { a: 1 } })).toEqual(['spec.displayName'])
    expect(await refused('Realm', { accessTokenLifespan: 1.5 })).toEqual(['spec.accessTokenLifespan'])
    expect(await refused('Realm', { defaultSignatureAlgorithm: 'RS1' })).toEqual(['spec.defaultSignatureAlgorithm'])
    expect(await refused('Realm', { clients: [{ redirectUris: 'a' }] })).toEqual([
      'spec.clients[0].clientId',
      'spec.clients[0].redirectUris',
    ])
    expect(await refused('Realm', { interval: 'often', prune: 'some' })).toEqual(['spec.interval', 'spec.prune'])
    expect(await refused('Realm', { allowedNamespaces: [{ name: 'a', selector: {} }] })).toEqual([
      'spec.allowedNamespaces',
    ])
    expect(await refused('RealmClient', {})).toEqual(['spec'])
    expect(await refused('RealmClient', { ...inAcme, realm: 'acme' })).toEqual(['spec'])
    expect(await refused('RealmProtocolMapper', { ...inAcme, client: 'a', clientScope: 'b' })).toEqual(['spec'])
    expect(await refused('RealmClient', { ...inAcme, secret: { secretKeyRef: { name: 'a' } } })).toEqual([
      'spec.secret.secretKeyRef.key',
    ])
    expect(await refused('RealmClient', { ...inAcme, name: { secretKeyRef: { name: 'a', key: 'b' } } })).toEqual([
      'spec.name',
    ])
    const unknown = await created('RealmClient', { ...inAcme, redirctUris: [] })
    expect(unknown.body.message).toContain('unknown field "spec.redirctUris"')
  })

  test('a secret may stand in a Secret wherever there is one', async () => {
    const secretKeyRef = { name: 'a', key: 'b' }
    const elsewhere = { secretKeyRef }
    const spec = {
      smtpServer: { host: 'mail', password: elsewhere },
      clients: [{ clientId: 'a', secret: elsewhere }],
      identityProviders: [{ alias: 'a', config: { clientSecret: elsewhere } }],
      users: [{ username: 'a', credentials: [{ type: 'password', value: elsewhere }] }],
      components: {
        'org.keycloak.storage.UserStorageProvider': [{ name: 'a', config: { bindCredential: [elsewhere] } }],
      },
    }
    expect(await tried('Realm', spec)).toMatchObject({ status: 201, body: { spec } })
  })

  test('a source is a repository, and says nothing of the machine that the server runs on', async () => {
    const url = 'https://git.example.org/realms.git'
    const spec = {
      url,
      ref: 'main',
      folder: 'prod',
      interval: '1m',
      credentials: { secretRef: { name: 'git' } },
      prune: 'none',
    }
    expect(await tried(SOURCE_RESOURCE, spec)).toMatchObject({ status: 201, body: { spec } })
    expect(await tried(SOURCE_RESOURCE, { url: 'git@git.example.org:realms.git' })).toMatchObject({ status: 201 })
    for (const wrong of [{}, { url: 'file:///etc' }, { url: '/etc' }])
      expect(refusals(await tried(SOURCE_RESOURCE, wrong))).toEqual(['spec.url'])
    for (const field of ['path', 'variables', 'signersFile'])
      expect((await tried(SOURCE_RESOURCE, { url, [field]: 'x' })).body.message).toContain(
        `.spec.${field}: field not declared`,
      )
  })

  test('the realm of a resource stays', async () => {
    const stays = async (kind: string, name: string, before: object, after: object) => {
      expect(await kubernetes.apply(resource(kind, before, name))).toMatchObject({ status: 201 })
      return refusals(await kubernetes.apply(resource(kind, after, name)))
    }
    expect(await stays('Realm', 'a', { realm: 'one' }, { realm: 'two' })).toEqual(['spec.realm'])
    expect(await stays('Realm', 'b', { realm: 'one', enabled: true }, { enabled: true })).toEqual(['spec.realm'])
    expect(await stays('Realm', 'c', { enabled: true }, { enabled: false })).toEqual([])
    expect(await stays('RealmRole', 'a', { realm: 'one' }, { realm: 'two' })).toEqual(['spec.realm'])
    expect(await stays('RealmRole', 'b', { realmRef: { name: 'one' } }, { realmRef: { name: 'two' } })).toEqual([
      'spec.realmRef',
    ])
  })
})

const MERGE = { 'content-type': 'application/merge-patch+json' }

/** The paths of what is wrong. */
function refusals({ status, body }: KubernetesResponse): string[] {
  if (status < 300) return []
  expect(status).toBe(422)
  const fields: string[] = body.details.causes.map(({ field }: { field: string }) => field)
  // Rules were not looked at, since the rest is wrong.
  return fields.filter((field) => field !== '<nil>').sort()
}

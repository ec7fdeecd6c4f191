// The JSON schema of documents accepts and refuses the same documents as the parser.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { Ajv, type ErrorObject } from 'ajv'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { kinds } from '../src/kinds/index.ts'
import { listResourceNames } from '../src/kinds/resource-kinds.ts'
import { createDocumentSchema } from '../src/realm-file/resources/document-schema.ts'
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'

const schema = createDocumentSchema() as {
  definitions: Record<string, { properties?: Record<string, { description?: string }> }>
}
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema)

/** Returns the problems of a document, with their paths. */
function findProblems(document: unknown): string[] {
  return validate(document) ? [] : validate.errors!.map(formatError).filter((problem) => problem !== undefined)
}

function formatError({ instancePath, keyword, params, message }: ErrorObject): string | undefined {
  if (keyword === 'if') return undefined
  return `${instancePath} ${keyword === 'additionalProperties' ? `unknown ${params.additionalProperty}` : message}`
}

// A project file is no document.
const examples = globSync('examples/{,customers/,environments/,keycloak-passwords/,mail/,web-app/}*.yaml', {
  exclude: ['**/regent.yaml'],
})
const realmFiles = globSync('../shared/data/realms/*.{yaml,json}')

test.each(examples)('%s conforms to the schema, and refers to it', (file) => {
  const text = readFileSync(file, 'utf8')
  for (const { value } of parseDocuments(file, text)) expect(findProblems(value)).toEqual([])
  const [, address] = /^# yaml-language-server: \$schema=(\S+)/.exec(text) ?? []
  expect(existsSync(new URL(address ?? 'none', new URL(`../${file}`, import.meta.url)))).toBe(true)
})

describe.skipIf(!realmFiles.length)('real realm files', () => {
  test.each(realmFiles)('%s conforms to the schema, except for fields of other tools', (file) => {
    const documents = parseDocuments(file, readFileSync(file, 'utf8'))
    const unexpected = documents
      .flatMap(({ value }) => findProblems(value))
      .filter((problem) => !problem.includes(' unknown '))
    expect(unexpected).toEqual([])
  })
})

test('unknown fields, wrong types and missing names are reported', () => {
  expect(
    findProblems({
      displyName: 'x',
      enabled: 'perhaps',
      sslRequired: 'some',
      accessTokenLifespan: 1.5,
      clients: [{ clientId: 'web', redirectUris: 'a', protocolMappers: [{ nme: 'x' }] }],
      roles: { client: { web: [{ name: 'a', colour: 'red' }] } },
      groups: [{ name: 'a', subGroups: [{ nme: 'b' }] }],
    }),
  ).toEqual(
    expect.arrayContaining([
      " must have required property 'realm'",
      ' unknown displyName',
      '/enabled must be boolean',
      '/sslRequired must be equal to one of the allowed values',
      '/accessTokenLifespan must be integer',
      '/clients/0/redirectUris must be array,null',
      '/clients/0/protocolMappers/0 unknown nme',
      "/clients/0/protocolMappers/0 must have required property 'name'",
      '/roles/client/web/0 unknown colour',
      '/groups/0/subGroups/0 unknown nme',
    ]),
  )
})

test('all forms of a value are valid, and a variable is valid for any value', () => {
  const forms = load('{realm: a, enabled: "true", accessTokenLifespan: "300", displayName: 7, attributes: {a: true}}')
  expect(findProblems(forms)).toEqual([])
  expect(
    findProblems({ realm: 'a', enabled: '$(env:ON:-true)', sslRequired: '$(env:SSL)', failureFactor: '$(env:N)' }),
  ).toEqual([])
  expect(findProblems([{ realm: 'a', displayName: null, clients: null }, { realm: 'b' }])).toEqual([])
})

test('every kind has a resource, with fields for its parent', () => {
  for (const kind of Object.values(kinds)) expect(Object.keys(schema.definitions)).toContain(listResourceNames(kind)[0])
  const resource = (kind: string, spec: object) => ({
    apiVersion: 'regent.dev/v1alpha1',
    kind,
    metadata: { name: 'x' },
    spec,
  })
  expect(findProblems(resource('Realm', { enabled: true }))).toEqual([])
  expect(findProblems(resource('RealmRole', { realmRef: { name: 'a' }, client: 'web', description: 'x' }))).toEqual([])
  expect(findProblems(resource('RealmRole', { realmRef: 'a', clent: 'web' }))).toEqual([
    '/spec unknown clent',
    '/spec/realmRef must be object',
  ])
  expect(findProblems({ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 1 } })).toEqual([])
  expect(
    findProblems({
      apiVersion: 'k8s.keycloak.org/v2alpha1',
      kind: 'KeycloakRealmImport',
      spec: { realm: { realms: 'a' } },
    }),
  ).toEqual(['/spec/realm unknown realms', "/spec/realm must have required property 'realm'"])
})

test('every field is described', () => {
  const poor = Object.entries(schema.definitions).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties).flatMap(([field, { description }]) => (description ? [] : [`${name}.${field}`])),
  )
  expect(poor).toEqual([])
})

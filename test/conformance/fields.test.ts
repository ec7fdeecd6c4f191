// Every field of every record of the admin API, as it was specified: Regent takes it and shows it, or a list says why not.
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { openApi } from '../../src/http/openapi.ts'
import type { Operation } from '../../src/http/operation.ts'
import { representationOf } from '../../src/http/responses.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { Kind, KindName } from '../../src/kinds/kind.ts'
import { createFilledRealm, toAddress } from '../support/filled-realm.ts'
import { createSampleObjects, listSettableFields } from '../support/samples.ts'
import { testServer } from '../support/server.ts'
import records from './fields.json' with { type: 'json' }
import apart from './fields-apart.json' with { type: 'json' }

interface Schema {
  readonly $ref?: string
  /** A schema, and null. */
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
}

interface Described {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

const api = openApi(operations) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, { readonly get?: Described; readonly post?: Described }>>
}
const { schemas } = api.components

const administered = '/admin/realms/{realm}'
const client = `${administered}/clients/{client-uuid}`

/** Records that are shown by one operation, or are a part of what it shows: its address, and the steps to the record. */
const parts: Readonly<Record<string, readonly [path: string, ...steps: string[]]>> = {
  AbstractPolicyRepresentation: [`${client}/authz/resource-server/policy`, '[]'],
  AuthDetailsRepresentation: [`${administered}/admin-events`, '[]', 'authDetails'],
  ClientMappingsRepresentation: [`${administered}/users/{user-id}/role-mappings`, 'clientMappings', '*'],
  ClientPolicyConditionRepresentation: [
    `${administered}/client-policies/policies`,
    'policies',
    '[]',
    'conditions',
    '[]',
  ],
  ClientPolicyExecutorRepresentation: [`${administered}/client-policies/profiles`, 'profiles', '[]', 'executors', '[]'],
  ClientPolicyRepresentation: [`${administered}/client-policies/policies`, 'policies', '[]'],
  ClientProfileRepresentation: [`${administered}/client-policies/profiles`, 'profiles', '[]'],
  'ClientScopeEvaluateResource-ProtocolMapperEvaluationRepresentation': [
    `${client}/evaluate-scopes/protocol-mappers`,
    '[]',
  ],
  ComponentTypeRepresentation: [`${administered}/components/{id}/sub-component-types`, '[]'],
  GlobalRequestResult: [`${administered}/logout-all`],
  KeyMetadataRepresentation: [`${administered}/keys`, 'keys', '[]'],
  MappingsRepresentation: [`${administered}/users/{user-id}/role-mappings`],
  MemoryInfoRepresentation: ['/admin/serverinfo', 'memoryInfo'],
  PasswordPolicyTypeRepresentation: ['/admin/serverinfo', 'passwordPolicies', '[]'],
  ProfileInfoRepresentation: ['/admin/serverinfo', 'profileInfo'],
  ResourceServerRepresentation: [`${client}/authz/resource-server`],
  RolesRepresentation: [administered, 'roles'],
  ServerInfoRepresentation: ['/admin/serverinfo'],
  SystemInfoRepresentation: ['/admin/serverinfo', 'systemInfo'],
  UserSessionRepresentation: [`${administered}/users/{user-id}/sessions`, '[]'],
}

/** Returns the schema of a part of what GET shows at a path, or of the answer to POST where there is no GET. */
function partOf([path, ...steps]: readonly [string, ...string[]]): Schema | undefined {
  const resolve = (schema: Schema | undefined): Schema | undefined => {
    if (schema?.anyOf) return resolve(schema.anyOf[0])
    return schema?.$ref ? schemas[schema.$ref.split('/').at(-1)!] : schema
  }
  const { get, post } = api.paths[path]!
  const whole = (get ?? post)?.responses[200]?.content['application/json']?.schema
  return steps.reduce((at, step) => {
    if (step === '[]') return resolve(at?.items)
    if (step === '*') return resolve(at?.additionalProperties as Schema | undefined)
    return resolve(at?.properties?.[step])
  }, resolve(whole))
}

/** Records that are elements of a field. */
const elements: Readonly<Record<string, readonly [KindName, field: string]>> = {
  CredentialRepresentation: ['user', 'credentials'],
  FederatedIdentityRepresentation: ['user', 'federatedIdentities'],
  UserConsentRepresentation: ['user', 'clientConsents'],
  AuthenticationExecutionExportRepresentation: ['authenticationFlow', 'authenticationExecutions'],
}

/** Fields that are taken, and shown by operations of their own. */
const hidden: ReadonlySet<string> = new Set([
  'RoleRepresentation.composites',
  'RealmRepresentation.defaultDefaultClientScopes',
  'RealmRepresentation.defaultOptionalClientScopes',
  'ClientRepresentation.authorizationSettings',
  'UserRepresentation.realmRoles',
  'UserRepresentation.groups',
  'UserRepresentation.credentials',
  'UserRepresentation.clientConsents',
  'UserRepresentation.clientRoles',
  'UserRepresentation.serviceAccountClientId',
  'UserRepresentation.attributes',
  'UserRepresentation.federationLink',
])

const exceptions: Readonly<Record<string, string>> = apart
const ofKind = new Map(Object.values(kinds).map((kind) => [kind.representation, kind]))

/** The fields of a record that Regent knows; undefined where it knows no such record. */
function knownFields(record: string): readonly string[] | undefined {
  const [kind, field] = elements[record] ?? []
  if (kind) return Object.keys(kinds[kind].fields[field!]!.members!)
  const schema = parts[record] ? partOf(parts[record]) : schemas[record]
  return schema?.properties && Object.keys(schema.properties)
}

/** Why a field of a record is not simply taken and shown; empty where it is. */
function oddity(record: string, name: string): string {
  const known = knownFields(record)
  if (!known?.includes(name)) return 'no such field'
  const kind = ofKind.get(record)
  if (!kind || name === kind.idField || name in kind.children) return ''
  if (kind.fields[name]?.legacy) return 'earlier form'
  if (kind.fields[name]?.computed) return 'computed'
  return ''
}

test('each field of each record is known, or its exception says why not', () => {
  const odd = Object.entries(records).flatMap(([record, fields]): [string, string][] => {
    if (!knownFields(record)) return [[record, 'no such record']]
    return Object.keys(fields).flatMap((name) => {
      const why = oddity(record, name)
      return why ? [[`${record}.${name}`, why]] : []
    })
  })
  const names = odd.map(([name]) => name)
  expect(odd.filter(([name]) => !(name in exceptions))).toEqual([])
  const known = Object.keys(exceptions).filter((name) => !names.includes(name) && !hidden.has(name))
  expect(known, 'these are answered now: take them off fields-apart.json').toEqual([])
})

const { call } = await testServer()

/** The operations that show and replace one object of each kind; the realm's own are among them. */
const shown = Object.values(kinds).flatMap((kind): [Kind, Operation][] => {
  const show = operations.find(
    ({ method, path, responses }) =>
      method === 'GET' &&
      path.endsWith('}') &&
      responses[200]?.schema === representationOf(kind) &&
      operations.some((other) => other.method === 'PUT' && other.path === path),
  )
  // Of components REST takes only those of known providers, which the samples are not.
  return show && kind.representation in records && kind.name !== 'component' ? [[kind, show]] : []
})

/** What fields must be beside the others; null leaves one out. */
const fitting: Readonly<Partial<Record<KindName, Representation>>> = {
  realm: { duplicateEmailsAllowed: false },
  client: { publicClient: false, bearerOnly: false },
  identityProvider: { organization: null },
  protocolMapper: { protocolMapper: 'oidc-hardcoded-claim-mapper' },
  user: { requiredActions: ['UPDATE_PASSWORD'] },
}

const all = (kind: KindName): Representation => {
  const values = listSettableFields(kind).map(([name, , [value]]) => [name, value])
  const fields: Representation = { ...Object.fromEntries(values), ...fitting[kind] }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

test.each(shown)(
  'over REST, each field of a $title that is set is shown, and taken back',
  async ({ name, representation, fields, idField }, { path }) => {
    const realm = await createFilledRealm('own', (kind) => (kind === name ? all(kind) : {}), createSampleObjects())
    const address = toAddress(path, realm)
    const { body } = await call('GET', address)
    const specified = Object.keys(records[representation as keyof typeof records])
    const expected = specified.filter(
      (field) => field === idField || (field in fields && !exceptions[`${representation}.${field}`]),
    )
    expect(expected.filter((field) => !(field in body))).toEqual([])
    expect((await call('PUT', address, { body })).status).toBe(204)
    const again = (await call('GET', address)).body
    // Settings of a realm that show as attributes too show there what was last written over REST.
    const { attributes: _, ...rest } = body
    expect(again).toMatchObject(name === 'realm' ? rest : body)
  },
)

// Every specified field of every representation of the admin API: Regent accepts and returns it, or it is a listed difference.
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { openApi } from '../../src/http/openapi.ts'
import type { Operation } from '../../src/http/operation.ts'
import { representationOf } from '../../src/http/representations.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { Kind, KindName } from '../../src/kinds/kind.ts'
import { createFilledRealm, toAddress } from '../support/filled-realm.ts'
import { createSampleObjects, listSettableFields } from '../support/samples.ts'
import { testServer } from '../support/server.ts'
import specified from './fields.json' with { type: 'json' }
import differences from './fields-differences.json' with { type: 'json' }
import described from './openapi-fields.json' with { type: 'json' }

interface Schema {
  readonly $ref?: string
  /** A schema, or null. */
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
}

interface DescribedOperation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

/** The fields of each representation in the specification and in Keycloak's OpenAPI document. */
const records: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({ ...described, ...specified }).map(([record, fields]) => {
    const describedFields = (described as Readonly<Record<string, object>>)[record] ?? {}
    return [record, [...new Set([...Object.keys(fields), ...Object.keys(describedFields)])]]
  }),
)

const api = openApi(operations) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, { readonly get?: DescribedOperation; readonly post?: DescribedOperation }>>
}
const { schemas } = api.components

const realmPath = '/admin/realms/{realm}'
const client = `${realmPath}/clients/{client-uuid}`

/** Representations that only one response has: its path, and the steps to the representation in it. */
const partPaths: Readonly<Record<string, readonly [path: string, ...steps: string[]]>> = {
  AbstractPolicyRepresentation: [`${client}/authz/resource-server/policy`, '[]'],
  AuthDetailsRepresentation: [`${realmPath}/admin-events`, '[]', 'authDetails'],
  ClientMappingsRepresentation: [`${realmPath}/users/{user-id}/role-mappings`, 'clientMappings', '*'],
  ClientPolicyConditionRepresentation: [`${realmPath}/client-policies/policies`, 'policies', '[]', 'conditions', '[]'],
  ClientPolicyExecutorRepresentation: [`${realmPath}/client-policies/profiles`, 'profiles', '[]', 'executors', '[]'],
  ClientPolicyRepresentation: [`${realmPath}/client-policies/policies`, 'policies', '[]'],
  ClientProfileRepresentation: [`${realmPath}/client-policies/profiles`, 'profiles', '[]'],
  'ClientScopeEvaluateResource-ProtocolMapperEvaluationRepresentation': [
    `${client}/evaluate-scopes/protocol-mappers`,
    '[]',
  ],
  ComponentTypeRepresentation: [`${realmPath}/components/{id}/sub-component-types`, '[]'],
  GlobalRequestResult: [`${realmPath}/logout-all`],
  KeyMetadataRepresentation: [`${realmPath}/keys`, 'keys', '[]'],
  MappingsRepresentation: [`${realmPath}/users/{user-id}/role-mappings`],
  MemoryInfoRepresentation: ['/admin/serverinfo', 'memoryInfo'],
  PasswordPolicyTypeRepresentation: ['/admin/serverinfo', 'passwordPolicies', '[]'],
  ProfileInfoRepresentation: ['/admin/serverinfo', 'profileInfo'],
  ResourceServerRepresentation: [`${client}/authz/resource-server`],
  RolesRepresentation: [realmPath, 'roles'],
  ServerInfoRepresentation: ['/admin/serverinfo'],
  SystemInfoRepresentation: ['/admin/serverinfo', 'systemInfo'],
  UserSessionRepresentation: [`${realmPath}/users/{user-id}/sessions`, '[]'],
}

/** Returns the schema of a part of the response to GET, or to POST where there is no GET. */
function getPartSchema([path, ...steps]: readonly [string, ...string[]]): Schema | undefined {
  const resolve = (schema: Schema | undefined): Schema | undefined => {
    if (schema?.anyOf) return resolve(schema.anyOf[0])
    return schema?.$ref ? schemas[schema.$ref.split('/').at(-1)!] : schema
  }
  const { get, post } = api.paths[path]!
  const schema = (get ?? post)?.responses[200]?.content['application/json']?.schema
  return steps.reduce((at, step) => {
    if (step === '[]') return resolve(at?.items)
    if (step === '*') return resolve(at?.additionalProperties as Schema | undefined)
    return resolve(at?.properties?.[step])
  }, resolve(schema))
}

/** Representations that are elements of a field. */
const elementFields: Readonly<Record<string, readonly [KindName, field: string]>> = {
  CredentialRepresentation: ['user', 'credentials'],
  FederatedIdentityRepresentation: ['user', 'federatedIdentities'],
  UserConsentRepresentation: ['user', 'clientConsents'],
  AuthenticationExecutionExportRepresentation: ['authenticationFlow', 'authenticationExecutions'],
}

/** Fields that are accepted, but returned by other operations. */
const separateFields: ReadonlySet<string> = new Set([
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

const exceptions: Readonly<Record<string, string>> = differences
const kindsByRepresentation = new Map(Object.values(kinds).map((kind) => [kind.representation, kind]))

/** Returns the fields of a representation in Regent, or undefined if Regent does not have it. */
function listFields(record: string): readonly string[] | undefined {
  const [kind, field] = elementFields[record] ?? []
  if (kind) return Object.keys(kinds[kind].fields[field!]!.members!)
  const schema = partPaths[record] ? getPartSchema(partPaths[record]) : schemas[record]
  return schema?.properties && Object.keys(schema.properties)
}

/** Returns the reason why a field is not accepted and returned; an empty text if it is. */
function findDifference(record: string, name: string): string {
  const fields = listFields(record)
  if (!fields?.includes(name)) return 'no such field'
  const kind = kindsByRepresentation.get(record)
  if (!kind || name === kind.idField || name in kind.children) return ''
  if (!(name in kind.fields) && !(name in kind.alternativeFields)) return 'described only'
  if (kind.fields[name]?.legacy) return 'legacy field'
  if (kind.fields[name]?.computed) return 'computed'
  return ''
}

test('each specified field is accepted and returned, or is listed with a reason', () => {
  const differing = Object.entries(records).flatMap(([record, fields]): [string, string][] => {
    if (!listFields(record)) return [[record, 'no such representation']]
    return fields.flatMap((name) => {
      const reason = findDifference(record, name)
      return reason ? [[`${record}.${name}`, reason]] : []
    })
  })
  const names = differing.map(([name]) => name)
  expect(differing.filter(([name]) => !(name in exceptions))).toEqual([])
  const outdated = Object.keys(exceptions).filter((name) => !names.includes(name) && !separateFields.has(name))
  expect(outdated, 'these fields no longer differ: remove them from fields-differences.json').toEqual([])
})

const { call } = await testServer()

/** The kinds whose objects have GET and PUT, each with its GET operation. */
const updatableKinds = Object.values(kinds).flatMap((kind): [Kind, Operation][] => {
  const read = operations.find(
    ({ method, path, responses }) =>
      method === 'GET' &&
      path.endsWith('}') &&
      responses[200]?.schema === representationOf(kind) &&
      operations.some((other) => other.method === 'PUT' && other.path === path),
  )
  // REST accepts only components of known providers, which the samples are not.
  return read && kind.representation in records && kind.name !== 'component' ? [[kind, read]] : []
})

/** Values that fields need so that the object is valid; null omits the field. */
const consistentValues: Readonly<Partial<Record<KindName, Representation>>> = {
  realm: { duplicateEmailsAllowed: false },
  client: { publicClient: false, bearerOnly: false },
  identityProvider: { organization: null },
  protocolMapper: { protocolMapper: 'oidc-hardcoded-claim-mapper' },
  user: { requiredActions: ['UPDATE_PASSWORD'] },
}

const createFullObject = (kind: KindName): Representation => {
  const values = listSettableFields(kind).map(([name, , [value]]) => [name, value])
  const fields: Representation = { ...Object.fromEntries(values), ...consistentValues[kind] }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

test.each(updatableKinds)(
  'GET of a $title returns each field that was set, and PUT accepts the response',
  async ({ name, representation, fields, idField }, { path }) => {
    const realm = await createFilledRealm(
      'sample',
      (kind) => (kind === name ? createFullObject(kind) : {}),
      createSampleObjects(),
    )
    const address = toAddress(path, realm)
    const { body } = await call('GET', address)
    const expected = records[representation]!.filter(
      (field) => field === idField || (field in fields && !exceptions[`${representation}.${field}`]),
    )
    expect(expected.filter((field) => !(field in body))).toEqual([])
    expect((await call('PUT', address, { body })).status).toBe(204)
    const again = (await call('GET', address)).body
    // Settings of a realm that are also attributes have there the value that was last written over REST.
    const { attributes: _, ...rest } = body
    expect(again).toMatchObject(name === 'realm' ? rest : body)
  },
)

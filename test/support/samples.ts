// Sample values for tests over the table of kinds: two for each field, derived from its type, or listed in `specialValues`. `skippedFields` has
// the fields that cannot be changed alone, with the reason.
import type * as z from 'zod'
import type { Field } from '../../src/kinds/fields.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Json, Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import { joinTree, type TreeObject } from '../../src/kinds/tree.ts'
import { convertForExport } from '../../src/realm-file/convert-formats.ts'

type Pair = readonly [Json, Json]

/** Values of fields whose type does not determine the valid ones. */
const specialValues: Readonly<Record<string, Pair>> = {
  'realm.clientProfiles': [[{ name: 'one' }], [{ name: 'one', description: 'One' }]],
  'realm.clientPolicies': [
    [{ name: 'one', enabled: false, conditions: [], profiles: [] }],
    [{ name: 'one', enabled: true, conditions: [], profiles: [] }],
  ],
  'realm.passwordPolicy': ['length(8)', 'digits(1) and length(9)'],
  'realm.smtpServer': [
    { from: 'a@example.org', host: 'one' },
    { from: 'b@example.org', host: 'two' },
  ],
  'realm.sslRequired': ['all', 'none'],
  'client.clientAuthenticatorType': ['client-secret', 'client-jwt'],
  'client.type': ['oidc', null],
  'client.redirectUris': [['https://a.example.org/*'], ['https://b.example.org/*']],
  'client.webOrigins': [['https://a.example.org'], ['https://b.example.org']],
  'client.rootUrl': ['https://a.example.org', 'https://b.example.org'],
  'client.baseUrl': ['https://a.example.org', 'https://b.example.org'],
  'client.adminUrl': ['https://a.example.org', 'https://b.example.org'],
  'client.authenticationFlowBindingOverrides': [{ browser: 'a' }, { browser: 'b' }],
  'client.optionalClientScopes': [['b'], ['a', 'b']],
  'authorizationResource.owner': ['b', null],
  'organization.redirectUrl': ['https://one.example.org', 'https://two.example.org'],
  'realm.defaultOptionalClientScopes': [['phone'], ['phone', 'address']],
  'client.registeredNodes': [{ node: 1 }, { node: 2 }],
  'authenticationFlow.authenticationExecutions': [
    [{ authenticator: 'auth-cookie', requirement: 'REQUIRED', priority: 10, userSetupAllowed: false }],
    [{ flowAlias: 'b', requirement: 'ALTERNATIVE', priority: 10, userSetupAllowed: false }],
  ],
  'organization.domains': [
    [{ name: 'one.example.org', verified: false }],
    [{ name: 'two.example.org', verified: true }],
  ],
  'workflow.on': ['user_created', 'user_role_revoked'],
  'workflow.if': ['has-role(a)', 'has-role(b)'],
  'workflow.schedule': [{ after: '1d' }, { after: '2d', 'batch-size': 10 }],
  'workflow.concurrency': [{ 'cancel-in-progress': 'true' }, { 'restart-in-progress': 'true' }],
  'workflow.steps': [[{ uses: 'disable-user', after: '1d' }], [{ uses: 'disable-user', after: '2d' }]],
  'identityProvider.providerId': ['oidc', 'github'],
  'user.email': ['one@example.org', 'two@example.org'],
  'user.credentials': [
    [{ type: 'password', secretData: '{"value":"one"}', credentialData: '{"algorithm":"none"}' }],
    [{ type: 'password', secretData: '{"value":"two"}', credentialData: '{"algorithm":"none"}' }],
  ],
  'user.clientConsents': [
    [{ clientId: 'a', grantedClientScopes: ['a'], createdDate: 1, lastUpdatedDate: 1 }],
    [{ clientId: 'b', grantedClientScopes: ['a', 'b'], createdDate: 1, lastUpdatedDate: 2 }],
  ],
  'user.federatedIdentities': [
    [{ identityProvider: 'a', userId: 'one', userName: 'One' }],
    [{ identityProvider: 'b', userId: 'two', userName: 'Two' }],
  ],
}

/** Required fields of kinds, in addition to the name. */
const requiredFields: Readonly<Partial<Record<KindName, (label: string) => Representation>>> = {
  clientScope: () => ({ protocol: 'openid-connect' }),
  protocolMapper: () => ({ protocolMapper: 'oidc-hardcoded-claim-mapper' }),
  identityProvider: (label) => ({ providerId: 'oidc', config: createProviderConfig(label) }),
  identityProviderMapper: () => ({ identityProviderMapper: 'hardcoded-attribute-idp-mapper' }),
  requiredAction: () => ({ providerId: 'webauthn-register' }),
  client: (label) => (label === 'x' ? {} : { serviceAccountsEnabled: true, authorizationServicesEnabled: true }),
  authorizationPolicy: () => ({ type: 'scope' }),
  workflow: () => ({ steps: [{ uses: 'notify-user', after: '1d' }] }),
  organization: (label) => ({ name: `Organization ${label}` }),
}

/** Fields that create the objects that they refer to. */
export const creatingFields: readonly string[] = ['authorizationResource.scopes']

/** Values that are needed if an object has all fields. */
export const consistentFields: Readonly<Partial<Record<KindName, Representation>>> = {
  client: { publicClient: false, bearerOnly: false },
}

/** Fields that tests of single fields skip, with the reason. */
export const skippedFields: Readonly<Record<string, string>> = {
  'realm.realm': 'the name of a realm is its address: see renames-by-rest.test.ts',
  'user.serviceAccountClientId': 'an account comes with its client: see users.test.ts',
  'identityProvider.providerId': 'the type decides which settings are needed',
  'user.managedBy': 'goes with organizations',
  'user.organizationGroups': 'goes with organizations',
  'client.authorizationSettings': 'counts where authorization services are enabled: see authorization.test.ts',
  'authorizationPolicy.type': 'decides what the policy names',
  'authorizationPolicy.users': 'policies of one type have it: see authorization.test.ts',
  'authorizationPolicy.clients': 'policies of one type have it: see authorization.test.ts',
  'authorizationPolicy.roles': 'policies of one type have it: see authorization.test.ts',
  'authorizationPolicy.requiredRoles': 'policies of one type have it: see authorization.test.ts',
  'authorizationPolicy.groups': 'policies of one type have it: see authorization.test.ts',
  'authorizationPolicy.groupsAndBelow': 'policies of one type have it: see authorization.test.ts',
  'authorizationPolicy.clientScopes': 'policies of one type have it: see authorization.test.ts',
  'authorizationPolicy.requiredClientScopes': 'policies of one type have it: see authorization.test.ts',
  'group.name': 'follows from the path',
  'organizationGroup.name': 'follows from the path',
}

function createProviderConfig(label: string): Representation {
  const at = (path: string) => `https://idp.example.org/${path}`
  return { authorizationUrl: at('auth'), tokenUrl: at('token'), clientId: 'regent', issuer: at(label) }
}

/** Returns the name of an object of a kind, for a label such as `a`. */
export function toName(kind: KindName, label: string): string {
  if (kind === 'component') return `org.example.Provider/${label}`
  return kind === 'group' || kind === 'organizationGroup' ? `/${label}` : label
}

/** Returns the natural key of an object of a kind. If the kind requires a parent, it is the parent `a`. */
export function toKey(kind: KindName, label: string): Key {
  const { parents, parentOptional } = kinds[kind]
  const name = toName(kind, label)
  return parents.length && !parentOptional ? [parents[0]!, ...toKey(parents[0]!, 'a'), name] : [name]
}

/** Returns an object of a kind with its required fields, and the given ones. */
export function createSampleObject(kind: KindName, label: string, fields: Representation = {}): TreeObject {
  const { naturalKey } = kinds[kind]
  const representation = { [naturalKey]: toName(kind, label), ...requiredFields[kind]?.(label), ...fields }
  return { kind, key: toKey(kind, label), representation, path: [] }
}

/** Returns two objects, `a` and `b`, of every kind except for realms. */
export function createSampleObjects(): TreeObject[] {
  const kindNames = (Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm')
  return kindNames.flatMap((kind) => {
    const objects = ['a', 'b'].map((label) => createSampleObject(kind, label))
    const { parents, parentOptional } = kinds[kind]
    return parentOptional ? [...objects, ...objects.map((object) => withParent(object, parents[0]!))] : objects
  })
}

/** Returns the object below the parent `a`. */
function withParent(object: TreeObject, parent: KindName): TreeObject {
  return { ...object, key: [parent, ...toKey(parent, 'a'), ...object.key] }
}

/** Returns a document with the objects. Of two with one key, the last is used. */
export function toDocument(realm: string, objects: readonly TreeObject[], settings: Representation = {}): object {
  const byAddress = new Map(objects.map((object) => [JSON.stringify([object.kind, object.key]), object]))
  const realmObject: TreeObject = { kind: 'realm', key: [realm], representation: { realm, ...settings }, path: [] }
  return convertForExport(joinTree([realmObject, ...byAddress.values()]))
}

/** Returns the fields of a kind that documents can declare and tests can change one by one, with two values each. */
export function listSettableFields(kind: KindName): [name: string, field: Field, values: Pair][] {
  return Object.entries(kinds[kind].fields).flatMap(([name, field]): [string, Field, Pair][] => {
    const path = `${kind}.${name}`
    if (field.computed || path in skippedFields || name === kinds[kind].naturalKey) return []
    return [[name, field, getSampleValues(path, field)]]
  })
}

/** Returns two values of a field, whose path is `kind.field`. Throws if its type does not determine valid ones. */
export function getSampleValues(path: string, field: Field): Pair {
  if (specialValues[path]) return specialValues[path]
  if (field.refersTo) return getReferenceValues(field)
  if (field.values) return [field.values[0]!, field.values[1]!]
  const candidates: Pair[] =
    field.type === 'map'
      ? [[{ a: ['x'], b: ['y'] }, { a: ['z'] }] as Pair, [{ a: 'x', b: 'y' }, { a: 'z' }] as Pair]
      : field.type === 'set' || field.type === 'list'
        ? [[['one'], ['one', 'two']] as Pair]
        : getScalarValues(field.schema)
  const pair = candidates.find((pair) => pair.every((value) => field.schema.safeParse(value).success))
  if (!pair) throw new Error(`${path} has no valid sample value. Add one to specialValues.`)
  return pair
}

/** Returns pairs of values, strings only for schemas of strings, since these accept numbers and booleans, too. */
function getScalarValues(schema: z.ZodType): Pair[] {
  const options = (schema as { options?: unknown }).options
  if (Array.isArray(options) && options.every((option) => typeof option === 'string'))
    return [[options[0]!, options[1]!]]
  const takesText = schema.safeParse('no such value').success
  return takesText
    ? [['one', 'two']]
    : [
        [true, false],
        [3, 7],
        [{ a: 1 }, { a: 2 }],
      ]
}

function getReferenceValues({ refersTo, type, relation, targetParent: among }: Field): Pair {
  const [first, second] = ['a', 'b'].map((label) => toName(refersTo!, label)) as [string, string]
  if (!relation) return [first, second]
  if (type === 'set') return [[first], [first, second]]
  if (among !== undefined) return [{ a: [first] }, { a: [first, second] }]
  return [{ realm: [first] }, { realm: [first, second] }]
}

// Values for tests that go over the table of kinds: two for each field, from its type. Where only some values will do,
// they stand in `special`; a field that cannot be changed by itself stands in `skipped` with the reason.
import type * as z from 'zod'
import type { Field } from '../../src/kinds/fields.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Json, Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import { joinTree, type TreeObject } from '../../src/kinds/tree.ts'
import { convertForExport } from '../../src/realm-file/convert-formats.ts'

type Pair = readonly [Json, Json]

/** What a field of a kind may be, where its type does not tell. */
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
  'client.protocol': ['openid-connect', 'saml'],
  'client.clientAuthenticatorType': ['client-secret', 'client-jwt'],
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
  'client.registeredNodes': [{ one: 1 }, { one: 2 }],
  'clientScope.protocol': ['openid-connect', 'saml'],
  'protocolMapper.protocol': ['openid-connect', 'saml'],
  'authenticationFlow.authenticationExecutions': [
    [{ authenticator: 'auth-cookie', requirement: 'REQUIRED', priority: 10, userSetupAllowed: false }],
    [{ flowAlias: 'b', requirement: 'ALTERNATIVE', priority: 10, userSetupAllowed: false }],
  ],
  'organization.domains': [
    [{ name: 'one.example.org', verified: false }],
    [{ name: 'two.example.org', verified: true }],
  ],
  'organization.groups': [[{ name: 'one' }], [{ name: 'one', subGroups: [{ name: 'two' }] }]],
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

/** What every object of a kind needs besides its name. */
const requiredFields: Readonly<Partial<Record<KindName, (label: string) => Representation>>> = {
  clientScope: () => ({ protocol: 'openid-connect' }),
  protocolMapper: () => ({ protocolMapper: 'oidc-hardcoded-claim-mapper' }),
  identityProvider: () => ({ providerId: 'oidc', config: providerConfig() }),
  identityProviderMapper: () => ({ identityProviderMapper: 'hardcoded-attribute-idp-mapper' }),
  requiredAction: () => ({ providerId: 'webauthn-register' }),
  client: (label) => (label === 'x' ? {} : { serviceAccountsEnabled: true, authorizationServicesEnabled: true }),
  authorizationPolicy: () => ({ type: 'scope' }),
  workflow: () => ({ steps: [{ uses: 'notify-user', after: '1d' }] }),
  organization: (label) => ({ name: `Organization ${label}` }),
}

/** Fields that make what they name. */
export const creatingFields: readonly string[] = ['authorizationResource.scopes']

/** What must be otherwise where all fields of an object are stated together. */
export const consistentFields: Readonly<Partial<Record<KindName, Representation>>> = {
  client: { publicClient: false, bearerOnly: false },
}

/** Fields that tests of single fields leave out, and why. */
export const skippedFields: Readonly<Record<string, string>> = {
  'realm.realm': 'the name of a realm is its address: see renames.test.ts',
  'user.serviceAccountClientId': 'an account comes with its client: see users.test.ts',
  'identityProvider.providerId': 'the type decides which settings are needed',
  'user.managedBy': 'goes with organizations',
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
}

function providerConfig(): Representation {
  const at = (path: string) => `https://idp.example.org/${path}`
  return { authorizationUrl: at('auth'), tokenUrl: at('token'), clientId: 'regent', issuer: at('') }
}

/** What an object of a kind is called, by a label such as `a`. */
export function toName(kind: KindName, label: string): string {
  if (kind === 'component') return `org.example.Provider/${label}`
  return kind === 'group' ? `/${label}` : label
}

/** The natural key of an object of a kind: below the object of the same label, where it must belong to one. */
export function toKey(kind: KindName, label: string): Key {
  const { parents, parentOptional } = kinds[kind]
  const name = toName(kind, label)
  return parents.length && !parentOptional ? [parents[0]!, ...toKey(parents[0]!, 'a'), name] : [name]
}

/** An object of a kind with what it needs, and these fields. */
export function createSampleObject(kind: KindName, label: string, fields: Representation = {}): TreeObject {
  const { naturalKey } = kinds[kind]
  const representation = { [naturalKey]: toName(kind, label), ...requiredFields[kind]?.(label), ...fields }
  return { kind, key: toKey(kind, label), representation, path: [] }
}

/** Two objects of every kind but the realm, for others to refer to: `a` and `b`. */
export function createSampleObjects(): TreeObject[] {
  const others = (Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm')
  return others.flatMap((kind) => {
    const own = ['a', 'b'].map((label) => createSampleObject(kind, label))
    const { parents, parentOptional } = kinds[kind]
    return parentOptional ? [...own, ...own.map((one) => withParent(one, parents[0]!))] : own
  })
}

/** The same object, but belonging to the first one of a kind. */
function withParent(object: TreeObject, parent: KindName): TreeObject {
  return { ...object, key: [parent, ...toKey(parent, 'a'), ...object.key] }
}

/** A document that states the objects; the last of two with one key counts. */
export function toDocument(realm: string, objects: readonly TreeObject[], settings: Representation = {}): object {
  const byAddress = new Map(objects.map((one) => [JSON.stringify([one.kind, one.key]), one]))
  const own: TreeObject = { kind: 'realm', key: [realm], representation: { realm, ...settings }, path: [] }
  return convertForExport(joinTree([own, ...byAddress.values()]))
}

/** The fields of a kind that documents can state and tests can change one by one, with two values for each. */
export function listSettableFields(kind: KindName): [name: string, field: Field, values: Pair][] {
  return Object.entries(kinds[kind].fields).flatMap(([name, field]): [string, Field, Pair][] => {
    const path = `${kind}.${name}`
    if (field.computed || path in skippedFields || name === kinds[kind].naturalKey) return []
    return [[name, field, specialValues[path] ?? getSampleValues(path, field)]]
  })
}

function getSampleValues(path: string, field: Field): Pair {
  if (field.refersTo) return getReferenceValues(field)
  const candidates: Pair[] =
    field.type === 'map'
      ? [[{ one: ['x'], two: ['y'] }, { one: ['z'] }] as Pair, [{ one: 'x', two: 'y' }, { one: 'z' }] as Pair]
      : field.type === 'set' || field.type === 'list'
        ? [[['one'], ['one', 'two']] as Pair]
        : getScalarValues(field.schema)
  const found = candidates.find((pair) => pair.every((value) => field.schema.safeParse(value).success))
  if (!found) throw new Error(`${path}: no value is known: add one to special`)
  return found
}

/** The readers of texts take numbers and flags too: the narrowest type comes first. */
function getScalarValues(schema: z.ZodType): Pair[] {
  const options = (schema as { options?: unknown }).options
  if (Array.isArray(options) && options.every((one) => typeof one === 'string')) return [[options[0]!, options[1]!]]
  const takesText = schema.safeParse('no such value').success
  return takesText
    ? [['one', 'two']]
    : [
        [true, false],
        [3, 7],
        [{ one: 1 }, { one: 2 }],
      ]
}

function getReferenceValues({ refersTo, type, relation, targetParent: among }: Field): Pair {
  const [one, two] = ['a', 'b'].map((label) => toName(refersTo!, label)) as [string, string]
  if (!relation) return [one, two]
  if (type === 'set') return [[one], [one, two]]
  if (among !== undefined) return [{ a: [one] }, { a: [one, two] }]
  return [{ realm: [one] }, { realm: [one, two] }]
}

// A request of each operation of the admin API that succeeds in a sized realm.
import { generateKeyPairSync } from 'node:crypto'
import type { Operation } from '../../src/http/operation.ts'
import type { Representation } from '../../src/kinds/json.ts'
import { createBody, toAddress } from './filled-realm.ts'
import type { TestRequest } from './server.ts'
import { newName } from './service.ts'
import { createAttributes, createList, LABEL, type SizedRealm, SPARE_LABELS, USER } from './sized-realm.ts'

const FLOW = '/admin/realms/{realm}/authentication/flows/{id}'
/** The client of version 2 that its operations create, change and delete: others need the roles of the labeled client. */
const CLIENT_V2 = 'created-v2'
const EXECUTION = '/admin/realms/{realm}/authentication/executions/{executionId}'

/** Bodies of operations, by operation id, for which a sample of the schema is not valid or too small. */
const specialBodies: Readonly<Record<string, (realm: SizedRealm) => unknown>> = {
  createRealm: () => ({ realm: newName() }),
  updateRealm: () => ({ displayName: 'Other' }),
  updateRealmAndUserProfile: () => ({ displayName: 'Other' }),
  describeClient: ({ size }) => JSON.stringify({ clientId: 'described', ...createClientFields(size) }),
  updateClientProfiles: ({ size }) => ({ profiles: createList(size, (at) => ({ name: `profile-${at}` })) }),
  updateClientPolicies: () => ({ policies: [] }),
  updateClientTypes: ({ size }) => ({
    'client-types': createList(size, (at) => ({ name: `type-${at}`, provider: 'default', config: {} })),
  }),
  testSMTPConnection: ({ smtpServer }) => smtpServer,
  testLDAPConnection: ({ directory }) => directory,
  listLDAPCapabilities: ({ directory }) => directory,
  updateUserProfile: ({ size }) => ({
    attributes: ['username', 'email', ...createList(size, (at) => `attribute-${at}`)].map((name) => ({ name })),
  }),
  updateUsersUserId: ({ size }) => ({ email: `${LABEL}@example.org`, attributes: createAttributes(size + 1) }),
  labelUserCredential: () => 'blue key',
  downloadClientKeyStore: createKeyStoreSettings,
  generateClientKeyStore: createKeyStoreSettings,
  resetUserPassword: () => ({ type: 'password', value: 'another password' }),
  disableUserCredentialTypes: () => ['password'],
  executeActionsEmail: () => ['VERIFY_EMAIL'],
  createGroup: () => ({ name: 'created' }),
  createGroupChild: () => ({ name: 'created' }),
  createOrganizationGroup: () => ({ name: 'created' }),
  createOrganizationGroupChild: () => ({ name: 'created' }),
  replaceOrganizationGroup: ({ size }) => ({ name: 'renamed', attributes: createAttributes(size) }),
  addFederatedIdentity: () => ({ userId: 'linked', userName: 'linked' }),
  updateGroupsGroupId: ({ size }) => ({ name: 'renamed', attributes: createAttributes(size) }),
  setLocalizationTexts: ({ size }) => Object.fromEntries(createList(size, (at) => [`other-${at}`, 'Text'])),
  setLocalizationText: () => 'Hello',
  updateClientsClientUuid: ({ size }) => ({ clientId: LABEL, ...createClientFields(size) }),
  createClientV2: ({ size }) => createClientV2(CLIENT_V2, size),
  replaceClientV2: ({ size }) => createClientV2(CLIENT_V2, size),
  patchClientV2: ({ size }) => ({
    roles: createList(size, (at) => `patched-${at}`),
    serviceAccountRoles: ['patched-0'],
  }),
  addClientNode: () => ({ node: 'added' }),
  createComponents: () => createKeyProvider('created'),
  updateComponentsId: () => createKeyProvider(LABEL),
  createAuthenticationFlow: () => ({ alias: 'created', providerId: 'basic-flow' }),
  updateAuthenticationFlow: () => ({ alias: LABEL, providerId: 'basic-flow', description: 'Other' }),
  copyAuthenticationFlow: () => ({ newName: 'copied' }),
  updateAuthenticationFlowExecution: (realm) => ({
    id: realm.value(EXECUTION, 'executionId'),
    requirement: 'REQUIRED',
  }),
  addAuthenticationFlowExecution: () => ({ provider: 'auth-cookie' }),
  addAuthenticationSubFlow: () => ({ alias: 'added', type: 'basic-flow' }),
  createAuthenticationExecution: (realm) => ({
    parentFlow: realm.value(FLOW, 'id'),
    authenticator: 'auth-cookie',
    requirement: 'REQUIRED',
  }),
  createIdentityProviderInstancesAliasMappers: () => ({
    name: 'created',
    identityProviderAlias: LABEL,
    identityProviderMapper: 'hardcoded-attribute-idp-mapper',
  }),
  registerRequiredAction: () => ({ providerId: 'update_user_locale', name: 'Update user locale' }),
  updateRequiredActionConfig: () => ({ config: { max_auth_age: '60' } }),
  evaluatePolicies: createEvaluation,
  evaluatePermissions: createEvaluation,
  addOrganizationMember: (realm) => realm.withLabel(SPARE_LABELS[0]).value(USER, 'user-id'),
  addOrganizationProvider: () => SPARE_LABELS[0],
  inviteUser: () => ({ email: 'invited@example.org', firstName: 'Invited', lastName: 'User' }),
  inviteExistingUser: (realm) => ({ id: realm.value(USER, 'user-id') }),
}

function createKeyStoreSettings(): Representation {
  return { format: 'JKS', keyPassword: 'key-password', storePassword: 'store-password', keySize: 2048 }
}

/** Parts of multipart forms, by operation id. */
const forms: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  uploadClientKey: createKeyForm,
  uploadClientCertificate: createKeyForm,
  uploadIdentityProviderCertificate: createKeyForm,
  importIdentityProviderConfig: () => ({
    providerId: 'oidc',
    file: JSON.stringify({ issuer: 'https://idp.example.org', token_endpoint: 'https://idp.example.org/token' }),
  }),
}

/** Required query parameters, by the end of the path. */
const queries: readonly (readonly [RegExp, (realm: SizedRealm) => Readonly<Record<string, string>>])[] = [
  [/\/generate-example-[^/]+$/, (realm) => ({ userId: realm.value(USER, 'user-id'), scope: 'openid' })],
  [/\/authz\/.*\/search$/, () => ({ name: LABEL })],
  [
    /\/ui-ext\/sessions\/client$/,
    (realm) => ({ clientId: realm.value('/admin/realms/{realm}/clients/{client-uuid}', 'client-uuid'), max: '1' }),
  ],
  [/\/workflows\/migrate$/, ({ workflowSteps: [from, to] }) => ({ from, to })],
  [/\/user-storage\/.*\/sync$/, () => ({ action: 'triggerFullSync', direction: 'fedToKeycloak' })],
  [/\/sub-component-types$/, () => ({ type: 'org.keycloak.keys.KeyProvider' })],
]

/** Returns the request. `url` includes the query. */
export function createRequest(operation: Operation, realm: SizedRealm): TestRequest & { readonly url: string } {
  const { operationId, path } = operation
  const [, getQuery] = queries.find(([pattern]) => pattern.test(path)) ?? []
  const query = getQuery && `?${new URLSearchParams(getQuery(realm))}`
  const url = `${getPath(operation, realm)}${query ?? ''}`
  const form = forms[operationId]?.()
  if (form) return { url, ...createMultipart(form) }
  const body = createOperationBody(operation, realm)
  if (operation.body?.isForm) return { url, ...createForm(body as Readonly<Record<string, string>>) }
  return {
    url,
    ...(operation.body?.plain && { headers: { 'content-type': 'text/plain' } }),
    ...(operation.body?.onlyType && { headers: { 'content-type': operation.body.onlyType } }),
    ...(body !== undefined && { body }),
  }
}

function createOperationBody(operation: Operation, realm: SizedRealm): unknown {
  const { operationId, method, path, body } = operation
  if (!body) return undefined
  const special = specialBodies[operationId]?.(realm)
  if (special !== undefined) return special
  const ofRoles = /(?:composites|(?:role|scope)-mappings\/(?:realm|(clients)\/\{[^}]+\}))$/.exec(path)
  if (ofRoles) return realm.unusedRoles[ofRoles[1] ? 'client' : 'realm'].map((id) => ({ id }))
  const label = method === 'PUT' ? getLabel(operation) : `created-by-${operationId}`
  if (path.startsWith(`${AUTHORIZATION}/`)) return createAuthorizationBody(path, label, realm)
  const fields = { description: 'Other', attributes: createAttributes(realm.size) }
  return createBody(operation, label, method === 'PUT' ? fields : {})
}

function createEvaluation(realm: SizedRealm): unknown {
  return { userId: realm.value(USER, 'user-id') }
}

const AUTHORIZATION = '/admin/realms/{realm}/clients/{client-uuid}/authz/resource-server'

/** Returns a resource, scope, policy or permission of an authorization service. */
function createAuthorizationBody(path: string, name: string, { size }: SizedRealm): Representation {
  if (path === `${AUTHORIZATION}/import`) return {}
  const scopes = createList(size, (at) => `more-${at}`)
  if (path.includes('/resource/')) return { name, scopes: scopes.map((scope) => ({ name: scope })) }
  return path.includes('/scope') ? { name } : { name, type: 'scope', scopes }
}

/** Operations that repeat those of another path, whose object may be deleted or assigned before. They use other objects. */
const repeated: readonly (readonly [RegExp, string])[] = [
  [/\/client-templates\//, SPARE_LABELS[0]],
  [/\/default-optional-client-scopes\/\{/, SPARE_LABELS[0]],
  [/^DELETE .*\/invitations\/\{invitation-id\}$/, SPARE_LABELS[0]],
  [/^DELETE .*\/roles-by-id\/\{role-id\}$/, SPARE_LABELS[0]],
  [/^DELETE .*\/policy\/\{policy-id\}$/, SPARE_LABELS[0]],
  [/^DELETE .*\/permission\/\{type\}\/\{permission-id\}$/, SPARE_LABELS[1]],
  [/^DELETE .*\/permission\/\{permission-id\}$/, SPARE_LABELS[2]],
]

function getLabel({ method, path }: Operation): string {
  return repeated.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] ?? LABEL
}

function getPath(operation: Operation, realm: SizedRealm): string {
  const values = realm.withLabel(getLabel(operation))
  const url = toAddress(operation.path, {
    // The roles in bodies belong to the client with the first label, and all invitations to the organization with that label.
    value: (path, parameter) => (['client', 'org-id'].includes(parameter) ? realm : values).value(path, parameter),
  })
  if (operation.method !== 'GET' && operation.path.endsWith('/clients/v2/{id}')) return url.replace(LABEL, CLIENT_V2)
  // Only some required actions have a configuration.
  return url.replace(`/required-actions/${LABEL}/config`, '/required-actions/UPDATE_PASSWORD/config')
}

function createClientFields(size: number): Representation {
  return {
    redirectUris: createList(size, (at) => `https://${at}.example.org/*`),
    authorizationServicesEnabled: true,
    serviceAccountsEnabled: true,
  }
}

/** Returns a client of version 2. */
function createClientV2(clientId: string, size: number): Representation {
  return {
    clientId,
    protocol: 'openid-connect',
    auth: { method: 'client-secret' },
    redirectUris: createList(size, (at) => `https://${at}.example.org/*`),
    loginFlows: ['STANDARD', 'SERVICE_ACCOUNT'],
    roles: createList(size, (at) => `role-${at}`),
    serviceAccountRoles: createList(size, (at) => `role-${at}`),
  }
}

const createKeyProvider = (name: string) => ({
  name,
  providerType: 'org.keycloak.keys.KeyProvider',
  providerId: 'hmac-generated',
})

function createKeyForm(): Readonly<Record<string, string>> {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { keystoreFormat: 'Public Key PEM', file: publicKey.export({ type: 'spki', format: 'pem' }).toString() }
}

function createForm(fields: Readonly<Record<string, string>>): TestRequest {
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  }
}

/** Returns a multipart form. The part `file` is a file. */
function createMultipart(parts: Readonly<Record<string, string>>): TestRequest {
  const sections = Object.entries(parts).map(([name, text]) => {
    const file = name === 'file' ? '; filename="file"' : ''
    return `--part\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  return { headers: { 'content-type': 'multipart/form-data; boundary=part' }, body: `${sections.join('')}--part--\r\n` }
}

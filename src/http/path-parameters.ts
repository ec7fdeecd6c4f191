// The descriptions of path parameters in OpenAPI.

/** By name, or by the segment before the parameter and its name. */
const descriptions: Readonly<Record<string, string>> = {
  realm: 'Name of the realm, not its id.',
  'client-uuid': 'Id of the client, not its client id.',
  clientUuid: 'Id of the client, not its client id.',
  'part-client-uuid': 'Id of the client with the roles, not its client id.',
  'client-id': 'Id of the client with the roles, not its client id.',
  'clients/client': 'Id of the client with the roles, not its client id.',
  'consents/client': 'Client id.',
  'client-scope-id': 'Id of the client scope.',
  clientScopeId: 'Id of the client scope.',
  roleContainerId: 'Id of the client with the roles, or name of the realm for realm roles.',
  'role-name': 'Name of the role, not its id.',
  'role-id': 'Id of the role.',
  'group-id': 'Id of the group.',
  groupId: 'Id of the group.',
  'group-by-path/path': 'Path of the group, which contains slashes.',
  'user-id': 'Id of the user.',
  userId: 'Id of the user.',
  credentialId: 'Id of the credential.',
  newPreviousCredentialId: 'Id of the credential that comes before it afterwards.',
  credentialScopeName: 'Name of the client scope of the verifiable credential.',
  'issued-credentials/id': 'Id of the issued verifiable credential.',
  'federated-identity/provider': 'Alias of the identity provider.',
  session: 'Id of the session.',
  attr: 'Prefix of the attributes with the certificate, such as `jwt.credential`, `saml.signing` or `saml.encryption`.',
  node: 'Host name of the cluster node.',
  'resource-id': 'Id of the resource.',
  'scope-id': 'Id of the authorization scope.',
  'policy-id': 'Id of the policy.',
  'permission-id': 'Id of the permission.',
  'policy/type': 'Type of the policy, such as role, user or time.',
  'permission/type': 'Type of the permission: resource or scope.',
  'v2/id': 'Client id.',
  'models/id': 'Id of the protocol mapper.',
  protocol: 'Protocol of the mappers: openid-connect or saml.',
  'clients-initial-access/id': 'Id of the initial access token.',
  'components/id': 'Id of the component.',
  'workflows/id': 'Id of the workflow.',
  'config/id': 'Id of the authenticator config.',
  'flows/id': 'Id of the authentication flow.',
  'mappers/id': 'Id of the mapper.',
  'user-storage/id': 'Id of the user federation provider.',
  'user-storage/parentId': 'Id of the user federation provider.',
  flowAlias: 'Alias of the authentication flow.',
  executionId: 'Id of the execution.',
  'config-description/providerId': 'Id of the authenticator.',
  'required-actions/alias': 'Alias of the required action.',
  'instances/alias': 'Alias of the identity provider.',
  'identity-providers/alias': 'Alias of the identity provider.',
  'providers/providerId': 'Format of the document, such as keycloak-oidc-keycloak-json.',
  provider_id: 'Type of the identity provider, such as oidc or github.',
  locale: 'Language, such as de.',
  'locale/key': 'Key of the text.',
  'org-id': 'Id of the organization.',
  'member-id': 'Id of the user.',
  plan: 'Id of the plan.',
  name: 'Name of the secret.',
}

/** Returns the description of a parameter of a path. @throws Error if there is none */
export function describePathParameter(path: string, name: string): string {
  const segments = path.split('/')
  const previous = segments[segments.indexOf(`{${name}}`) - 1]?.replace(/[{}]/g, '')
  const description = descriptions[`${previous}/${name}`] ?? descriptions[name]
  if (description === undefined) throw new Error(`The path parameter ${name} of ${path} has no description.`)
  return description
}

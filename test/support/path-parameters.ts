// The meanings of path parameters of the admin API.

/**
 * The meaning of a path parameter: an object by its id or name, with the type of a component; an element of a list, by the id of the first element; or a fixed value,
 * which refers to nothing in the realm.
 */
export type ParameterMeaning =
  | { readonly by: 'id' | 'name'; readonly kind: string; readonly provider?: 'user store' | 'LDAP mapper' }
  | { readonly by: 'id'; readonly list: string }
  | { readonly fixed: string }

const id = (kind: string) => ({ by: 'id', kind: kind }) as const
const name = (kind: string): ParameterMeaning => ({ by: 'name', kind: kind })

/** Meanings by the path segment before the parameter, or the two before it, and its name. */
export const parameterMeanings: Readonly<Record<string, ParameterMeaning>> = {
  'client-scopes {client-scope-id}': id('clientScope'),
  'clientScopes {client-scope-id}': id('clientScope'),
  'authentication-management/clients {flow-id}': id('authenticationFlow'),
  'idp {flow-id}': id('authenticationFlow'),
  'roles {role-id}': id('role'),
  'client-templates {client-scope-id}': id('clientScope'),
  'default-default-client-scopes {clientScopeId}': id('clientScope'),
  'default-optional-client-scopes {clientScopeId}': id('clientScope'),
  'default-client-scopes {clientScopeId}': id('clientScope'),
  'optional-client-scopes {clientScopeId}': id('clientScope'),
  'clients {client-uuid}': id('client'),
  'certificates {attr}': { fixed: 'jwt.credential' },
  'clients {client-id}': id('client'),
  'clients {part-client-uuid}': id('client'),
  'clients {client}': id('client'),
  'clients {clientUuid}': id('client'),
  'offline-sessions {clientUuid}': id('client'),
  'consents {client}': name('client'),
  'nodes {node}': name('client'),
  'sessions {session}': { by: 'id', list: 'users/{user-id}/sessions' },
  'scope-mappings {roleContainerId}': id('client'),
  'resource {resource-id}': id('authorizationResource'),
  'scope {scope-id}': id('authorizationScope'),
  'policy {policy-id}': id('authorizationPolicy'),
  'policy {type}': { fixed: 'scope' },
  '{type} {policy-id}': id('authorizationPolicy'),
  'permission {type}': { fixed: 'scope' },
  '{type} {permission-id}': id('authorizationPolicy'),
  'permission {permission-id}': id('authorizationPolicy'),
  'v2 {id}': name('client'),
  'models {id}': id('protocolMapper'),
  'protocol {protocol}': { fixed: 'openid-connect' },
  'roles {role-name}': name('role'),
  'roles-by-id {role-id}': id('role'),
  'users {user-id}': id('user'),
  'users {userId}': id('user'),
  'members {member-id}': id('user'),
  'members {userId}': id('user'),
  'credentials {credentialId}': { by: 'id', list: 'users/{user-id}/credentials' },
  'moveAfter {newPreviousCredentialId}': { by: 'id', list: 'users/{user-id}/credentials' },
  'credentials {credentialScopeName}': { fixed: 'none' },
  'issued-credentials {id}': { fixed: 'none' },
  'groups {group-id}': id('group'),
  'groups {groupId}': id('group'),
  'default-groups {groupId}': id('group'),
  'group-by-path {path}': name('group'),
  'instances {alias}': name('identityProvider'),
  'identity-providers {alias}': name('identityProvider'),
  'federated-identity {provider}': name('identityProvider'),
  'mappers {id}': id('identityProviderMapper'),
  'providers {provider_id}': { fixed: 'oidc' },
  'providers {providerId}': { fixed: 'keycloak-oidc-keycloak-json' },
  'flows {id}': id('authenticationFlow'),
  'flows {flowAlias}': name('authenticationFlow'),
  'executions {executionId}': { by: 'id', list: 'authentication/flows/{flowAlias}/executions' },
  'config {id}': id('authenticatorConfig'),
  'config-description {providerId}': { fixed: 'auth-cookie' },
  'required-actions {alias}': name('requiredAction'),
  'organizations {org-id}': id('organization'),
  '{org-id}/groups {group-id}': id('organizationGroup'),
  'invitations {invitation-id}': { by: 'id', list: 'organizations/{org-id}/invitations' },
  'clients-initial-access {id}': { by: 'id', list: 'clients-initial-access' },
  'components {id}': id('component'),
  'user-storage {id}': { ...id('component'), provider: 'user store' },
  'user-storage {parentId}': { ...id('component'), provider: 'user store' },
  '{parentId}/mappers {id}': { ...id('component'), provider: 'LDAP mapper' },
  'workflows {id}': id('workflow'),
  'activate {type}': { fixed: 'USERS' },
  'deactivate {type}': { fixed: 'USERS' },
  '{type} {resourceId}': id('user'),
  'scheduled {resource-id}': id('user'),
  'admin {locale}': { fixed: 'en' },
  '{realm} {themeType}': { fixed: 'login' },
  '{themeType} {locale}': { fixed: 'en' },
  'localization {locale}': { fixed: 'en' },
  '{locale} {key}': { fixed: 'greeting' },
}

/** Returns the meaning of a path parameter; undefined if it is unknown. */
export function findMeaning(path: string, parameter: string): ParameterMeaning | undefined {
  if (parameter === 'realm') return name('realm')
  const [outer, step] = path
    .slice(0, path.indexOf(`/{${parameter}}`))
    .split('/')
    .slice(-2)
  return parameterMeanings[`${outer}/${step} {${parameter}}`] ?? parameterMeanings[`${step} {${parameter}}`]
}

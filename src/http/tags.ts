// The tags of operations in OpenAPI, in the order of the document.

/** The tags of Keycloak's OpenAPI document, and those of Regent's own API, with their descriptions. */
export const tags = {
  'Realms Admin':
    'Realms: settings, default client scopes and groups, events, sessions, localization, import and export.',
  Clients:
    'Clients: settings, secrets, assigned client scopes, cluster nodes, sessions and evaluation of client scopes.',
  'Clients (authorization)':
    'Authorization services of a client: resource server, resources, scopes, policies and permissions.',
  'Client Initial Access': 'Initial access tokens, with which applications register clients.',
  'Client Registration Policy': 'Client registration policies: their providers.',
  'Client Attribute Certificate': 'Keys and certificates of a client.',
  'Client Scopes': 'Client scopes, with the legacy alias `client-templates`.',
  'Protocol Mappers': 'Protocol mappers of clients and client scopes.',
  'Scope Mappings': 'Roles in the scope of clients and client scopes.',
  Roles: 'Realm roles and client roles, by name.',
  'Roles (by ID)': 'Realm roles and client roles, by id.',
  'Role Mapper': 'Realm role mappings of users and groups.',
  'Client Role Mappings': 'Client role mappings of users and groups.',
  Groups: 'Groups, their subgroups and members.',
  Users: 'Users: credentials, groups, consents, federated identities, sessions, emails and the user profile.',
  'Attack Detection': 'Brute-force detection: login failures and locked users.',
  'Authentication Management': 'Authentication flows, executions, authenticator configs and required actions.',
  'Identity Providers': 'Identity providers and their mappers.',
  Organizations: 'Organizations, their members and identity providers.',
  Component: 'Components: configured providers of a realm, such as user federation providers.',
  Key: 'Signing and encryption keys of a realm.',
  Workflows: 'Workflows: steps for users or clients that an event or a schedule starts.',
  'Admin Console': "Lists in the form in which the pages of Keycloak's admin console show them.",
  Inspection: 'Regent: the state of realms, and their objects with the sources that manage them.',
  Plans: 'Regent: plan and apply sources, and approve or apply saved plans.',
  Sources: 'Regent: sources of declarations, their status, suspension and webhook.',
  Drift: 'Regent: declared values that were changed, unmanaged objects, and declarations that accept drift.',
  History: 'Regent: revisions of a realm, the diff between them, rollback, and the provenance of values.',
  'Generated Secrets': 'Regent: secrets that are generated for declarations.',
  'Export and Backup': 'Regent: export of a realm, and backup of the store.',
} as const

/** The name of a tag. */
export type Tag = keyof typeof tags

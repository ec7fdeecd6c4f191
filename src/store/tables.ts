// Where each kind is kept: its table, and the columns of its natural key, parents, references and relations.
import { type RawBuilder, sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'

/** The table of a relation: a row per element. */
export interface RelationTable {
  readonly name: string
  readonly owner: string
  readonly target: string
  /** Which rows of a table that two fields share belong to this one; a target is in one of them at most. */
  readonly optional?: boolean
}

/** The table of a kind. Besides these columns it has id, version and body (jsonb: the rest of the representation). */
export interface Table {
  readonly name: string
  /** The column that holds the number of the realm. */
  readonly realm: 'realm' | 'number'
  readonly key: string
  readonly parents: Readonly<Partial<Record<KindName, string>>>
  /** Columns of texts that are looked for, by field. */
  readonly columns: Readonly<Record<string, string>>
  /** Columns of texts in lower case, by field, beside what the row says: these are looked for in any case. */
  readonly folded: Readonly<Record<string, string>>
  /** Columns that an insertion computes: SQL over the new row `x` of the realm of that number. */
  readonly computed: Readonly<Record<string, (realm: number) => RawBuilder<unknown>>>
  /** Columns of ids, by field; `field.key` for a key of a map. */
  readonly references: Readonly<Record<string, string>>
  readonly relations: Readonly<Record<string, RelationTable>>
}

const none = {
  realm: 'realm',
  parents: {},
  columns: {},
  folded: {},
  computed: {},
  references: {},
  relations: {},
} as const

/** The tables of all kinds. */
export const tables: Readonly<Record<KindName, Table>> = {
  realm: {
    ...none,
    name: 'realm',
    realm: 'number',
    key: 'name',
    references: {
      browserFlow: 'browser_flow',
      registrationFlow: 'registration_flow',
      directGrantFlow: 'direct_grant_flow',
      resetCredentialsFlow: 'reset_credentials_flow',
      clientAuthenticationFlow: 'client_authentication_flow',
      dockerAuthenticationFlow: 'docker_authentication_flow',
      firstBrokerLoginFlow: 'first_broker_login_flow',
    },
    relations: {
      defaultDefaultClientScopes: {
        name: 'realm_client_scope',
        owner: 'realm',
        target: 'client_scope',
        optional: false,
      },
      defaultOptionalClientScopes: {
        name: 'realm_client_scope',
        owner: 'realm',
        target: 'client_scope',
        optional: true,
      },
      defaultGroups: { name: 'realm_default_group', owner: 'realm', target: 'realm_group' },
    },
  },
  authenticatorConfig: { ...none, name: 'authenticator_config', key: 'alias' },
  requiredAction: { ...none, name: 'required_action', key: 'alias' },
  authenticationFlow: { ...none, name: 'authentication_flow', key: 'alias' },
  clientScope: {
    ...none,
    name: 'client_scope',
    key: 'name',
    relations: { scopeMappings: { name: 'client_scope_role', owner: 'client_scope', target: 'role' } },
  },
  client: {
    ...none,
    name: 'client',
    key: 'client_id',
    references: {
      'authenticationFlowBindingOverrides.browser': 'browser_flow',
      'authenticationFlowBindingOverrides.direct_grant': 'direct_grant_flow',
    },
    relations: {
      defaultClientScopes: { name: 'client_client_scope', owner: 'client', target: 'client_scope', optional: false },
      optionalClientScopes: { name: 'client_client_scope', owner: 'client', target: 'client_scope', optional: true },
      scopeMappings: { name: 'client_role', owner: 'client', target: 'role' },
    },
  },
  protocolMapper: {
    ...none,
    name: 'protocol_mapper',
    key: 'name',
    parents: { clientScope: 'client_scope', client: 'client' },
  },
  organization: {
    ...none,
    name: 'organization',
    key: 'alias',
    columns: { name: 'display_name' },
    folded: { name: 'display_name_folded' },
  },
  identityProvider: {
    ...none,
    name: 'identity_provider',
    key: 'alias',
    references: {
      firstBrokerLoginFlowAlias: 'first_broker_login_flow',
      postBrokerLoginFlowAlias: 'post_broker_login_flow',
      organization: 'organization',
    },
  },
  identityProviderMapper: {
    ...none,
    name: 'identity_provider_mapper',
    key: 'name',
    parents: { identityProvider: 'identity_provider' },
  },
  role: {
    ...none,
    name: 'role',
    key: 'name',
    parents: { client: 'client' },
    relations: { composites: { name: 'role_composite', owner: 'role', target: 'part' } },
  },
  group: {
    ...none,
    name: 'realm_group',
    key: 'path',
    folded: { path: 'path_folded' },
    relations: {
      realmRoles: { name: 'group_role', owner: 'realm_group', target: 'role' },
      clientRoles: { name: 'group_role', owner: 'realm_group', target: 'role' },
    },
  },
  component: { ...none, name: 'component', key: 'path' },
  localization: { ...none, name: 'localization', key: 'locale' },
  user: {
    ...none,
    name: 'user_account',
    key: 'username',
    columns: { email: 'email' },
    folded: { firstName: 'first_name_folded', lastName: 'last_name_folded' },
    computed: {
      sole_email: (realm) => sql`
        case when (select coalesce((body ->> 'duplicateEmailsAllowed')::boolean, false) from realm where number = ${realm})
          then null else x.email end`,
    },
    references: { serviceAccountClientId: 'service_account_client' },
    relations: {
      realmRoles: { name: 'user_role', owner: 'user_account', target: 'role' },
      clientRoles: { name: 'user_role', owner: 'user_account', target: 'role' },
      groups: { name: 'user_group', owner: 'user_account', target: 'realm_group' },
      organizations: { name: 'user_organization', owner: 'user_account', target: 'organization' },
      managedBy: { name: 'user_managing_organization', owner: 'user_account', target: 'organization' },
    },
  },
  authorizationScope: { ...none, name: 'authorization_scope', key: 'name', parents: { client: 'client' } },
  authorizationResource: {
    ...none,
    name: 'authorization_resource',
    key: 'name',
    parents: { client: 'client' },
    references: { owner: 'owner' },
    relations: { scopes: { name: 'authorization_resource_scope', owner: 'resource', target: 'scope' } },
  },
  authorizationPolicy: {
    ...none,
    name: 'authorization_policy',
    key: 'name',
    parents: { client: 'client' },
    relations: {
      resources: { name: 'authorization_policy_resource', owner: 'policy', target: 'resource' },
      scopes: { name: 'authorization_policy_scope', owner: 'policy', target: 'scope' },
      policies: { name: 'authorization_policy_policy', owner: 'policy', target: 'part' },
      users: { name: 'authorization_policy_user', owner: 'policy', target: 'user_account' },
      clients: { name: 'authorization_policy_client', owner: 'policy', target: 'client' },
      roles: { name: 'authorization_policy_role', owner: 'policy', target: 'role', optional: true },
      requiredRoles: { name: 'authorization_policy_role', owner: 'policy', target: 'role', optional: false },
      groups: { name: 'authorization_policy_group', owner: 'policy', target: 'realm_group', optional: false },
      groupsAndBelow: { name: 'authorization_policy_group', owner: 'policy', target: 'realm_group', optional: true },
      clientScopes: {
        name: 'authorization_policy_client_scope',
        owner: 'policy',
        target: 'client_scope',
        optional: true,
      },
      requiredClientScopes: {
        name: 'authorization_policy_client_scope',
        owner: 'policy',
        target: 'client_scope',
        optional: false,
      },
    },
  },
  workflow: { ...none, name: 'workflow', key: 'name' },
}

/** The fields of a kind that have columns of their own, besides the natural key and references. */
export function columnsOf(kind: KindName): string[] {
  return Object.keys(tables[kind].columns)
}

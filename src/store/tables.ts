// The table of each kind, with the columns of its natural key, parents, references and relations.
import { type RawBuilder, sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'

/** The table of a relation, which has a row per element. */
export interface RelationTable {
  readonly name: string
  readonly owner: string
  readonly target: string
  /** If two fields share the table: the value of the column `optional` in the rows of this field. A target belongs to one of them only. */
  readonly optional?: boolean
}

/** The table of a kind. It also has the columns id, version and body (jsonb: the rest of the representation). */
export interface KindTable {
  readonly name: string
  /** The column of the realm's number. */
  readonly realm: 'realm' | 'number'
  readonly key: string
  readonly parents: Readonly<Partial<Record<KindName, string>>>
  /** Columns of texts that are searched, by field. */
  readonly columns: Readonly<Record<string, string>>
  /** Additional columns of texts in lower case, by field, for searches that ignore case. */
  readonly folded: Readonly<Record<string, string>>
  /** Columns that the insert computes: SQL on the new row `x` in the realm with the number. */
  readonly computed: Readonly<Record<string, (realm: number) => RawBuilder<unknown>>>
  /** Columns of ids, by field of the reference; `field.key` for a key of a map. */
  readonly references: Readonly<Record<string, string>>
  readonly relations: Readonly<Record<string, RelationTable>>
}

const emptyTable = {
  realm: 'realm',
  parents: {},
  columns: {},
  folded: {},
  computed: {},
  references: {},
  relations: {},
} as const

/** The tables of all kinds. */
export const tables: Readonly<Record<KindName, KindTable>> = {
  realm: {
    ...emptyTable,
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
  authenticatorConfig: { ...emptyTable, name: 'authenticator_config', key: 'alias' },
  requiredAction: { ...emptyTable, name: 'required_action', key: 'alias' },
  authenticationFlow: { ...emptyTable, name: 'authentication_flow', key: 'alias' },
  clientScope: {
    ...emptyTable,
    name: 'client_scope',
    key: 'name',
    relations: { scopeMappings: { name: 'client_scope_role', owner: 'client_scope', target: 'role' } },
  },
  client: {
    ...emptyTable,
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
    ...emptyTable,
    name: 'protocol_mapper',
    key: 'name',
    parents: { clientScope: 'client_scope', client: 'client' },
  },
  organization: {
    ...emptyTable,
    name: 'organization',
    key: 'alias',
    columns: { name: 'display_name' },
    folded: { name: 'display_name_folded' },
  },
  organizationGroup: {
    ...emptyTable,
    name: 'organization_group',
    key: 'path',
    parents: { organization: 'organization' },
    folded: { path: 'path_folded' },
    relations: {
      realmRoles: { name: 'organization_group_role', owner: 'organization_group', target: 'role' },
      clientRoles: { name: 'organization_group_role', owner: 'organization_group', target: 'role' },
    },
  },
  identityProvider: {
    ...emptyTable,
    name: 'identity_provider',
    key: 'alias',
    references: {
      firstBrokerLoginFlowAlias: 'first_broker_login_flow',
      postBrokerLoginFlowAlias: 'post_broker_login_flow',
      organization: 'organization',
    },
  },
  identityProviderMapper: {
    ...emptyTable,
    name: 'identity_provider_mapper',
    key: 'name',
    parents: { identityProvider: 'identity_provider' },
  },
  role: {
    ...emptyTable,
    name: 'role',
    key: 'name',
    parents: { client: 'client' },
    relations: { composites: { name: 'role_composite', owner: 'role', target: 'child_role' } },
  },
  group: {
    ...emptyTable,
    name: 'realm_group',
    key: 'path',
    folded: { path: 'path_folded' },
    relations: {
      realmRoles: { name: 'group_role', owner: 'realm_group', target: 'role' },
      clientRoles: { name: 'group_role', owner: 'realm_group', target: 'role' },
    },
  },
  component: { ...emptyTable, name: 'component', key: 'path' },
  localization: { ...emptyTable, name: 'localization', key: 'locale' },
  user: {
    ...emptyTable,
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
      organizationGroups: { name: 'user_organization_group', owner: 'user_account', target: 'organization_group' },
    },
  },
  authorizationScope: { ...emptyTable, name: 'authorization_scope', key: 'name', parents: { client: 'client' } },
  authorizationResource: {
    ...emptyTable,
    name: 'authorization_resource',
    key: 'name',
    parents: { client: 'client' },
    references: { owner: 'owner' },
    relations: { scopes: { name: 'authorization_resource_scope', owner: 'resource', target: 'scope' } },
  },
  authorizationPolicy: {
    ...emptyTable,
    name: 'authorization_policy',
    key: 'name',
    parents: { client: 'client' },
    relations: {
      resources: { name: 'authorization_policy_resource', owner: 'policy', target: 'resource' },
      scopes: { name: 'authorization_policy_scope', owner: 'policy', target: 'scope' },
      policies: { name: 'authorization_policy_policy', owner: 'policy', target: 'associated_policy' },
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
  workflow: { ...emptyTable, name: 'workflow', key: 'name' },
}

/** Returns the fields of a kind that are stored in columns, except for natural key and references. */
export function listColumnFields(kind: KindName): string[] {
  return Object.keys(tables[kind].columns)
}

// Keycloak: what workflows can begin with, ask and do.

/** What a step acts on; `any`: on what the other steps act on. */
export const stepTypes: Readonly<Record<string, 'USERS' | 'CLIENTS' | 'any'>> = {
  'add-required-action': 'USERS',
  'delete-client': 'CLIENTS',
  'delete-user': 'USERS',
  'disable-client': 'CLIENTS',
  'disable-user': 'USERS',
  'grant-role': 'USERS',
  'join-group': 'USERS',
  'leave-group': 'USERS',
  'notify-user': 'USERS',
  'remove-required-action': 'USERS',
  'remove-user-attribute': 'USERS',
  restart: 'any',
  'revoke-role': 'USERS',
  'set-user-attribute': 'USERS',
  'unlink-user': 'USERS',
}

/** What workflows can begin with; written with underscores, in any case. */
export const workflowEvents: ReadonlySet<string> = new Set([
  'client-authenticated',
  'client-created',
  'user-authenticated',
  'user-created',
  'user-federated-identity-added',
  'user-federated-identity-removed',
  'user-group-membership-added',
  'user-group-membership-removed',
  'user-role-granted',
  'user-role-revoked',
])

/** What workflows can ask. */
export const workflowConditions: ReadonlySet<string> = new Set([
  'has-identity-provider-link',
  'has-role',
  'has-user-attribute',
  'is-member-of',
])

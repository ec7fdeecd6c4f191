/**
 * Drops the foreign keys to realms that others imply: the rows belong to a flow, client, client scope or role, which belongs to the realm. The
 * database checked each of them once more for each row, and a new realm has some two hundred.
 */
export const impliedRealmKeys = [
  'authentication_execution',
  'realm_client_scope',
  'client_client_scope',
  'protocol_mapper',
  'role_composite',
  'client_role',
  'client_scope_role',
].map((table) => `alter table ${table} drop constraint ${table}_realm_fkey`)

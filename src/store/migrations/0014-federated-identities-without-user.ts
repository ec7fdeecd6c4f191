/** Keycloak: a federated identity may have no user id at the identity provider. */
export const federatedIdentitiesWithoutUser = [`alter table federated_identity alter column user_id drop not null`]

/** Keycloak: replaces secrets in responses. In a request it keeps the current secret. */
export const MASK = '**********'

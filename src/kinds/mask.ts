/** Keycloak: stands where a secret is not shown; on input it keeps the secret that is there. */
export const MASK = '**********'

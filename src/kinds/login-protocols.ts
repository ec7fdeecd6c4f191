/** The protocol OpenID Connect. */
export const OIDC = 'openid-connect'

/** Keycloak: the protocols of clients, client scopes and protocol mappers. */
export const loginProtocols = [OIDC, 'saml'] as const

/** Whether clients can have the protocol. */
export const isLoginProtocol = (protocol: unknown): boolean => loginProtocols.some((name) => name === protocol)

// The parts of Keycloak that Regent lacks, as reasons why declared values have no effect.

export const NO_SAML = 'users cannot log in to SAML clients'
export const NO_DOCKER = 'logins to Docker registries are not supported'
export const NO_WEBAUTHN = 'WebAuthn and passkeys are not supported'
export const NO_BROKERING = 'users cannot log in through identity providers'
export const NO_KERBEROS = 'Kerberos is not supported'
export const NO_THEMES = 'pages and emails have one theme'
export const NO_CONSOLES = "there is neither an account console nor Keycloak's admin console"
export const NO_DEVICE_GRANT = 'the device grant is not supported'
export const NO_CIBA = 'CIBA is not supported'
export const NO_TOKEN_EXCHANGE = 'token exchange is not supported'
export const NO_JWT_GRANT = 'the JWT authorization grant is not supported'
export const NO_IMPLICIT_FLOW = 'the implicit flow is not supported'
export const NO_PARAMETERIZED_SCOPES = 'parameterized scopes are not supported'

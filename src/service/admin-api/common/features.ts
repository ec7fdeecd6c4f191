// Keycloak: what it can switch on and off, by the names that its clients ask for; and which of it Regent has.

/** Something that may be there or not. */
export interface Feature {
  readonly name: string
  readonly label: string
  readonly type: 'DEFAULT'
  readonly dependencies: readonly string[]
  readonly enabled: boolean
}

const there: Readonly<Record<string, string>> = {
  ADMIN_API: 'The admin API',
  AUTHORIZATION: 'Authorization services of clients',
  CLIENT_POLICIES: 'Client policies',
  CLIENT_SECRET_ROTATION: 'Rotation of the secrets of clients',
  IMPERSONATION: 'Taking the place of people',
  ORGANIZATION: 'Organizations',
  STEP_UP_AUTHENTICATION: 'Levels of authentication',
  WORKFLOWS: 'Workflows',
}

const missing: Readonly<Record<string, string>> = {
  ACCOUNT_API: 'The API of the account console',
  ADMIN_FINE_GRAINED_AUTHZ: 'Permissions of administrators on single objects, in their first form',
  ADMIN_FINE_GRAINED_AUTHZ_V2: 'Permissions of administrators on single objects',
  CIBA: 'Log-in that another device confirms',
  DEVICE_FLOW: 'Log-in of devices',
  DOCKER: 'Docker registries',
  DPOP: 'Tokens bound to keys of clients',
  JWT_AUTHORIZATION_GRANT: 'Tokens for assertions of others',
  KERBEROS: 'Kerberos',
  PAR: 'Log-ins announced beforehand',
  PASSKEYS: 'Passkeys',
  RECOVERY_CODES: 'Recovery codes',
  SCRIPTS: 'Mappers and steps written as scripts',
  TOKEN_EXCHANGE_STANDARD_V2: 'Exchange of tokens',
  UPDATE_EMAIL: 'A required action for a new mail address',
  WEB_AUTHN: 'Web Authentication',
}

const listed = (features: Readonly<Record<string, string>>, enabled: boolean): Feature[] =>
  Object.entries(features).map(([name, label]) => ({ name, label, type: 'DEFAULT', dependencies: [], enabled }))

/** The features, those that are there first. */
export const features: readonly Feature[] = [...listed(there, true), ...listed(missing, false)]

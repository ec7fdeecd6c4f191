// Keycloak: the types of user events. Each has an error type with the suffix _ERROR.

/** The types that realms store by default. */
const DEFAULT_TYPES = [
  'AUTHREQID_TO_TOKEN',
  'CLIENT_DELETE',
  'CLIENT_INITIATED_ACCOUNT_LINKING',
  'CLIENT_LOGIN',
  'CLIENT_REGISTER',
  'CLIENT_UPDATE',
  'CODE_TO_TOKEN',
  'CUSTOM_REQUIRED_ACTION',
  'DELETE_ACCOUNT',
  'EXECUTE_ACTIONS',
  'EXECUTE_ACTION_TOKEN',
  'FEDERATED_IDENTITY_LINK',
  'FEDERATED_IDENTITY_OVERRIDE_LINK',
  'GRANT_CONSENT',
  'IDENTITY_PROVIDER_FIRST_LOGIN',
  'IDENTITY_PROVIDER_LINK_ACCOUNT',
  'IDENTITY_PROVIDER_LOGIN',
  'IDENTITY_PROVIDER_POST_LOGIN',
  'IMPERSONATE',
  'INVITE_ORG',
  'JWT_AUTHORIZATION_GRANT',
  'LOGIN',
  'LOGOUT',
  'OAUTH2_DEVICE_AUTH',
  'OAUTH2_DEVICE_CODE_TO_TOKEN',
  'OAUTH2_DEVICE_VERIFY_USER_CODE',
  'OAUTH2_EXTENSION_GRANT',
  'PERMISSION_TOKEN',
  'REGISTER',
  'REMOVE_CREDENTIAL',
  'REMOVE_FEDERATED_IDENTITY',
  'REMOVE_TOTP',
  'RESET_PASSWORD',
  'RESTART_AUTHENTICATION',
  'REVOKE_GRANT',
  'SEND_IDENTITY_PROVIDER_LINK',
  'SEND_RESET_PASSWORD',
  'SEND_VERIFY_EMAIL',
  'TOKEN_EXCHANGE',
  'UPDATE_CONSENT',
  'UPDATE_CREDENTIAL',
  'UPDATE_EMAIL',
  'UPDATE_PASSWORD',
  'UPDATE_PROFILE',
  'UPDATE_TOTP',
  'USER_DISABLED_BY_PERMANENT_LOCKOUT',
  'USER_DISABLED_BY_TEMPORARY_LOCKOUT',
  'VERIFIABLE_CREDENTIAL_CREATE_OFFER',
  'VERIFIABLE_CREDENTIAL_OFFER_REQUEST',
  'VERIFIABLE_CREDENTIAL_PRE_AUTHORIZED_GRANT',
  'VERIFIABLE_CREDENTIAL_REQUEST',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
] as const

/** The types that realms store only if enabledEventTypes contains them. */
const OTHER_TYPES = [
  'CLIENT_INFO',
  'IDENTITY_PROVIDER_RESPONSE',
  'IDENTITY_PROVIDER_RETRIEVE_TOKEN',
  'INTROSPECT_TOKEN',
  'INVALID_SIGNATURE',
  'PUSHED_AUTHORIZATION_REQUEST',
  'REFRESH_TOKEN',
  'REGISTER_NODE',
  'UNREGISTER_NODE',
  'USER_INFO_REQUEST',
  'USER_SESSION_DELETED',
  'VALIDATE_ACCESS_TOKEN',
  'VERIFIABLE_CREDENTIAL_NONCE_REQUEST',
] as const

/** Keycloak: their error types are not stored by default. */
const TYPES_WITHOUT_DEFAULT_ERROR: readonly string[] = [
  'PERMISSION_TOKEN',
  'USER_DISABLED_BY_PERMANENT_LOCKOUT',
  'USER_DISABLED_BY_TEMPORARY_LOCKOUT',
]

/** A type of user events, without error types. */
export type UserEventType = (typeof DEFAULT_TYPES)[number] | (typeof OTHER_TYPES)[number]

/** Returns the type of events about the failure of another type, such as LOGIN_ERROR of LOGIN. */
export const toErrorType = (type: string): string => `${type}_ERROR`

/** The types that realms store by default, with error types. */
export const DEFAULT_EVENT_TYPES: readonly string[] = DEFAULT_TYPES.flatMap((type) =>
  TYPES_WITHOUT_DEFAULT_ERROR.includes(type) ? [type] : [type, toErrorType(type)],
)

/** All types of user events, each also with its error type. */
export const USER_EVENT_TYPES: readonly string[] = [...DEFAULT_TYPES, ...OTHER_TYPES].flatMap((type) => [
  type,
  toErrorType(type),
])

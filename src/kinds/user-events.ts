// Keycloak: the types of user events. Each has an error type with the suffix _ERROR.

/** The types that realms store by default, in the order of REST. */
const DEFAULT_TYPES = [
  'LOGIN',
  'REGISTER',
  'LOGOUT',
  'CODE_TO_TOKEN',
  'CLIENT_LOGIN',
  'FEDERATED_IDENTITY_LINK',
  'REMOVE_FEDERATED_IDENTITY',
  'UPDATE_EMAIL',
  'UPDATE_PROFILE',
  'UPDATE_PASSWORD',
  'UPDATE_TOTP',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
  'REMOVE_TOTP',
  'GRANT_CONSENT',
  'UPDATE_CONSENT',
  'REVOKE_GRANT',
  'SEND_VERIFY_EMAIL',
  'SEND_RESET_PASSWORD',
  'SEND_IDENTITY_PROVIDER_LINK',
  'RESET_PASSWORD',
  'RESTART_AUTHENTICATION',
  'IDENTITY_PROVIDER_LINK_ACCOUNT',
  'IDENTITY_PROVIDER_LOGIN',
  'IDENTITY_PROVIDER_FIRST_LOGIN',
  'IDENTITY_PROVIDER_POST_LOGIN',
  'IMPERSONATE',
  'CUSTOM_REQUIRED_ACTION',
  'EXECUTE_ACTIONS',
  'EXECUTE_ACTION_TOKEN',
  'CLIENT_REGISTER',
  'CLIENT_UPDATE',
  'CLIENT_DELETE',
  'CLIENT_INITIATED_ACCOUNT_LINKING',
  'TOKEN_EXCHANGE',
  'OAUTH2_DEVICE_AUTH',
  'OAUTH2_DEVICE_VERIFY_USER_CODE',
  'OAUTH2_DEVICE_CODE_TO_TOKEN',
  'AUTHREQID_TO_TOKEN',
  'PERMISSION_TOKEN',
  'DELETE_ACCOUNT',
  'USER_DISABLED_BY_PERMANENT_LOCKOUT',
  'USER_DISABLED_BY_TEMPORARY_LOCKOUT',
  'OAUTH2_EXTENSION_GRANT',
  'FEDERATED_IDENTITY_OVERRIDE_LINK',
  'UPDATE_CREDENTIAL',
  'REMOVE_CREDENTIAL',
  'INVITE_ORG',
  'VERIFIABLE_CREDENTIAL_REQUEST',
  'VERIFIABLE_CREDENTIAL_OFFER_REQUEST',
  'VERIFIABLE_CREDENTIAL_CREATE_OFFER',
  'VERIFIABLE_CREDENTIAL_PRE_AUTHORIZED_GRANT',
  'JWT_AUTHORIZATION_GRANT',
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

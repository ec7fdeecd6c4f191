// The effects of authentication flows, authenticator configs and required actions.
import { apiData, byProvider, combineEffects, enforced, type KindEffects, refused, storedOnly } from './field-effect.ts'
import { NO_BROKERING, NO_DOCKER, NO_WEBAUTHN } from './reasons.ts'

/** Returns the effects of steps that plans do not note: they note the clients and identity providers that need them. */
const silent = (reason: string, ids: readonly string[]) => ids.map((id) => storedOnly(reason, [id], [id]))

const UNSUPPORTED_STEPS = 'test/login/misconfigured-flows.test.ts'

/** The effects of the fields of authentication flows. */
export const authenticationFlowEffects: KindEffects = combineEffects(
  enforced('test/login/flows.test.ts', [
    'authenticationExecutions.authenticatorConfig',
    'authenticationExecutions.flowAlias',
    'authenticationExecutions.requirement',
  ]),
  enforced('test/login/flows.test.ts', ['alias']),
  enforced('test/reconcile/flows.test.ts', ['authenticationExecutions.priority']),
  apiData('test/admin/authentication-flows.test.ts', ['builtIn', 'description', 'topLevel']),
  storedOnly(
    'it is a legacy field of Keycloak, which ignores it too',
    ['authenticationExecutions.userSetupAllowed'],
    [true],
  ),
  {
    providerId: byProvider(
      { label: 'type of flows', unlisted: 'the flow is a basic flow' },
      apiData('test/admin/authentication-flows.test.ts', ['basic-flow', 'client-flow', 'form-flow']),
    ),
    'authenticationExecutions.authenticator': byProvider(
      { label: 'authenticator', unlisted: 'logins that reach it fail', effect: 'refused' },
      enforced('test/login/flows.test.ts', [
        'allow-access-authenticator',
        'auth-cookie',
        'auth-otp-form',
        'auth-password-form',
        'auth-username-form',
        'auth-username-password-form',
        'conditional-credential',
        'conditional-user-attribute',
        'conditional-user-configured',
        'conditional-user-role',
        'deny-access-authenticator',
        'identity-provider-redirector',
        'registration-page-form',
        'registration-password-action',
        'registration-terms-and-conditions',
        'registration-user-creation',
      ]),
      enforced('test/login/changes-during-login.test.ts', [
        'reset-credential-email',
        'reset-credentials-choose-user',
        'reset-otp',
        'reset-password',
      ]),
      enforced('test/login/authentication-levels.test.ts', ['conditional-level-of-authentication']),
      enforced('test/login/misconfigured-flows.test.ts', ['organization']),
      enforced('test/oidc/tokens.test.ts', [
        'direct-grant-validate-otp',
        'direct-grant-validate-password',
        'direct-grant-validate-username',
      ]),
      enforced('test/oidc/client-authentication.test.ts', ['client-jwt', 'client-secret', 'client-secret-jwt']),
      enforced('test/oidc/client-certificates.test.ts', ['client-x509']),
      enforced('test/oidc/federated-clients.test.ts', ['federated-jwt']),
      refused({ reason: `logins that reach it fail, since ${NO_WEBAUTHN}`, test: UNSUPPORTED_STEPS }, [
        'webauthn-authenticator',
        'webauthn-authenticator-passwordless',
      ]),
      ...silent(NO_BROKERING, [
        'idp-add-organization-member',
        'idp-auto-link',
        'idp-confirm-link',
        'idp-confirm-override-link',
        'idp-create-user-if-unique',
        'idp-detect-existing-broker-user',
        'idp-email-verification',
        'idp-review-profile',
        'idp-username-password-form',
      ]),
      ...silent(NO_DOCKER, ['docker-http-basic-authenticator']),
      refused({ reason: 'logins that reach it fail', test: UNSUPPORTED_STEPS }, [
        'auth-conditional-otp-form',
        'auth-recovery-authn-code-form',
        'auth-spnego',
        'auth-x509-client-username-form',
        'conditional-client-scope',
        'conditional-sub-flow-executed',
        'direct-grant-auth-x509-username',
        'http-basic-authenticator',
        'registration-recaptcha-action',
        'registration-recaptcha-enterprise',
        'user-session-limits',
      ]),
    ),
  },
)

const settings = (...names: readonly string[]): string[] => names.map((name) => `config.${name}`)

/** The effects of the fields of authenticator configs. */
export const authenticatorConfigEffects: KindEffects = combineEffects(
  apiData('test/admin/authentication-flows.test.ts', ['alias', 'config.*']),
  enforced('test/login/flows.test.ts', [
    ...settings(
      'attribute_expected_value',
      'attribute_name',
      'condUserRole',
      'credentials',
      'denyErrorMessage',
      'include_group_attributes',
      'included',
      'negate',
      'not',
      'regex',
    ),
  ]),
  enforced('test/login/authentication-levels.test.ts', settings('loa-condition-level', 'loa-max-age')),
  enforced('test/oidc/token-content.test.ts', settings('default.reference.maxAge', 'default.reference.value')),
  refused(
    { reason: `logins that reach its step fail, since ${NO_BROKERING}`, test: UNSUPPORTED_STEPS },
    settings('defaultProvider'),
  ),
  refused({ reason: 'logins that reach its step fail', test: UNSUPPORTED_STEPS }, settings('requiresUserMembership')),
  refused({ reason: 'resets that reach its step fail', test: UNSUPPORTED_STEPS, unless: ['Remove none'] }, [
    'config.action_on_otp_reset_flag',
  ]),
  storedOnly(NO_BROKERING, settings('require.password.update.after.registration', 'update.profile.on.first.login')),
  storedOnly('registration always asks for a password', settings('always_set_password_on_register_form')),
  storedOnly('its authenticator is not supported', [
    ...settings(
      'action',
      'api.key',
      'behavior',
      'check_result',
      'client_scope',
      'defaultOtpOutcome',
      'errorMessage',
      'flow_to_check',
      'force-login',
      'forceOtpForHeaderPattern',
      'forceOtpRole',
      'noOtpRequiredForHeaderPattern',
      'otpControlAttribute',
      'project.id',
      'recaptcha.v3',
      'score.threshold',
      'secret.key',
      'site.key',
      'skipOtpRole',
      'useRecaptchaNet',
      'userClientLimit',
      'userRealmLimit',
    ),
  ]),
)

/** The effects of the providers of required actions. */
export const requiredActionProviderEffects = byProvider(
  { label: 'required action', unlisted: 'logins of users who have it fail', effect: 'refused' },
  enforced('test/login/required-actions.test.ts', [
    'CONFIGURE_TOTP',
    'TERMS_AND_CONDITIONS',
    'UPDATE_PASSWORD',
    'UPDATE_PROFILE',
    'VERIFY_EMAIL',
    'VERIFY_PROFILE',
  ]),
  refused({ reason: 'logins of users who have it fail', test: 'test/login/required-actions.test.ts' }, [
    'CONFIGURE_RECOVERY_AUTHN_CODES',
    'UPDATE_EMAIL',
    'delete_account',
    'delete_credential',
    'idp_link',
    'update_user_locale',
    'webauthn-register',
    'webauthn-register-passwordless',
  ]),
)

/** The effects of the fields of required actions. */
export const requiredActionEffects: KindEffects = combineEffects(
  enforced('test/login/required-actions.test.ts', ['alias', 'enabled', 'priority']),
  enforced('test/login/required-actions.test.ts', settings('max_auth_age', 'emailResendCooldownSeconds')),
  apiData('test/admin/authentication-flows.test.ts', ['config.*', 'name']),
  enforced('test/admin/users.test.ts', ['defaultAction']),
  storedOnly('users verify each change of their email address', settings('verifyEmail')),
  storedOnly('recovery codes are not supported', settings('add-recovery-codes', 'warning_threshold')),
  {
    providerId: requiredActionProviderEffects,
  },
)

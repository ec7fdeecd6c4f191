// The forms in which settings take effect whose values are texts. Keycloak accepts any text, and ignores it or fails later.
import { CONTENT_ENCRYPTION_ALGORITHMS, KEY_ENCRYPTION_ALGORITHMS } from '../encryption-algorithms.ts'
import { SIGNING_ALGORITHMS } from '../key-providers.ts'
import type { KindName } from '../kind-name.ts'
import { areLevels, isLifespan } from '../setting-texts.ts'
import type { UnenforcedEffect } from './field-effect.ts'
import { mapperFlags } from './protocol-mapper.ts'

/** The texts that a setting accepts, and the effect of any other text, with the reason. */
export interface SettingForm extends Pick<UnenforcedEffect, 'effect' | 'reason'> {
  readonly accepts: (text: string) => boolean
}

const storedUnless = (accepts: SettingForm['accepts'], reason: string): SettingForm => ({
  ...{ accepts, reason, effect: 'stored only' },
})
const refusedUnless = (accepts: SettingForm['accepts'], reason: string): SettingForm => ({
  ...{ accepts, reason, effect: 'refused' },
})
const isOneOf = (values: readonly string[]) => (text: string) => values.includes(text)
const toList = (values: readonly string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(values)

const flag = storedUnless((text) => /^(?:true|false)$/i.test(text), 'the flag must be true or false')
/** A flag that is true only as `true` in lower case. Keycloak: so are those of mappers and mail servers. */
const exactFlag = storedUnless((text) => /^(?:true|false)$/.test(text), 'the flag must be true or false, in lower case')
const number = storedUnless((text) => /^-?\d+$/.test(text), 'it must be a whole number')
const mailLogin = storedUnless(isOneOf(['basic', 'token']), 'it must be basic or token')
const port = storedUnless((text) => /^\d+$/.test(text), 'it must be the number of a port')
const address = storedUnless(
  (text) => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? ''),
  'it must be an address that begins with https:// or http://',
)
const levels = storedUnless(
  areLevels,
  'it must be a JSON object with the level of each authentication context class, such as {"gold": 2}',
)
const lifespan = refusedUnless(
  isLifespan,
  'it must be a whole number of seconds: tokens with another lifespan are refused',
)
const pkceMethod = refusedUnless(
  isOneOf(['S256', 'plain']),
  'it must be S256 or plain: log-ins with another method are refused',
)
const objectRequirement = refusedUnless(
  isOneOf(['not required', 'request or request_uri', 'request only', 'request_uri only']),
  'it must be not required, request or request_uri, request only or request_uri only',
)
const algorithm = (algorithms: readonly string[]) =>
  refusedUnless(isOneOf(algorithms), `there is no such algorithm: use ${toList(algorithms)}`)

const signature = algorithm(SIGNING_ALGORITHMS)
const keyEncryption = algorithm(KEY_ENCRYPTION_ALGORITHMS)
const contentEncryption = algorithm(CONTENT_ENCRYPTION_ALGORITHMS)
const numberInTime = refusedUnless(
  (text) => /^[+-]?\d+$/.test(text),
  'it must be a whole number: a policy with another text denies access',
)
const time = refusedUnless(
  (text) => /^\s*\d+-\d+-\d+(?:\s+\d+:\d+:\d+.*|\s*)$/.test(text),
  'it must be a time such as 2026-11-28 09:30:00: a policy with another text denies access',
)

const forAll = (form: SettingForm, names: readonly string[], prefix = 'attributes.') =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, form]))

const consentScreen = { ...forAll(flag, ['display.on.consent.screen']), ...forAll(number, ['gui.order']) }

/** The forms of settings, `field.key`, by kind. Other settings accept any text. */
export const settingForms: Readonly<Partial<Record<KindName, Readonly<Record<string, SettingForm>>>>> = {
  realm: {
    ...forAll(address, ['frontendUrl']),
    ...forAll(levels, ['acr.loa.map']),
    ...forAll(number, ['adminEventsExpiration']),
    ...forAll(exactFlag, ['auth', 'ssl', 'starttls'], 'smtpServer.'),
    ...forAll(port, ['port'], 'smtpServer.'),
    ...forAll(mailLogin, ['authType'], 'smtpServer.'),
  },
  client: {
    ...consentScreen,
    ...forAll(lifespan, ['access.token.lifespan']),
    ...forAll(flag, [
      'allow.oidc.params.in.redirect.uris',
      'allow.token.introspection.without.audience.check',
      'allow.userinfo.with.lightweight.access.token',
      'backchannel.logout.revoke.offline.tokens',
      'backchannel.logout.session.required',
      'client.use.lightweight.access.token.enabled',
      'client_credentials.use_refresh_token',
      'dpop.bound.access.tokens',
      'exclude.issuer.from.auth.response',
      'exclude.session.state.from.auth.response',
      'frontchannel.logout.session.required',
      'require.pushed.authorization.requests',
      'tls.client.certificate.bound.access.tokens',
      'use.jwks.string',
      'use.jwks.url',
      'use.refresh.tokens',
      'x509.allow.regex.pattern.comparison',
    ]),
    ...forAll(number, [
      'client.offline.session.idle.timeout',
      'client.offline.session.max.lifespan',
      'client.session.idle.timeout',
      'client.session.max.lifespan',
      'token.endpoint.auth.signing.max.exp',
    ]),
    ...forAll(pkceMethod, ['pkce.code.challenge.method']),
    ...forAll(objectRequirement, ['request.object.required']),
    ...forAll(signature, [
      'access.token.signed.response.alg',
      'authorization.signed.response.alg',
      'id.token.signed.response.alg',
      'token.endpoint.auth.signing.alg',
    ]),
    ...forAll(algorithm([...SIGNING_ALGORITHMS, 'none']), ['user.info.response.signature.alg']),
    ...forAll(algorithm([...SIGNING_ALGORITHMS, 'none', 'any']), ['request.object.signature.alg']),
    ...forAll(keyEncryption, [
      'authorization.encrypted.response.alg',
      'id.token.encrypted.response.alg',
      'user.info.encrypted.response.alg',
    ]),
    ...forAll(contentEncryption, [
      'authorization.encrypted.response.enc',
      'id.token.encrypted.response.enc',
      'user.info.encrypted.response.enc',
    ]),
    ...forAll(algorithm([...KEY_ENCRYPTION_ALGORITHMS, 'any']), ['request.object.encryption.alg']),
    ...forAll(algorithm([...CONTENT_ENCRYPTION_ALGORITHMS, 'any']), ['request.object.encryption.enc']),
  },
  clientScope: { ...consentScreen, ...forAll(flag, ['include.in.token.scope', 'include.in.openid.provider.metadata']) },
  protocolMapper: forAll(exactFlag, [...mapperFlags, 'userinfo.token.claim'], 'config.'),
  requiredAction: forAll(number, ['emailResendCooldownSeconds', 'max_auth_age'], 'config.'),
  authorizationPolicy: {
    ...forAll(time, ['nbf', 'noa'], 'config.'),
    ...forAll(
      numberInTime,
      ['dayMonth', 'month', 'year', 'hour', 'minute'].flatMap((unit) => [unit, `${unit}End`]),
      'config.',
    ),
  },
}

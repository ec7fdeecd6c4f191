// One-time codes (OTP) of users, each accepted once. RFC 4226, RFC 6238.
import { HOTP, Secret, TOTP } from 'otpauth'
import type { Representation } from '../../kinds/json.ts'
import { updateCredentialData } from '../../store/users/credentials.ts'
import type { Context, RuntimeContext } from '../context/context.ts'
import { recordKeyUse } from '../context/single-use.ts'

/** The parameters of one-time codes: of a realm for new credentials, or of one credential. */
export interface OtpPolicy {
  readonly subType: 'totp' | 'hotp'
  readonly digits: number
  readonly algorithm: string
  /** The time for which a TOTP code is valid, in seconds. */
  readonly period: number
  readonly counter: number
}

/** Maps Keycloak's names of algorithms to the usual ones. */
const ALGORITHMS: Readonly<Record<string, string>> = { HmacSHA1: 'SHA1', HmacSHA256: 'SHA256', HmacSHA512: 'SHA512' }

/** The largest look-ahead window: with more accepted codes, a guess would be too likely to match. */
const MAX_WINDOW = 100

/** Returns the number of steps by which a code of a realm may deviate. */
export function getLookAheadWindow(settings: Representation): number {
  return Math.min(Number(settings.otpPolicyLookAheadWindow ?? 1), MAX_WINDOW)
}

/** Returns the OTP policy of a realm. */
export function getOtpPolicy(settings: Representation): OtpPolicy {
  return {
    subType: settings.otpPolicyType === 'hotp' ? 'hotp' : 'totp',
    digits: Number(settings.otpPolicyDigits ?? 6),
    algorithm: String(settings.otpPolicyAlgorithm ?? 'HmacSHA1'),
    period: Number(settings.otpPolicyPeriod ?? 30),
    counter: Number(settings.otpPolicyInitialCounter ?? 0),
  }
}

/** Returns the `otpauth:` URI for authenticator apps. */
export function createOtpUri(
  policy: OtpPolicy,
  secret: string,
  names: { readonly issuer: string; readonly label: string },
): string {
  const options = { ...toOptions(policy, Secret.fromUTF8(secret)), ...names }
  return policy.subType === 'hotp'
    ? new HOTP({ ...options, counter: policy.counter }).toString()
    : new TOTP({ ...options, period: policy.period }).toString()
}

/** Formats a secret for typing into an authenticator app: base32 in groups of four. */
export function formatOtpSecret(secret: string): string {
  return Secret.fromUTF8(secret).base32.replace(/(.{4})(?=.)/g, '$1 ')
}

/** Returns the number of steps by which a code deviates from the current one; null if it does not match. */
export function matchOtpCode(
  policy: OtpPolicy,
  secret: Secret,
  { code, window, now }: { readonly code: string; readonly window: number; readonly now: Date },
): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6,10}$/.test(token)) return null
  const options = toOptions(policy, secret)
  if (policy.subType === 'hotp') return matchCounter(new HOTP(options), token, { counter: policy.counter, window })
  return new TOTP({ ...options, period: policy.period }).validate({ token, window, timestamp: now.getTime() })
}

/**
 * Whether a code matches a credential, whose secret is in plain text. A code counts once: HOTP advances the counter of the
 * credential, TOTP records the code as used unless the realm allows codes to be reused. One statement, or none.
 */
export async function useOtpCode(
  context: RuntimeContext,
  settings: Representation,
  { credential, code }: { readonly credential: Representation; readonly code: string },
): Promise<boolean> {
  const id = String(credential.id)
  const before = String(credential.credentialData)
  const parameters: Partial<OtpPolicy> & { readonly secretEncoding?: string } = JSON.parse(before)
  const policy = { ...getOtpPolicy(settings), ...parameters }
  const { value }: { readonly value: string } = JSON.parse(String(credential.secretData))
  const secret = parameters.secretEncoding === 'BASE32' ? Secret.fromBase32(value) : Secret.fromUTF8(value)
  const deviation = matchOtpCode(policy, secret, { code, window: getLookAheadWindow(settings), now: context.now })
  if (deviation === null) return false
  if (policy.subType === 'hotp') {
    const after = JSON.stringify({ ...parameters, counter: policy.counter + deviation + 1 })
    return updateCredentialData(context.tx, context.realm.number, { id, before, after })
  }
  return useTotpCode(context, settings, { credential: id, period: policy.period, deviation })
}

/** A TOTP code that matches a credential, given by id, with its period in seconds and its deviation in periods. */
export interface TotpCodeUse {
  readonly credential: string
  readonly period: number
  readonly deviation: number
}

/**
 * Records a TOTP code as used. Returns false if it was used before and the realm does not allow codes to be reused. One
 * statement, or none.
 */
export async function useTotpCode(
  context: Context,
  settings: Representation,
  { credential, period, deviation }: TotpCodeUse,
): Promise<boolean> {
  if (settings.otpPolicyCodeReusable === true) return true
  const step = Math.floor(context.now.getTime() / 1000 / period) + deviation
  const expiresAt = new Date((step + getLookAheadWindow(settings) + 1) * period * 1000)
  return (await recordKeyUse(context, `otp ${credential} ${step}`, expiresAt)) === 1
}

/** Matches a code against the counter and the following ones: users may request codes without using them. */
function matchCounter(
  hotp: HOTP,
  token: string,
  { counter, window }: { readonly counter: number; readonly window: number },
): number | null {
  for (let ahead = 0; ahead <= window; ahead++) {
    if (hotp.validate({ token, counter: counter + ahead, window: 0 }) !== null) return ahead
  }
  return null
}

function toOptions({ digits, algorithm }: OtpPolicy, secret: Secret) {
  return { secret, digits, algorithm: ALGORITHMS[algorithm] ?? 'SHA1' }
}

// One-time codes: whether a code belongs to a credential, used once only. RFC 4226, RFC 6238.
import { HOTP, Secret, TOTP } from 'otpauth'
import type { Representation } from '../../kinds/json.ts'
import { updateCredentialData } from '../../store/users/credentials.ts'
import type { Context, RuntimeContext } from '../context/context.ts'
import { timesUsed } from '../context/single-use.ts'

/** How codes are made: of the realm for new credentials, of a credential for its own. */
export interface CodePolicy {
  readonly subType: 'totp' | 'hotp'
  readonly digits: number
  readonly algorithm: string
  readonly period: number
  readonly counter: number
}

/** Keycloak: the names of algorithms, and what others call them. */
const ALGORITHMS: Readonly<Record<string, string>> = { HmacSHA1: 'SHA1', HmacSHA256: 'SHA256', HmacSHA512: 'SHA512' }

/** Steps that a code may be off at most, whatever the realm says: with more, any number would be one of the codes. */
const FARTHEST = 100

/** By how many steps a code may be off in a realm. */
export function windowOf(settings: Representation): number {
  return Math.min(Number(settings.otpPolicyLookAheadWindow ?? 1), FARTHEST)
}

/** How codes of new credentials are made in a realm. */
export function policyOf(settings: Representation): CodePolicy {
  return {
    subType: settings.otpPolicyType === 'hotp' ? 'hotp' : 'totp',
    digits: Number(settings.otpPolicyDigits ?? 6),
    algorithm: String(settings.otpPolicyAlgorithm ?? 'HmacSHA1'),
    period: Number(settings.otpPolicyPeriod ?? 30),
    counter: Number(settings.otpPolicyInitialCounter ?? 0),
  }
}

/** The address that apps read, as an image or typed. */
export function addressOf(policy: CodePolicy, secret: string, issuer: string, label: string): string {
  return generator(policy, Secret.fromUTF8(secret), { issuer, label }).toString()
}

/** The secret as it is typed into an app, in groups. */
export function typedSecret(secret: string): string {
  return Secret.fromUTF8(secret).base32.replace(/(.{4})(?=.)/g, '$1 ')
}

/** By how many steps a code is off that somebody shows; null when it is none of the neighbouring ones. */
export function matchCode(policy: CodePolicy, secret: Secret, code: string, window: number, now: Date): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6,10}$/.test(token)) return null
  return policy.subType === 'hotp'
    ? counted(generator(policy, secret) as HOTP, token, policy.counter, window)
    : (generator(policy, secret) as TOTP).validate({ token, window, timestamp: now.getTime() })
}

/**
 * Whether the code is one of the credential, whose secret is opened. A code counts once: one that follows a counter moves it,
 * one that follows the time is kept as used, unless the realm lets codes be used again. Statements: one, or none.
 */
export async function useCode(
  context: RuntimeContext,
  settings: Representation,
  credential: Representation,
  code: string,
): Promise<boolean> {
  const stated = JSON.parse(String(credential.credentialData)) as Partial<CodePolicy> & { secretEncoding?: string }
  const policy = { ...policyOf(settings), ...stated }
  const { value } = JSON.parse(String(credential.secretData)) as { value: string }
  const secret = stated.secretEncoding === 'BASE32' ? Secret.fromBase32(value) : Secret.fromUTF8(value)
  const window = windowOf(settings)
  const off = matchCode(policy, secret, code, window, context.now)
  if (off === null) return false
  if (policy.subType === 'hotp') {
    const { tx, realm } = context
    const before = String(credential.credentialData)
    const after = JSON.stringify({ ...stated, counter: policy.counter + off + 1 })
    return updateCredentialData(tx, realm.number, { id: String(credential.id), before, after })
  }
  return spendCode(context, settings, policy, { credential: String(credential.id), off })
}

/**
 * Spends a code that follows the time, which is off by so many steps: whether it was not used before, unless the realm lets
 * codes be used again. Statements: one, or none.
 */
export async function spendCode(
  context: Context,
  settings: Representation,
  { period }: CodePolicy,
  { credential, off }: { readonly credential: string; readonly off: number },
): Promise<boolean> {
  if (settings.otpPolicyCodeReusable === true) return true
  const window = windowOf(settings)
  const step = Math.floor(context.now.getTime() / 1000 / period) + off
  const over = new Date((step + window + 1) * period * 1000)
  return (await timesUsed(context, `otp ${credential} ${step}`, over)) === 1
}

/** Counters run ahead where somebody asks for codes and does not use them; they never go back. */
function counted(hotp: HOTP, token: string, counter: number, window: number): number | null {
  for (let ahead = 0; ahead <= window; ahead++) {
    if (hotp.validate({ token, counter: counter + ahead, window: 0 }) !== null) return ahead
  }
  return null
}

function generator(
  { subType, digits, algorithm, period, counter }: CodePolicy,
  secret: Secret,
  names: { issuer?: string; label?: string } = {},
): TOTP | HOTP {
  const common = { ...names, secret, digits, algorithm: ALGORITHMS[algorithm] ?? 'SHA1' }
  return subType === 'hotp' ? new HOTP({ ...common, counter }) : new TOTP({ ...common, period })
}

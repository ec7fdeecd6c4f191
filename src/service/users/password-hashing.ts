// Password hashes: Argon2id with Keycloak's parameters, or the algorithm of the realm's policy. They are computed off the
// event loop, and this file limits how many at a time.
import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { hashRaw } from '@node-rs/argon2'
import type { Representation } from '../../kinds/json.ts'
import { checkDeadline, type Deadline } from '../../lib/timing/deadline.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'

/** The algorithm and the number of iterations of password hashes. */
export interface PasswordHashing {
  readonly algorithm: string
  readonly iterations: number
}

/** Keycloak: the algorithms, with their default number of iterations. */
export const hashAlgorithms: Readonly<Record<string, number>> = {
  argon2: 5,
  pbkdf2: 1_300_000,
  'pbkdf2-sha256': 600_000,
  'pbkdf2-sha512': 210_000,
}

/** The hashing of realms whose policy does not set one. */
export const DEFAULT_HASHING: PasswordHashing = { algorithm: 'argon2', iterations: hashAlgorithms.argon2! }

/** Keycloak: the parameters of its Argon2 provider; memory in KiB, the hash in bytes. */
const ARGON2 = { type: 'id', version: '1.3', memory: 7168, parallelism: 1, hashLength: 32 }
/** The limits of hashes that are verified: memory in KiB, of one iteration and of all together. */
const ARGON2_MAX = { memory: 2 ** 18, total: 2 ** 20, parallelism: 16 }
/** The library's numbers of types and versions: its enumerations exist only at compile time. */
const ARGON2_TYPES: Readonly<Record<string, number>> = { d: 0, i: 1, id: 2 }
const ARGON2_VERSIONS: Readonly<Record<string, number>> = { '1.0': 0, '1.3': 1 }

const PBKDF2: Readonly<Record<string, string>> = {
  pbkdf2: 'sha1',
  'pbkdf2-sha256': 'sha256',
  'pbkdf2-sha512': 'sha512',
}
/** Keycloak: the length of PBKDF2 hashes, in bytes. */
const PBKDF2_LENGTH = 64
export const PBKDF2_MAX_ITERATIONS = 10_000_000
/** The longest hash that is verified, in bytes: longer ones multiply the iterations. */
const MAX_HASH_LENGTH = 128

// One core is reserved, so that a flood of logins does not block other requests.
const limitHashing = limitConcurrency(Math.max(1, availableParallelism() - 1))
const derivePbkdf2 = promisify(pbkdf2)

/** The public part of a password credential: the parameters of its hash. */
interface HashParameters {
  readonly algorithm: string
  readonly hashIterations: number
  readonly additionalParameters?: Readonly<Record<string, readonly string[]>>
}

/** The secret part of a password credential, in base64. */
interface HashSecret {
  readonly value: string
  readonly salt?: string | null
}

/**
 * Hashes a password and returns the credential to store. Throws the error of the deadline if it passes before hashing
 * begins.
 */
export async function hashPassword(
  password: string,
  hashing: PasswordHashing = DEFAULT_HASHING,
  deadline?: Deadline,
): Promise<Representation> {
  const parameters = toHashParameters(hashing)
  const salt = randomBytes(16)
  const hash = await derive(password, { salt, parameters, length: getHashLength(hashing), deadline })
  return {
    type: 'password',
    secretData: JSON.stringify({
      value: hash.toString('base64'),
      salt: salt.toString('base64'),
      additionalParameters: {},
    }),
    credentialData: JSON.stringify(parameters),
  }
}

/**
 * Whether a password matches a credential, given by its `secretData` and `credentialData`. False for unknown algorithms,
 * and for hashes so expensive that they would delay all other logins.
 */
export async function verifyPassword(password: string, secretData: string, credentialData: string): Promise<boolean> {
  const secret: HashSecret = JSON.parse(secretData)
  const parameters: HashParameters = JSON.parse(credentialData)
  const expected = Buffer.from(secret.value ?? '', 'base64')
  const salt = Buffer.from(secret.salt ?? '', 'base64')
  if (!canDerive(parameters, salt, expected.length)) return false
  return timingSafeEqual(await derive(password, { salt, parameters, length: expected.length }), expected)
}

/** Takes as long as a verification, so that response times do not reveal whether a user exists. */
export async function simulateVerification(
  password: string,
  hashing: PasswordHashing = DEFAULT_HASHING,
): Promise<false> {
  const parameters = toHashParameters(hashing)
  await derive(password, { salt: Buffer.alloc(16), parameters, length: getHashLength(hashing) })
  return false
}

/** Whether a credential, given by its `secretData` and `credentialData`, was hashed with other parameters. */
export function needsRehash(secretData: string, credentialData: string, hashing: PasswordHashing): boolean {
  const { algorithm, hashIterations, additionalParameters = {} }: HashParameters = JSON.parse(credentialData)
  const { value }: HashSecret = JSON.parse(secretData)
  const desired = toHashParameters(hashing)
  return (
    algorithm !== desired.algorithm ||
    hashIterations !== desired.hashIterations ||
    Buffer.from(value, 'base64').length !== getHashLength(hashing) ||
    Object.entries(desired.additionalParameters ?? {}).some(
      ([name, [parameter]]) => additionalParameters[name]?.[0] !== parameter,
    )
  )
}

/** Whether the algorithm is known, and the hash costs no more than the most expensive one that a policy allows. */
function canDerive(parameters: HashParameters, salt: Buffer, length: number): boolean {
  const iterations = Number(parameters.hashIterations)
  if (!isBetween(iterations, 1, Number.MAX_SAFE_INTEGER) || !isBetween(length, 1, MAX_HASH_LENGTH)) return false
  if (Object.hasOwn(PBKDF2, parameters.algorithm)) return iterations <= PBKDF2_MAX_ITERATIONS
  if (parameters.algorithm !== 'argon2') return false
  const type = getArgon2Parameter(parameters, 'type')
  const version = getArgon2Parameter(parameters, 'version')
  const memory = Number(getArgon2Parameter(parameters, 'memory'))
  const parallelism = Number(getArgon2Parameter(parameters, 'parallelism'))
  return (
    Object.hasOwn(ARGON2_TYPES, type) &&
    Object.hasOwn(ARGON2_VERSIONS, version) &&
    isBetween(parallelism, 1, ARGON2_MAX.parallelism) &&
    isBetween(memory, 8 * parallelism, ARGON2_MAX.memory) &&
    memory * iterations <= ARGON2_MAX.total &&
    // RFC 9106, section 3.1, for the hash; the library demands the length of the salt.
    length >= 4 &&
    salt.length >= 8
  )
}

const isBetween = (number: number, min: number, max: number): boolean =>
  Number.isInteger(number) && number >= min && number <= max

const getArgon2Parameter = ({ additionalParameters = {} }: HashParameters, name: keyof typeof ARGON2): string =>
  additionalParameters[name]?.[0] ?? String(ARGON2[name])

function toHashParameters({ algorithm, iterations }: PasswordHashing): HashParameters {
  const parameters = algorithm === 'argon2' ? Object.entries(ARGON2) : []
  return {
    hashIterations: iterations,
    algorithm,
    additionalParameters: Object.fromEntries(parameters.map(([name, value]) => [name, [String(value)]])),
  }
}

function getHashLength({ algorithm }: PasswordHashing): number {
  return algorithm === 'argon2' ? ARGON2.hashLength : PBKDF2_LENGTH
}

interface HashInput {
  readonly salt: Buffer
  readonly parameters: HashParameters
  /** The length of the hash, in bytes. */
  readonly length: number
  readonly deadline?: Deadline | undefined
}

function derive(password: string, { salt, parameters, length, deadline }: HashInput): Promise<Buffer> {
  const { algorithm, hashIterations } = parameters
  const digest = PBKDF2[algorithm]
  const getParameter = (name: keyof typeof ARGON2) => getArgon2Parameter(parameters, name)
  return limitHashing(async () => {
    checkDeadline(deadline)
    if (digest !== undefined) return derivePbkdf2(password, salt, hashIterations, length, digest)
    return hashRaw(password, {
      algorithm: ARGON2_TYPES[getParameter('type')]!,
      version: ARGON2_VERSIONS[getParameter('version')]!,
      salt,
      timeCost: hashIterations,
      memoryCost: Number(getParameter('memory')),
      parallelism: Number(getParameter('parallelism')),
      outputLen: length,
    })
  })
}

// Hashes of passwords: Argon2id as Keycloak makes them, or what the realm's policy names, off the event loop. Here, and
// only here, stands how many are made at a time.

import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { hashRaw } from '@node-rs/argon2'
import type { Representation } from '../../kinds/json.ts'
import { limited } from '../../lib/http/limited.ts'
import { type Deadline, demandTime } from '../../lib/timing/deadline.ts'

/** How a realm wants its passwords hashed. */
export interface Hashing {
  readonly algorithm: string
  readonly iterations: number
}

/** Keycloak: the algorithms that there are, and how many iterations each makes unless the policy says so. */
export const hashAlgorithms: Readonly<Record<string, number>> = {
  argon2: 5,
  pbkdf2: 1_300_000,
  'pbkdf2-sha256': 600_000,
  'pbkdf2-sha512': 210_000,
}

/** Where a realm does not say. */
export const USUAL: Hashing = { algorithm: 'argon2', iterations: hashAlgorithms.argon2! }

/** Keycloak: the parameters of its Argon2 provider; memory in KiB, the hash in bytes. */
const ARGON2 = { type: 'id', version: '1.3', memory: 7168, parallelism: 1, hashLength: 32 }
/** KiB of memory, of one hash and over all of its iterations. */
const ARGON2_MOST = { memory: 2 ** 18, overall: 2 ** 20, parallelism: 16 }
/** Their numbers in the library, whose enumerations exist at compile time only. */
const ARGON2_TYPES: Readonly<Record<string, number>> = { d: 0, i: 1, id: 2 }
const ARGON2_VERSIONS: Readonly<Record<string, number>> = { '1.0': 0, '1.3': 1 }

const PBKDF2: Readonly<Record<string, string>> = {
  pbkdf2: 'sha1',
  'pbkdf2-sha256': 'sha256',
  'pbkdf2-sha512': 'sha512',
}
/** Keycloak: bytes of what its PBKDF2 providers derive. */
const PBKDF2_LENGTH = 64
export const PBKDF2_MOST_ITERATIONS = 10_000_000
/** Bytes of a hash: each that is longer costs as many iterations again. */
const LONGEST = 128

// One core is left to everything else: a flood of log-ins must not stop the answers to others.
const hashing = limited(Math.max(1, availableParallelism() - 1))
const derivePbkdf2 = promisify(pbkdf2)

/** What of a credential is no secret: how its hash was made. */
interface HashData {
  readonly algorithm: string
  readonly hashIterations: number
  readonly additionalParameters?: Readonly<Record<string, readonly string[]>>
}

/** The hash of a password, as a credential is kept. Throws what the deadline says where it has passed before the hashing begins. */
export async function hashPassword(
  password: string,
  wanted: Hashing = USUAL,
  deadline?: Deadline,
): Promise<Representation> {
  const data = hashDataOf(wanted)
  const salt = randomBytes(16)
  const hash = await derive(password, salt, data, lengthOf(wanted), deadline)
  return {
    type: 'password',
    secretData: JSON.stringify({
      value: hash.toString('base64'),
      salt: salt.toString('base64'),
      additionalParameters: {},
    }),
    credentialData: JSON.stringify(data),
  }
}

/**
 * Whether the password is the one that was hashed: takes the two texts of a credential. False for a hash that there is not, and for one
 * that would hold up the log-ins of all realms.
 */
export async function verifyPassword(password: string, secretData: string, credentialData: string): Promise<boolean> {
  const { value, salt } = JSON.parse(secretData) as { value: string; salt: string }
  const data = JSON.parse(credentialData) as HashData
  const [expected, salted] = [value, salt].map((text) => Buffer.from(text ?? '', 'base64')) as [Buffer, Buffer]
  if (!canDerive(data, salted, expected.length)) return false
  return timingSafeEqual(await derive(password, salted, data, expected.length), expected)
}

/** Takes as long as a verification: whether a user exists must not be told by the time of the answer. */
export async function verifyNothing(password: string, wanted: Hashing = USUAL): Promise<false> {
  await derive(password, Buffer.alloc(16), hashDataOf(wanted), lengthOf(wanted))
  return false
}

/** Whether a password was hashed otherwise than it is wanted: takes both texts of its credential. */
export function isHashedOtherwise(secretData: string, credentialData: string, wanted: Hashing): boolean {
  const { algorithm, hashIterations, additionalParameters = {} } = JSON.parse(credentialData) as HashData
  const next = hashDataOf(wanted)
  const { value } = JSON.parse(secretData) as { value: string }
  return (
    algorithm !== next.algorithm ||
    hashIterations !== next.hashIterations ||
    Buffer.from(value, 'base64').length !== lengthOf(wanted) ||
    Object.entries(next.additionalParameters ?? {}).some(([name, [one]]) => additionalParameters[name]?.[0] !== one)
  )
}

/** Whether there is such a hash, of some bytes, and it costs no more than the dearest that a realm gets. */
function canDerive(data: HashData, salt: Buffer, length: number): boolean {
  const iterations = Number(data.hashIterations)
  if (!isBetween(iterations, 1, Number.MAX_SAFE_INTEGER) || !isBetween(length, 1, LONGEST)) return false
  if (Object.hasOwn(PBKDF2, data.algorithm)) return iterations <= PBKDF2_MOST_ITERATIONS
  if (data.algorithm !== 'argon2') return false
  const [type, version, memory, parallelism] = (['type', 'version', 'memory', 'parallelism'] as const).map((name) =>
    argon2Parameter(data, name),
  ) as [string, string, string, string]
  return (
    Object.hasOwn(ARGON2_TYPES, type) &&
    Object.hasOwn(ARGON2_VERSIONS, version) &&
    isBetween(Number(parallelism), 1, ARGON2_MOST.parallelism) &&
    isBetween(Number(memory), 8 * Number(parallelism), ARGON2_MOST.memory) &&
    Number(memory) * iterations <= ARGON2_MOST.overall &&
    // RFC 9106, section 3.1; of the salt what the library demands.
    length >= 4 &&
    salt.length >= 8
  )
}

const isBetween = (number: number, least: number, most: number): boolean =>
  Number.isInteger(number) && number >= least && number <= most

const argon2Parameter = ({ additionalParameters = {} }: HashData, name: keyof typeof ARGON2): string =>
  additionalParameters[name]?.[0] ?? String(ARGON2[name])

function hashDataOf({ algorithm, iterations }: Hashing): HashData {
  const parameters = algorithm === 'argon2' ? Object.entries(ARGON2) : []
  return {
    hashIterations: iterations,
    algorithm,
    additionalParameters: Object.fromEntries(parameters.map(([name, one]) => [name, [String(one)]])),
  }
}

function lengthOf({ algorithm }: Hashing): number {
  return algorithm === 'argon2' ? ARGON2.hashLength : PBKDF2_LENGTH
}

function derive(password: string, salt: Buffer, data: HashData, length: number, deadline?: Deadline): Promise<Buffer> {
  const { algorithm, hashIterations } = data
  const digest = PBKDF2[algorithm]
  const parameter = (name: keyof typeof ARGON2) => argon2Parameter(data, name)
  return hashing(async () => {
    demandTime(deadline)
    if (digest !== undefined) return derivePbkdf2(password, salt, hashIterations, length, digest)
    return hashRaw(password, {
      algorithm: ARGON2_TYPES[parameter('type')]!,
      version: ARGON2_VERSIONS[parameter('version')]!,
      salt,
      timeCost: hashIterations,
      memoryCost: Number(parameter('memory')),
      parallelism: Number(parameter('parallelism')),
      outputLen: length,
    })
  })
}

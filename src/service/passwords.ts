// Hashes of passwords: Argon2id as Keycloak makes them, off the event loop, as many at a time as there are cores. What
// other servers hashed with PBKDF2 is verified too.

import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { hashRaw } from '@node-rs/argon2'
import type { Representation } from '../kinds/kind.ts'
import { limited } from '../lib/limited.ts'

/** Keycloak: the parameters of its argon2 provider. Memory in KiB, hash in bytes. */
const PARAMETERS = { hashIterations: 5, memory: 7168, parallelism: 1, hashLength: 32 }
const VERSION = '1.3'
/** Argon2id, by its number in the library: its enumeration exists at compile time only. */
const ARGON2ID = 2

/** Keycloak: its PBKDF2 providers, by algorithm. */
const PBKDF2: Readonly<Record<string, string>> = {
  pbkdf2: 'sha1',
  'pbkdf2-sha256': 'sha256',
  'pbkdf2-sha512': 'sha512',
}

// libuv's threads are shared with files and DNS: hashing must not take them all.
const hashing = limited(availableParallelism())
const derivePbkdf2 = promisify(pbkdf2)

/** The hash of a password, as a credential is kept. */
export async function hashPassword(password: string): Promise<Representation> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, PARAMETERS)
  const { hashIterations, ...sizes } = PARAMETERS
  const additional = { ...sizes, type: 'id', version: VERSION }
  return {
    type: 'password',
    secretData: JSON.stringify({
      value: hash.toString('base64'),
      salt: salt.toString('base64'),
      additionalParameters: {},
    }),
    credentialData: JSON.stringify({
      hashIterations,
      algorithm: 'argon2',
      additionalParameters: Object.fromEntries(Object.entries(additional).map(([name, one]) => [name, [String(one)]])),
    }),
  }
}

/** Whether the password is the one that was hashed: takes the two texts of a credential. False for an algorithm that is not known. */
export async function verifyPassword(password: string, secretData: string, credentialData: string): Promise<boolean> {
  const { value, salt } = JSON.parse(secretData) as { value: string; salt: string }
  const { algorithm, hashIterations, additionalParameters = {} } = JSON.parse(credentialData) as HashData
  const expected = Buffer.from(value, 'base64')
  const bytes = Buffer.from(salt ?? '', 'base64')
  const digest = PBKDF2[algorithm]
  if (digest !== undefined) {
    const hash = await hashing(() => derivePbkdf2(password, bytes, hashIterations, expected.length, digest))
    return timingSafeEqual(hash, expected)
  }
  if (algorithm !== 'argon2') return false
  const size = (name: keyof typeof PARAMETERS) => Number(additionalParameters[name]?.[0] ?? PARAMETERS[name])
  const hash = await derive(password, bytes, {
    hashIterations,
    memory: size('memory'),
    parallelism: size('parallelism'),
    hashLength: expected.length,
  })
  return timingSafeEqual(hash, expected)
}

interface HashData {
  readonly algorithm: string
  readonly hashIterations: number
  readonly additionalParameters?: Readonly<Record<string, readonly string[]>>
}

/** Takes as long as a verification: whether a user exists must not be told by the time of the answer. */
export async function verifyNothing(password: string): Promise<false> {
  await derive(password, Buffer.alloc(16), PARAMETERS)
  return false
}

function derive(password: string, salt: Buffer, parameters: typeof PARAMETERS): Promise<Buffer> {
  const { hashIterations, memory, parallelism, hashLength } = parameters
  return hashing(() =>
    hashRaw(password, {
      algorithm: ARGON2ID,
      salt,
      timeCost: hashIterations,
      memoryCost: memory,
      parallelism,
      outputLen: hashLength,
    }),
  )
}

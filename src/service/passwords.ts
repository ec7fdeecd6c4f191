// Hashes of passwords: Argon2id as Keycloak makes them, off the event loop, as many at a time as there are cores.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hashRaw } from '@node-rs/argon2'
import type { Representation } from '../kinds/kind.ts'
import { limited } from '../lib/limited.ts'

/** Keycloak: the parameters of its argon2 provider. Memory in KiB, hash in bytes. */
const PARAMETERS = { hashIterations: 5, memory: 7168, parallelism: 1, hashLength: 32 }
const VERSION = '1.3'
/** Argon2id, by its number in the library: its enumeration exists at compile time only. */
const ARGON2ID = 2

// libuv's threads are shared with files and DNS: hashing must not take them all.
const hashing = limited(availableParallelism())

/** The hash of a password, as the body of a credential. */
export async function hashPassword(password: string): Promise<Representation> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, PARAMETERS)
  return {
    algorithm: 'argon2',
    ...PARAMETERS,
    type: 'id',
    version: VERSION,
    salt: salt.toString('base64'),
    value: hash.toString('base64'),
  }
}

/** Whether the password is the one that was hashed. False for an algorithm that is not known. */
export async function verifyPassword(
  password: string,
  { algorithm, salt, value, ...parameters }: Representation,
): Promise<boolean> {
  if (algorithm !== 'argon2') return false
  const expected = Buffer.from(String(value), 'base64')
  const hash = await derive(password, Buffer.from(String(salt), 'base64'), parameters as typeof PARAMETERS)
  return hash.length === expected.length && timingSafeEqual(hash, expected)
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

// The secrets that a client proves itself with.
import { timingSafeEqual } from 'node:crypto'
import { countingSecrets } from '../../service/login/secret-rotation.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import type { Attempt } from './method.ts'

/** The secrets that the client may use now, in the clear. An empty one, which a client may still have, is none. */
export function secretsOf({ service: { vault }, realm }: Attempt, { representation }: LiveObject): string[] {
  return countingSecrets(realm.settings, representation, realm.now)
    .map((one) => vault.open(one))
    .filter((one) => one !== '')
}

/** Whether two secrets are the same; takes as long for any two of the same length. */
export function sameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

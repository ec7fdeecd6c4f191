// The secrets that a client proves itself with.
import { timingSafeEqual } from 'node:crypto'
import type { LiveObject } from '../../service/live.ts'
import { countingSecrets } from '../../service/secret-rotation.ts'
import type { Attempt } from './method.ts'

/** The secrets that the client may use now, in the clear. */
export function secretsOf({ service: { vault }, realm }: Attempt, { representation }: LiveObject): string[] {
  return countingSecrets(realm.settings, representation, realm.now).map((one) => vault.open(one))
}

/** Whether two secrets are the same; takes as long for any two of the same length. */
export function sameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

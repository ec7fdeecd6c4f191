// The word that was probably meant: for "did you mean".
import { distance } from 'fastest-levenshtein'

/**
 * The candidate that is most like the word, whatever the case of its letters; of equals the first.
 * Undefined when nothing is near: up to two letters in five may differ (one in a word of three).
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const allowed = Math.floor(Math.max(wanted.length, candidate.length) * 0.4)
    const far = distance(wanted, candidate.toLowerCase())
    if (far <= allowed && far < bestDistance) {
      best = candidate
      bestDistance = far
    }
  }
  return best
}

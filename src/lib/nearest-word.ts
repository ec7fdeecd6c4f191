import { distance } from 'fastest-levenshtein'

/**
 * Returns the candidate most similar to the word, ignoring case, for "did you mean"; the first of equals. Undefined if none is
 * similar: at most two letters in five may differ (one in a word of three).
 */
export function findNearestWord(word: string, candidates: Iterable<string>): string | undefined {
  const target = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const allowed = Math.floor(Math.max(target.length, candidate.length) * 0.4)
    const letters = distance(target, candidate.toLowerCase())
    if (letters <= allowed && letters < bestDistance) {
      best = candidate
      bestDistance = letters
    }
  }
  return best
}

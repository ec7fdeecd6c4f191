// Formats of times, names and values.
import type { NaturalKey } from './api-types.ts'

const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Formats a time with its date. */
export function formatTime(at: Date): string {
  return absolute.format(at)
}

/** Formats the time from now: `3 min. ago`, `in 2 hr.` */
export function formatDistance(at: Date, now: number): string {
  const seconds = Math.round((at.getTime() - now) / 1000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  if (unit === 'second') return seconds > 0 ? relative.format(1, 'minute') : 'just now'
  return relative.format(Math.trunc(seconds / size), unit)
}

/** Returns a revision with commit hashes cut to 10 characters. */
export function shortenRevision(revision: string): string {
  return /^[0-9a-f]{40,64}$/.test(revision) ? revision.slice(0, 10) : revision
}

/** Returns a name in words: `authenticationFlow` becomes `authentication flow`. */
export function toWords(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** Returns the name of an object with those of its parents: `my-app / buyer`. The kinds of the parents come first in its key. */
export function formatKey(key: NaturalKey): string {
  return key.slice((key.length - 1) / 2).join(' / ')
}

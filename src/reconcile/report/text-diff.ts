// The differences inside two long texts: by lines, and inside long lines by words. Pure.
import { diffSequences, type SequenceDifference } from '../../lib/diff-sequences.ts'
import { escapeControls, formatCount } from './whole-value.ts'

/** Lines up to this length are shown as a whole. */
const MAX_LINE = 160
/** Unchanged characters around a difference in a long line. */
const CONTEXT = 30

/** Returns the differences of two texts: lines that begin with `-` or `+`, below the number of the line or character. */
export function diffTexts(from: string, to: string): string[] {
  const [before, after] = [splitLines(from), splitLines(to)]
  const isOneLine = before.length === 1 && after.length === 1
  const showsEnd = from.endsWith('\n') !== to.endsWith('\n')
  return diffSequences(before, after).flatMap((difference) => {
    const line = isOneLine ? [] : [`line ${formatCount(difference.from + 1)}`]
    const { removed, added } = difference
    const isLong = [...removed, ...added].some(({ length }) => length > MAX_LINE)
    if (isLong && removed.length && added.length) return diffWords(removed.join(''), added.join(''), line)
    const render = (sign: string) => (text: string) => `${sign}${renderLine(text, showsEnd)}`
    return [`${line}:`, ...removed.map(render('-')), ...added.map(render('+'))]
  })
}

const splitLines = (text: string): string[] => text.split(/(?<=\n)/)

function renderLine(line: string, showsEnd: boolean): string {
  if (line.endsWith('\n')) return escapeText(line.slice(0, -1))
  return showsEnd ? `${escapeText(line)} (without a line break at the end)` : escapeText(line)
}

/** Returns the differences of two texts by words, with a few characters around each. */
function diffWords(from: string, to: string, place: readonly string[]): string[] {
  const [before, after] = [splitWords(from), splitWords(to)]
  const [fromOffsets, toOffsets] = [listOffsets(before), listOffsets(after)]
  return joinNear(diffSequences(before, after), fromOffsets).flatMap((group) => {
    const [first, last] = [group[0]!, group.at(-1)!]
    const removed = { text: from, start: fromOffsets[first.from]!, end: fromOffsets[last.from + last.removed.length]! }
    const added = { text: to, start: toOffsets[first.to]!, end: toOffsets[last.to + last.added.length]! }
    const { start, end } = countCommonEnds(sliceOf(removed), sliceOf(added))
    const excerpts = [removed, added].map((part) =>
      excerpt({ ...part, start: part.start + start, end: part.end - end }),
    )
    const character = `character ${formatCount(removed.start + start + 1)}`
    return [`${[...place, character].join(', ')}:`, `-${excerpts[0]}`, `+${excerpts[1]}`]
  })
}

/** A part of a text. */
interface Excerpt {
  readonly text: string
  readonly start: number
  readonly end: number
}

const sliceOf = ({ text, start, end }: Excerpt): string => text.slice(start, end)

/** Returns words, spaces, and other characters one by one. */
function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}_]+|\s+|[^\p{L}\p{M}\p{N}_\s]/gu) ?? []
}

/** Returns the numbers of equal characters at the start and the end of two texts, such as keys that are one long word. */
function countCommonEnds(from: string, to: string): { start: number; end: number } {
  const length = Math.min(from.length, to.length)
  let start = 0
  while (start < length && from[start] === to[start]) start++
  if (/[\u{d800}-\u{dbff}]/v.test(from[start - 1] ?? '')) start--
  let end = 0
  while (end < length - start && from.at(-1 - end) === to.at(-1 - end)) end++
  if (end && /[\u{dc00}-\u{dfff}]/v.test(from.at(-end)!)) end--
  return { start, end }
}

/** Returns the positions of words in their text, and its length. */
function listOffsets(words: readonly string[]): number[] {
  const offsets = [0]
  for (const word of words) offsets.push(offsets.at(-1)! + word.length)
  return offsets
}

/** Joins differences whose contexts would overlap. */
function joinNear(differences: readonly SequenceDifference[], offsets: readonly number[]): SequenceDifference[][] {
  const groups: SequenceDifference[][] = []
  for (const difference of differences) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    const gap = last && offsets[difference.from]! - offsets[last.from + last.removed.length]!
    if (gap !== undefined && gap <= 2 * CONTEXT) group!.push(difference)
    else groups.push([difference])
  }
  return groups
}

/** Returns a part of a text with its surroundings. */
function excerpt({ text, start, end }: Excerpt): string {
  const [from, to] = [Math.max(0, start - CONTEXT), Math.min(text.length, end + CONTEXT)]
  const before = text.slice(from, start).replace(/^[\u{dc00}-\u{dfff}]/v, '')
  const after = text.slice(end, to).replace(/[\u{d800}-\u{dbff}]$/v, '')
  return `${from > 0 ? '…' : ''}${escapeText(before + text.slice(start, end) + after)}${to < text.length ? '…' : ''}`
}

/** Returns a text in one line: as in JSON, with quotes as they are. */
function escapeText(text: string): string {
  return escapeControls(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'))
}

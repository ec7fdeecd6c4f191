// Values, and the differences between two of them, also inside of long ones.
import { diffLines, diffWordsWithSpace } from 'diff'
import { useState } from 'preact/hooks'
import type { ChangeRepresentation, JsonData, NaturalKey } from '../api-types.ts'
import { formatKey } from '../format.ts'
import { texts } from '../texts.ts'

/** Texts with more lines or characters than these are long. */
const LONG_LINE = 80
/** Longer values are compared as a whole: a comparison would block the page. */
const MOST_COMPARED = 20_000
/** Unchanged lines around a change. */
const CONTEXT = 2

/** Renders a value as text: texts as they are, the rest as JSON in lines. */
export function toText(value: JsonData | undefined): string {
  if (value === undefined || value === null) return texts.none
  if (typeof value === 'string') return value
  if (typeof value !== 'object') return String(value)
  return JSON.stringify(value, null, 2)
}

/** Returns text with lines of its own for JSON inside of it. */
function toComparable(value: JsonData | undefined): string {
  const text = toText(value)
  if (typeof value === 'string' && /^[[{]/.test(text)) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2)
    } catch {
      return text
    }
  }
  return text
}

/** The change of a field: from the value before to the one after it. */
export function ChangedValue({
  change,
}: {
  readonly change: Pick<ChangeRepresentation, 'from' | 'to' | 'encrypted' | 'add' | 'remove'>
}) {
  const { from, to, encrypted, add, remove } = change
  if (encrypted !== undefined) return <span class="quiet">{texts.encrypted}</span>
  if (add || remove) return <KeyChanges added={(add ?? []).map(toKeyText)} removed={(remove ?? []).map(toKeyText)} />
  if (Array.isArray(from ?? []) && Array.isArray(to ?? []) && areTexts(from) && areTexts(to)) {
    const [before, after] = [toTexts(from), toTexts(to)]
    const added = after.filter((text) => !before.includes(text))
    const removed = before.filter((text) => !after.includes(text))
    if (added.length || removed.length) return <KeyChanges added={added} removed={removed} />
  }
  if (from === undefined && to === undefined) return <span class="quiet">{texts.secret}</span>
  return <TextChange from={toComparable(from)} to={toComparable(to)} hasFrom={isValue(from)} hasTo={isValue(to)} />
}

const isValue = (value: JsonData | undefined) => value !== undefined && value !== null
const toKeyText = (key: NaturalKey) => formatKey(key)
const areTexts = (value: JsonData | undefined) => toTexts(value).every((text) => typeof text === 'string')
const toTexts = (value: JsonData | undefined): readonly string[] => (Array.isArray(value) ? value : [])

function KeyChanges({ added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] }) {
  return (
    <ul class="elements">
      {removed.map((text) => (
        <li key={`-${text}`}>
          <Del text={text} />
        </li>
      ))}
      {added.map((text) => (
        <li key={`+${text}`}>
          <Ins text={text} />
        </li>
      ))}
    </ul>
  )
}

function TextChange({
  from,
  to,
  hasFrom,
  hasTo,
}: {
  readonly from: string
  readonly to: string
  readonly hasFrom: boolean
  readonly hasTo: boolean
}) {
  if (!hasFrom || !hasTo || from.length + to.length > MOST_COMPARED)
    return (
      <span class="pair">
        {hasFrom ? <Del text={from} /> : null}
        {hasTo ? <Ins text={to} /> : <span class="quiet">{texts.none}</span>}
      </span>
    )
  if (from.includes('\n') || to.includes('\n')) return <LineDiff from={from} to={to} />
  if (Math.max(from.length, to.length) > LONG_LINE) return <WordDiff from={from} to={to} />
  return (
    <span class="pair">
      <Del text={from} />
      <span class="quiet" aria-hidden="true">
        →
      </span>
      <Ins text={to} />
    </span>
  )
}

function WordDiff({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <span class="words">
      {diffWordsWithSpace(from, to).map(({ value, added, removed }, at) =>
        added ? <Ins key={at} text={value} /> : removed ? <Del key={at} text={value} /> : shorten(value),
      )}
    </span>
  )
}

/** Cuts unchanged text between two changes. */
function shorten(text: string): string {
  return text.length > LONG_LINE ? `${text.slice(0, 30)} … ${text.slice(-30)}` : text
}

function LineDiff({ from, to }: { readonly from: string; readonly to: string }) {
  const parts = diffLines(from, to)
  return (
    <pre class="lines">
      {parts.map(({ value, added, removed }, at) => {
        const text = value.replace(/\n$/, '')
        if (added) return <Ins key={at} text={text} />
        if (removed) return <Del key={at} text={text} />
        return <span key={at}>{cutLines(text, at > 0, at < parts.length - 1)}</span>
      })}
    </pre>
  )
}

/** Cuts unchanged lines that are not next to a change. */
function cutLines(text: string, hasBefore: boolean, hasAfter: boolean): string {
  const lines = text.split('\n')
  const start = hasBefore ? CONTEXT : 0
  const end = hasAfter ? CONTEXT : 0
  if (lines.length <= start + end + 1) return text
  return [...lines.slice(0, start), '…', ...(end ? lines.slice(-end) : [])].join('\n')
}

function Del({ text }: { readonly text: string }) {
  return (
    <del>
      <span class="hidden">{texts.removed} </span>
      {text === '' ? '""' : text}
    </del>
  )
}

function Ins({ text }: { readonly text: string }) {
  return (
    <ins>
      <span class="hidden">{texts.added} </span>
      {text === '' ? '""' : text}
    </ins>
  )
}

/** Returns the texts of a list of texts or natural keys. */
function toElements(value: JsonData): readonly string[] | undefined {
  if (!Array.isArray(value) || !value.length) return undefined
  const elements = value.map((element: JsonData) => (Array.isArray(element) ? formatKey(element) : element))
  return elements.every((element) => typeof element === 'string') ? elements : undefined
}

/** Lines of a value that are visibleText at first. */
const SHOWN_LINES = 8

/** A value, of which long ones can be opened. */
export function Value({ value }: { readonly value: JsonData | undefined }) {
  const [isOpen, setOpen] = useState(false)
  if (value === undefined) return <span class="quiet">{texts.secret}</span>
  if (value === null || value === '' || (Array.isArray(value) && !value.length))
    return <span class="quiet">{value === '' ? '""' : texts.none}</span>
  const elements = toElements(value)
  if (elements)
    return (
      <ul class="elements">
        {elements.map((element) => (
          <li key={element}>
            <code>{element}</code>
          </li>
        ))}
      </ul>
    )
  const text = toComparable(value)
  const lines = text.split('\n')
  const isLong = lines.length > SHOWN_LINES || text.length > 400
  const visibleText = isOpen || !isLong ? text : lines.slice(0, SHOWN_LINES).join('\n').slice(0, 400)
  return (
    <span class="value">
      <code>{visibleText}</code>
      {isLong && (
        <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? '−' : texts.more}
        </button>
      )}
    </span>
  )
}

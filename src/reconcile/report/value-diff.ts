// The differences inside long values: paths for JSON, lines for texts. Pure.
import { isDeepEqual } from '../../kinds/compare.ts'
import { isList, isObject, type Json } from '../../kinds/json.ts'
import { diffSequences } from '../../lib/diff-sequences.ts'
import { renderCertificates } from './certificate-text.ts'
import { diffTexts } from './text-diff.ts'
import { cutLines, renderJson, renderValue, renderWholeValue, type ValueLimits } from './whole-value.ts'

/** Values up to this length are shown before and after a change, in one line. */
const MAX_LENGTH = 160
/** The members that identify the objects of a list. */
const NAME_MEMBERS = ['name', 'alias', 'kid', 'id', 'uses']

/** Both values of a change, as texts of one line. */
export interface ValuePair {
  readonly from: string
  readonly to: string
}

/** Renders the change of a value: both values, or for long ones the differences inside, a line each. */
export function renderValueChange(from: Json, to: Json, limits: ValueLimits): ValuePair | readonly string[] {
  return renderPair(from, to, limits) ?? cutLines(listDifferences({ path: '', from, to }), limits)
}

/** Whether the value is too long to be shown in one line with another one. */
export function isLongValue(value: Json): boolean {
  return renderWholeValue(value).length > MAX_LENGTH
}

/** A value at a path in an object or list, before and after a change. */
interface Difference {
  readonly path: string
  readonly from: Json
  readonly to: Json
}

/** Renders both values; undefined for long ones that are compared inside. */
function renderPair(from: Json, to: Json, limits: Pick<ValueLimits, 'value'>): ValuePair | undefined {
  if (from === null || to === null || !(isLongValue(from) || isLongValue(to))) {
    const [before, after] = [renderValue(from, limits), renderValue(to, limits)]
    // A text may look like another value: "true", "none".
    if (before !== after) return { from: before, to: after }
    return { from: from === null ? before : renderJson(from), to: to === null ? after : renderJson(to) }
  }
  const [before, after] = [renderCertificates(from), renderCertificates(to)]
  return before !== undefined && after !== undefined && before !== after ? { from: before, to: after } : undefined
}

/** Returns the differences of two values, a line each. */
function listDifferences({ path, from, to }: Difference): string[] {
  const [before, after] = [parseStructure(from), parseStructure(to)]
  const inside =
    isObject(before) && isObject(after)
      ? listMembers(path, before, after)
      : isList(before) && isList(after)
        ? listElements(path, before, after)
        : []
  if (inside.length) return inside
  const pair = renderPair(from, to, { value: Number.POSITIVE_INFINITY })
  const label = path && `${path}: `
  if (pair) return [`${label}${pair.from} → ${pair.to}`]
  if (typeof from !== 'string' || typeof to !== 'string')
    return [`-${label}${renderWholeValue(from)}`, `+${label}${renderWholeValue(to)}`]
  const lines = diffTexts(from, to)
  return path ? [`${path}:`, ...lines.map((text) => `  ${text}`)] : lines
}

/** Returns the JSON in a text where it says all that the text does: without other members of the same name or other forms of numbers. */
function parseStructure(value: Json): Json {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    const json: Json = JSON.parse(value)
    const compact = value.replace(/("(?:\\.|[^"\\])*")|\s+/g, '$1')
    return JSON.stringify(json) === compact ? json : value
  } catch {
    return value
  }
}

type JsonObject = Readonly<Record<string, Json>>

function listMembers(path: string, from: JsonObject, to: JsonObject): string[] {
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((name) => {
    const member = path + (/^[\w-]+$/.test(name) ? `${path && '.'}${name}` : `[${renderJson(name)}]`)
    return compareParts(member, readMember(from, name), readMember(to, name))
  })
}

const readMember = (object: JsonObject, name: string) => (Object.hasOwn(object, name) ? object[name] : undefined)

function listElements(path: string, from: readonly Json[], to: readonly Json[]): string[] {
  const name = NAME_MEMBERS.find((member) => [from, to].every((list) => hasUniqueNames(list, member)))
  if (name !== undefined) return listNamedElements({ path, from, to }, name)
  const toTexts = (list: readonly Json[]) => list.map((element) => JSON.stringify(element))
  return diffSequences(toTexts(from), toTexts(to)).flatMap((difference) => {
    const [removed, added] = [difference.removed.length, difference.added.length]
    return Array.from({ length: Math.max(removed, added) }, (_, at) =>
      compareParts(
        `${path}[${(at < added ? difference.to : difference.from) + at}]`,
        at < removed ? from[difference.from + at] : undefined,
        at < added ? to[difference.to + at] : undefined,
      ),
    ).flat()
  })
}

function listNamedElements(
  { path, from, to }: { readonly path: string; readonly from: readonly Json[]; readonly to: readonly Json[] },
  name: string,
): string[] {
  const byName = (list: readonly Json[]) => new Map(list.map((element) => [readName(element, name)!, element]))
  const [before, after] = [byName(from), byName(to)]
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) =>
    compareParts(`${path}[${name}=${renderWholeValue(key)}]`, before.get(key), after.get(key)),
  )
  const common = (elements: Map<string, Json>, reference: Map<string, Json>) =>
    [...elements.keys()].filter((key) => reference.has(key))
  const order = common(after, before)
  if (isDeepEqual(common(before, after), order)) return changes
  return [...changes, `${path && `${path}: `}in another order: ${order.map((key) => renderWholeValue(key)).join(', ')}`]
}

/** Compares two parts of a value; undefined where there is none. */
function compareParts(path: string, from: Json | undefined, to: Json | undefined): string[] {
  if (from === undefined) return [`+${path}: ${renderWholeValue(to!)}`]
  if (to === undefined) return [`-${path}: ${renderWholeValue(from)}`]
  return isDeepEqual(from, to) ? [] : listDifferences({ path, from, to })
}

function hasUniqueNames(list: readonly Json[], member: string): boolean {
  const names = new Set(list.map((element) => readName(element, member)))
  return names.size === list.length && !names.has(undefined)
}

function readName(element: Json, member: string): string | undefined {
  const name = isObject(element) ? element[member] : undefined
  return typeof name === 'string' && !isLongValue(name) ? name : undefined
}

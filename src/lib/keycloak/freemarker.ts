// Templates in the part of the FreeMarker language that the page of Keycloak's admin console uses: conditions, lists and values.
import { escapeHtml } from '../html.ts'

/** A value that a template can use. Undefined is a missing one. */
export type TemplateValue =
  | string
  | boolean
  | undefined
  | readonly TemplateValue[]
  | { readonly [name: string]: TemplateValue }

/** The values of a template, by name. */
export type TemplateValues = Readonly<Record<string, TemplateValue>>

/** Something in a template that is not supported, or a value that it requires and does not get. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

type TemplatePart = string | { readonly text: string } | TemplateCondition | Loop

interface TemplateCondition {
  readonly branches: readonly { readonly when: string | undefined; readonly parts: readonly TemplatePart[] }[]
}

interface Loop {
  readonly list: string
  readonly item: string
  readonly parts: readonly TemplatePart[]
}

/** A directive, or a value to insert: `text` is what is between its brackets. */
interface TemplateToken {
  readonly kind: 'text' | 'value' | 'directive'
  readonly text: string
}

/** Renders a template as HTML: inserted values are escaped. @throws TemplateError */
export function renderTemplate(template: string, values: TemplateValues): string {
  const tokens = [...tokenize(template)]
  const { parts, end } = parseParts(tokens, 0)
  if (end < tokens.length) throw new TemplateError(`Unexpected <${tokens[end]!.text}>.`)
  return renderParts(parts, values)
}

function* tokenize(template: string): Generator<TemplateToken> {
  const pattern = /<#--[\s\S]*?-->|\$\{((?:[^}'"]|'[^']*'|"[^"]*")*)\}|<(\/?[#@](?:[^>'"]|'[^']*'|"[^"]*")*)>/g
  let at = 0
  for (const match of template.matchAll(pattern)) {
    if (match.index > at) yield { kind: 'text', text: template.slice(at, match.index) }
    at = match.index + match[0].length
    if (match[1] !== undefined) yield { kind: 'value', text: match[1] }
    else if (match[2] !== undefined) yield { kind: 'directive', text: match[2] }
  }
  yield { kind: 'text', text: template.slice(at) }
}

/** Parses up to a directive that ends the surrounding one; `end` is its index. */
function parseParts(
  tokens: readonly TemplateToken[],
  start: number,
): { readonly parts: TemplatePart[]; readonly end: number } {
  const parts: TemplatePart[] = []
  let at = start
  while (at < tokens.length) {
    const { kind, text } = tokens[at]!
    if (kind === 'text') parts.push(text)
    else if (kind === 'value') parts.push({ text })
    else if (/^(?:\/#|#else)/.test(text)) break
    else if (text.startsWith('#if ')) {
      const { part, end } = parseCondition(tokens, at)
      parts.push(part)
      at = end
    } else if (text.startsWith('#list ')) {
      const { part, end } = parseLoop(tokens, at)
      parts.push(part)
      at = end
    } else if (text.startsWith('@')) parts.push({ text })
    // Imports define macros, which are refused where one is used.
    else if (!text.startsWith('#import ')) throw new TemplateError(`<${text}> is not supported.`)
    at++
  }
  return { parts, end: at }
}

function parseCondition(
  tokens: readonly TemplateToken[],
  start: number,
): { readonly part: TemplateCondition; readonly end: number } {
  const branches = []
  let at = start
  for (;;) {
    const [, when] = /^#(?:else)?if ([\s\S]*)$/.exec(tokens[at]!.text) ?? []
    const { parts, end } = parseParts(tokens, at + 1)
    branches.push({ when, parts })
    if (tokens[end]?.text === '/#if') return { part: { branches }, end }
    if (!tokens[end]?.text.startsWith('#else')) throw new TemplateError(`<${tokens[start]!.text}> has no end.`)
    at = end
  }
}

function parseLoop(tokens: readonly TemplateToken[], start: number): { readonly part: Loop; readonly end: number } {
  const [, list, item] = /^#list ([\s\S]*?) as (\w+)$/.exec(tokens[start]!.text) ?? []
  const { parts, end } = parseParts(tokens, start + 1)
  if (list === undefined || item === undefined || tokens[end]?.text !== '/#list')
    throw new TemplateError(`<${tokens[start]!.text}> has no end.`)
  return { part: { list, item, parts }, end }
}

function renderParts(parts: readonly TemplatePart[], values: TemplateValues): string {
  return parts.map((part) => renderPart(part, values)).join('')
}

function renderPart(part: TemplatePart, values: TemplateValues): string {
  if (typeof part === 'string') return part
  if ('text' in part) {
    const value = part.text.startsWith('@') ? undefined : evaluate(part.text, values)
    if (typeof value !== 'string') throw new TemplateError(`${part.text} has no text.`)
    return escapeHtml(value)
  }
  if ('branches' in part) {
    const branch = part.branches.find(({ when }) => when === undefined || isTrue(when, values))
    return renderParts(branch?.parts ?? [], values)
  }
  const items = evaluate(part.list, values)
  if (!Array.isArray(items)) throw new TemplateError(`${part.list} is not a list.`)
  return items.map((item: TemplateValue) => renderParts(part.parts, { ...values, [part.item]: item })).join('')
}

function isTrue(expression: string, values: TemplateValues): boolean {
  return expression.split('&&').every((operand) => {
    const [, not, term] = /^\s*(!?)([\s\S]*?)\s*$/.exec(operand)!
    const value = evaluate(term!, values)
    if (typeof value !== 'boolean') throw new TemplateError(`${expression} is neither true nor false.`)
    return value !== (not === '!')
  })
}

const TEXT = `(?:'([^']*)'|"([^"]*)")`
const NAME = /^\s*(\w+)((?:\.\w+)*)/
const DEFAULT = new RegExp(`^!${TEXT}`)
const SPLIT = new RegExp(`^\\?split\\(${TEXT}\\)`)
const THEN = new RegExp(`^\\?then\\(${TEXT}, *${TEXT}\\)`)

/** Evaluates a name with its members, and what follows: a default, or built-ins such as `?has_content`. */
function evaluate(expression: string, values: TemplateValues): TemplateValue {
  const [start, name, members] = NAME.exec(expression) ?? []
  if (start === undefined) throw new TemplateError(`${expression} is not supported.`)
  let value = members!
    .split('.')
    .slice(1)
    .reduce<TemplateValue>((owner, member) => getMember(owner, member), values[name!])
  let rest = expression.slice(start.length).trimEnd()
  while (rest !== '') {
    const { result, length } = applyOperator(value, rest)
    value = result
    rest = rest.slice(length)
  }
  return value
}

function applyOperator(value: TemplateValue, rest: string): { result: TemplateValue; length: number } {
  const done = (result: TemplateValue, length: number) => ({ result, length })
  const [fallback, single, double] = DEFAULT.exec(rest) ?? []
  if (fallback !== undefined) return done(value ?? single ?? double, fallback.length)
  if (rest.startsWith('??')) return done(value !== undefined, 2)
  if (rest.startsWith('?has_content')) return done(hasContent(value), 12)
  if (rest.startsWith('?c') && typeof value === 'boolean') return done(String(value), 2)
  const [split, singleBy, doubleBy] = SPLIT.exec(rest) ?? []
  if (split !== undefined && typeof value === 'string') return done(value.split((singleBy ?? doubleBy)!), split.length)
  const [then, ...texts] = THEN.exec(rest) ?? []
  if (then !== undefined && typeof value === 'boolean')
    return done(value ? (texts[0] ?? texts[1]) : (texts[2] ?? texts[3]), then.length)
  throw new TemplateError(`${rest} is not supported.`)
}

function getMember(owner: TemplateValue, member: string): TemplateValue {
  return isRecord(owner) && Object.hasOwn(owner, member) ? owner[member] : undefined
}

function isRecord(value: TemplateValue): value is TemplateValues {
  return typeof value === 'object' && !Array.isArray(value)
}

function hasContent(value: TemplateValue): boolean {
  if (typeof value === 'boolean') return true
  return value !== undefined && (typeof value === 'string' || Array.isArray(value) ? value.length > 0 : true)
}

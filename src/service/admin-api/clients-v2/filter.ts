// Filters, orders and selected fields of lists in the API of version 2. A filter is an expression as in SCIM, RFC 7644, section 3.4.2.2. Pure.
import { isList, type Json, type Representation, readObject } from '../../../kinds/json.ts'
import { failure, type ServiceError } from '../../context/errors.ts'

/** Whether a client matches a filter. */
export type Filter = (client: Representation) => boolean

const KEYWORD = /^(?:and|or|not)$/i
const TOKEN = /\s*(?:([()])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?)|([a-z][\w.$-]*))/isy
/** The most characters of a filter, and the deepest nesting of its parentheses. */
const LONGEST_FILTER = 2000
const DEEPEST_FILTER = 20

interface FilterToken {
  readonly text: string
  readonly position: number
}

/** Parses a filter. `fields`: the names that it may contain. @throws invalid */
export function parseFilter(text: string, fields: ReadonlySet<string>): Filter {
  if (text.length > LONGEST_FILTER) throw refuse(`The filter has more than ${LONGEST_FILTER} characters.`)
  const parser = new FilterParser(listTokens(text), { fields, end: text.length })
  return parser.parse()
}

function listTokens(text: string): FilterToken[] {
  const tokens: FilterToken[] = []
  const pattern = new RegExp(TOKEN)
  for (let at = 0; text.slice(at).trim() !== ''; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (!match) throw syntaxError(text.length - text.slice(at).trimStart().length, text.slice(at).trim())
    const token = match[0].trimStart()
    tokens.push({ text: token, position: pattern.lastIndex - token.length })
  }
  return tokens
}

/** Reads the tokens of a filter from left to right: `or` binds less than `and`, and that less than `not`. */
class FilterParser {
  readonly #tokens: readonly FilterToken[]
  readonly #fields: ReadonlySet<string>
  readonly #end: number
  #at = 0
  #depth = 0

  constructor(
    tokens: readonly FilterToken[],
    { fields, end }: { readonly fields: ReadonlySet<string>; readonly end: number },
  ) {
    this.#tokens = tokens
    this.#fields = fields
    this.#end = end
  }

  parse(): Filter {
    const filter = this.#readAlternatives()
    if (this.#at < this.#tokens.length) throw this.#createSyntaxError()
    return filter
  }

  #readAlternatives(): Filter {
    const filters = this.#readJoined('or', () => this.#readConjunction())
    return (client) => filters.some((filter) => filter(client))
  }

  #readConjunction(): Filter {
    const filters = this.#readJoined('and', () => this.#readFactor())
    return (client) => filters.every((filter) => filter(client))
  }

  /** Reads filters that are joined by a keyword. */
  #readJoined(keyword: string, read: () => Filter): readonly Filter[] {
    const filters = [read()]
    while (this.#takes(keyword)) filters.push(read())
    return filters
  }

  #readFactor(): Filter {
    if (this.#takes('not')) {
      const filter = this.#readFactor()
      return (client) => !filter(client)
    }
    if (!this.#takes('(')) return this.#readComparison()
    if (++this.#depth > DEEPEST_FILTER) throw refuse(`The filter has more than ${DEEPEST_FILTER} nested parentheses.`)
    const filter = this.#readAlternatives()
    if (!this.#takes(')')) throw this.#createSyntaxError()
    this.#depth--
    return filter
  }

  #readComparison(): Filter {
    const field = this.#read(/^[a-z]/i)
    const operator = this.#read(/^[a-z]{2}$/i).toLowerCase()
    if (operator !== 'pr' && !comparisons.has(operator) && !/^(?:gt|ge|lt|le)$/.test(operator)) {
      this.#at--
      throw this.#createSyntaxError()
    }
    const value = operator === 'pr' ? undefined : this.#read(/^(?:"|-?\d|(?:true|false|null)$)/i)
    if (!this.#fields.has(field)) throw refuse(`Unknown query field: ${field}`)
    if (value === undefined) return (client) => readValues(client, field).length > 0
    const compare = comparisons.get(operator)
    if (!compare)
      throw refuse(`Unsupported operator: ${operator}. Supported operators: [${[...comparisons.keys()].join(', ')}]`)
    const expected = parseValue(value)
    return (client) => compare(readValues(client, field), expected)
  }

  #takes(keyword: string): boolean {
    if (this.#tokens[this.#at]?.text.toLowerCase() !== keyword) return false
    this.#at++
    return true
  }

  #read(pattern: RegExp): string {
    const token = this.#tokens[this.#at]
    if (!token || KEYWORD.test(token.text) || !pattern.test(token.text)) throw this.#createSyntaxError()
    this.#at++
    return token.text
  }

  #createSyntaxError(): ServiceError {
    const token = this.#tokens[this.#at]
    return syntaxError(token?.position ?? this.#end, token?.text)
  }
}

/** The comparisons by their operators. Values are compared as texts; null means no value. */
const comparisons: ReadonlyMap<string, (values: readonly string[], expected: string | null) => boolean> = new Map<
  string,
  (values: readonly string[], expected: string | null) => boolean
>([
  ['eq', isEqual],
  ['ew', (values, expected) => values.some((value) => value.endsWith(expected ?? ''))],
  ['ne', (values, expected) => !isEqual(values, expected)],
  ['co', (values, expected) => values.some((value) => value.includes(expected ?? ''))],
  ['sw', (values, expected) => values.some((value) => value.startsWith(expected ?? ''))],
])

function isEqual(values: readonly string[], expected: string | null): boolean {
  return expected === null ? !values.length : values.includes(expected)
}

function parseValue(text: string): string | null {
  if (text.startsWith('"')) return text.slice(1, -1).replaceAll(/\\(.)/gs, '$1')
  return text.toLowerCase() === 'null' ? null : text.toLowerCase()
}

/** Returns the values of a field as texts: none if it is absent, several for a list. */
function readValues(client: Representation, field: string): readonly string[] {
  const [name = '', member] = field.split('.')
  const value: Json = (member === undefined ? client[name] : readObject(client[name])[member]) ?? null
  if (value === null) return []
  return isList(value) ? value.map(String) : [String(value)]
}

const SORTABLE: ReadonlySet<string> = new Set([
  'clientId',
  'displayName',
  'description',
  'protocol',
  'enabled',
  'appUrl',
  'createdTimestamp',
  'updatedTimestamp',
])

/** Compares two clients. */
export type Order = (a: Representation, b: Representation) => number

/** Parses an order such as `displayName|desc,clientId`. Clients without a value come last. @throws invalid */
export function parseOrder(text: string): Order {
  const keys = text
    .split(',')
    .filter(Boolean)
    .map((part) => {
      const [field = '', direction = 'asc'] = part.split('|')
      if (!SORTABLE.has(field)) throw refuse(`${field} is not a sortable field`)
      if (direction !== 'asc' && direction !== 'desc') throw refuse('sort direction must be asc or desc')
      return { field, sign: direction === 'asc' ? 1 : -1 }
    })
  return (a, b) => {
    for (const { field, sign } of keys) {
      const [value, other] = [a[field] ?? null, b[field] ?? null]
      if (value === other) continue
      if (value === null || other === null) return value === null ? 1 : -1
      return sign * compareValues(value, other)
    }
    return 0
  }
}

/** Compares numbers by value, and other values as texts, by their code units. */
function compareValues(value: Json, other: Json): number {
  if (typeof value === 'number' && typeof other === 'number') return value - other
  return String(value) < String(other) ? -1 : 1
}

/** Returns a function that keeps the selected fields of a client, which commas separate; without fields, all. @throws invalid */
export function createSelection(
  selected: string,
  fields: ReadonlySet<string>,
): (client: Representation) => Representation {
  const names = selected === '' ? [] : selected.split(',')
  const unknown = names.find((name) => !fields.has(name))
  if (unknown !== undefined) throw refuse(`${unknown} is an unknown field`)
  if (!names.length) return (client) => client
  const selectedNames = new Set(names)
  return (client) => Object.fromEntries(Object.entries(client).filter(([name]) => selectedNames.has(name)))
}

const refuse = (message: string) => failure('invalid', message, { form: 'error' })

function syntaxError(position: number, text: string | undefined): ServiceError {
  return refuse(
    `Invalid filter syntax: position ${position}: ${text === undefined ? 'the filter ends too early' : `"${text}" is not expected`}`,
  )
}

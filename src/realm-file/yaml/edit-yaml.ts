// Edits of a file in YAML or JSON as replaced ranges of its text, so that comments, order, quotes and line ends of everything else stay.
import { dump } from 'js-yaml'
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
  type Document as YamlDocument,
} from 'yaml'
import { isList, isObject, type Json } from '../../kinds/json.ts'

/** A replaced range of a text. */
interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

type YamlPair = Pair<Scalar, Node | null>

/** The place of a mapping: its offset, or that of the key above it. */
export interface MapPlace {
  readonly offset: number
  readonly isKey: boolean
}

/** A form of a file that an edit cannot keep. The message says what to edit by hand. */
export class EditError extends Error {}

/** A file to edit. Each edit returns the new text. Offsets are those of keys and of elements of lists. */
export class YamlEditor {
  readonly #text: string
  readonly #newline: string
  readonly #isJson: boolean
  readonly #documents: readonly YamlDocument.Parsed[]
  readonly #splices: Splice[] = []

  constructor(text: string) {
    this.#text = text
    this.#newline = text.includes('\r\n') ? '\r\n' : '\n'
    this.#isJson = /^\s*[[{]/.test(text)
    this.#documents = parseAllDocuments(text, { uniqueKeys: false, version: '1.2', schema: 'core' })
  }

  /** Sets a member of the mapping at an offset, below the keys. A member that does not exist is added at the end. */
  setMember(place: MapPlace, keys: readonly string[], value: Json): string {
    const map = this.#getMap(place)
    this.#set(map, keys, value)
    return this.#apply()
  }

  /** Adds an element at the end of the list that contains the element at an offset. */
  addSibling(offset: number, value: Json): string {
    this.#append(this.#getList(offset), [value])
    return this.#apply()
  }

  /** Adds an element to the list below the keys of the mapping at an offset. A list that does not exist is added. */
  addElement(place: MapPlace, keys: readonly string[], value: Json): string {
    const map = this.#getMap(place)
    const list = findNode(map, keys)
    if (isSeq<Node>(list)) this.#append(list, [value])
    else this.#set(map, keys, [value])
    return this.#apply()
  }

  /** Removes the element of a list at an offset. */
  removeElement(offset: number): string {
    const list = this.#getList(offset)
    this.#removeItems(list, [list.items.findIndex((item) => item.range?.[0] === offset)])
    return this.#apply()
  }

  /** Returns the text of the value of a member, such as a variable; undefined if the mapping has no such member. */
  readSource(place: MapPlace, keys: readonly string[]): string | undefined {
    const node = findNode(this.#getMap(place), keys)
    return node?.range ? this.#text.slice(node.range[0], node.range[1]) : undefined
  }

  #apply(): string {
    return this.#splices
      .toSorted((a, b) => b.start - a.start || b.end - a.end)
      .reduce((text, { start, end, text: inserted }) => text.slice(0, start) + inserted + text.slice(end), this.#text)
  }

  /** Returns the mapping at an offset, or the one below the key at an offset. */
  #getMap({ offset, isKey }: MapPlace): YAMLMap<Scalar, Node | null> {
    let result: YAMLMap<Scalar, Node | null> | undefined
    const select = (node: unknown, start: number | undefined) => {
      if (result || start !== offset || !isMap<Scalar, Node | null>(node)) return undefined
      result = node
      return visit.BREAK
    }
    for (const document of this.#documents)
      visit(
        document,
        isKey
          ? { Pair: (_, pair) => select(pair.value, isScalar(pair.key) ? pair.key.range?.[0] : undefined) }
          : { Map: (_, map) => select(map, map.range?.[0]) },
      )
    if (!result) throw new EditError('the object is an alias or an empty value')
    return result
  }

  #getList(offset: number): YAMLSeq<Node> {
    let result: YAMLSeq<Node> | undefined
    for (const document of this.#documents)
      visit(document, {
        Seq: (_, list) => {
          if (!isSeq<Node>(list) || !list.items.some((item) => item.range?.[0] === offset)) return undefined
          result = list
          return visit.BREAK
        },
      })
    if (!result) throw new EditError('the object is not the element of a list')
    return result
  }

  #set(map: YAMLMap<Scalar, Node | null>, [key, ...rest]: readonly string[], value: Json): void {
    const pair = findPair(map, key!)
    if (!pair)
      this.#addPair(
        map,
        key!,
        rest.reduceRight<Json>((inner, name) => ({ [name]: inner }), value),
      )
    else if (!rest.length) this.#update(pair, map.flow === true, value)
    else if (isMap<Scalar, Node | null>(pair.value)) this.#set(pair.value, rest, value)
    else if (isAlias(pair.value)) {
      const { value: alias } = pair
      const content = this.#documents.map((document) => alias.resolve(document)).find((node) => node !== undefined)
      const former: Json = content?.toJSON() ?? {}
      const changed = setIn(former, rest, value)
      this.#replace(alias, this.#renderFlow(changed, true))
    } else throw new EditError(`${key} is no mapping`)
  }

  /** Makes the value of a pair equal to another one, with as few changes as possible. */
  #update(pair: YamlPair, inFlow: boolean, value: Json): void {
    const node = pair.value
    if (isScalar(node) && (value === null || typeof value !== 'object')) {
      const isEmpty = node.range !== undefined && node.range !== null && node.range[0] === node.range[1]
      if (isEmpty)
        this.#splices.push({
          start: pair.key.range![1] + 1,
          end: pair.key.range![1] + 1,
          text: ` ${this.#renderScalar(value, node, inFlow)}`,
        })
      else this.#replaceScalar(node, value, { inFlow, indent: this.#columnOf(pair.key) })
    } else if (node && this.#updateCollection(node, value)) return
    else if (isAlias(node) || (node && 'flow' in node && node.flow)) this.#replace(node!, this.#renderFlow(value, true))
    else {
      const start = this.#afterColon(pair)
      const end = node ? this.#endOf(node) : start
      this.#splices.push({ start, end: Math.max(start, end), text: this.#renderValue(value, this.#columnOf(pair.key)) })
    }
  }

  /** Changes a collection element by element. Returns false if it must be replaced. */
  #updateCollection(node: Node, value: Json): boolean {
    if (isSeq<Node>(node) && isList(value)) return this.#updateList(node, value)
    if (!isMap<Scalar, Node | null>(node) || !isObject(value) || !Object.keys(value).length) return false
    const current: Record<string, Json> = node.toJSON()
    for (const key of Object.keys(current)) if (!(key in value)) this.#removePair(node, key)
    for (const [key, member] of Object.entries(value)) {
      const pair = findPair(node, key)
      if (!pair) this.#addPair(node, key, member)
      else if (JSON.stringify(current[key]) !== JSON.stringify(member)) this.#update(pair, node.flow === true, member)
    }
    return true
  }

  #updateList(list: YAMLSeq<Node>, value: readonly Json[]): boolean {
    if (!value.length || !list.items.length) return false
    const current = list.items.map((item) => JSON.stringify(item.toJSON()))
    const next = value.map((element) => JSON.stringify(element))
    const removed = current.flatMap((text, at) => (next.includes(text) ? [] : [at]))
    const added = value.filter((_, at) => !current.includes(next[at]!))
    // One element that changes stays in its place.
    if (removed.length === added.length && current.length === next.length) {
      for (const [at, index] of removed.entries()) {
        const item = list.items[index]!
        const element = added[at]!
        if (isScalar(item) && (element === null || typeof element !== 'object'))
          this.#replaceScalar(item, element, { inFlow: list.flow === true, indent: this.#columnOf(item) - 2 })
        else if (!this.#updateCollection(item, element)) return false
      }
      return true
    }
    if (removed.length === current.length) return false
    if (removed.length) this.#removeItems(list, removed)
    if (added.length) this.#append(list, added)
    return true
  }

  #replaceScalar(
    node: Scalar,
    value: Json,
    { inFlow, indent }: { readonly inFlow: boolean; readonly indent: number },
  ): void {
    const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
    if (!isBlock) this.#replace(node, this.#renderScalar(value, node, inFlow))
    else if (typeof value === 'string' && value.trim() !== '' && !/^\s|[ \t]\n|\n\n$/.test(value))
      this.#replaceBlock(node, value, indent)
    else
      this.#splices.push({
        start: node.range![0],
        end: this.#endOf(node),
        text: this.#renderScalar(value, node, inFlow),
      })
  }

  /** Replaces the lines of a block scalar, and its header if the other lines need another one. */
  #replaceBlock(node: Scalar, value: string, parentIndent: number): void {
    const start = node.range![0]
    const header = this.#text.slice(start, this.#lineEnd(start))
    const body = this.#text.slice(start + header.length, this.#endOf(node))
    const indent = /^[\r\n]+( +)/.exec(body)?.[1] ?? ' '.repeat(parentIndent + 2)
    const isFolded = node.type === 'BLOCK_FOLDED' && !value.trimEnd().includes('\n')
    const indicator = `${isFolded ? '>' : '|'}${value.endsWith('\n') ? '' : '-'}`
    const lines = value.replace(/\n$/, '').split('\n')
    const text = lines.map((line) => this.#newline + (line === '' ? '' : indent + line)).join('')
    this.#splices.push({ start, end: this.#endOf(node), text: header.replace(/^[|>][-+\d]*/, indicator) + text })
  }

  #replace(node: Node, text: string): void {
    this.#splices.push({ start: node.range![0], end: node.range![1], text })
  }

  #removePair(map: YAMLMap<Scalar, Node | null>, key: string): void {
    const pair = findPair(map, key)
    if (!pair) throw new EditError(`${key} comes from a merge key`)
    this.#removeRange(map.items, map.items.indexOf(pair), map.flow === true)
  }

  #removeItems(list: YAMLSeq<Node>, indexes: readonly number[]): void {
    if (indexes.length === list.items.length) {
      const start = list.flow
        ? list.range![0]
        : this.#lineEnd(this.#text.lastIndexOf('\n', list.range![0]) - 1 - (this.#newline.length - 1))
      const line = this.#text.slice(this.#text.lastIndexOf('\n', start - 1) + 1, start)
      if (!list.flow && !/:\s*$/.test(line)) throw new EditError('the list would be empty')
      this.#splices.push({ start, end: list.flow ? list.range![1] : this.#endOf(list), text: list.flow ? '[]' : ' []' })
    } else for (const index of indexes) this.#removeRange(list.items, index, list.flow === true)
  }

  #removeRange(items: readonly (Node | YamlPair)[], index: number, inFlow: boolean): void {
    const item = items[index]!
    const [start, end] = [this.#startOf(item), this.#endOf(item)]
    if (inFlow) {
      const [before, after] = [items[index - 1], items[index + 1]]
      if (before) this.#splices.push({ start: this.#endOf(before), end, text: '' })
      else this.#splices.push({ start, end: after ? this.#startOf(after) : end, text: '' })
      return
    }
    const lineStart = this.#text.lastIndexOf('\n', start - 1) + 1
    if (
      !/^ *(?:- +)?$/.test(this.#text.slice(lineStart, start)) ||
      ('key' in item && this.#text.slice(lineStart, start).includes('-'))
    )
      throw new EditError('it is the first of its line')
    this.#splices.push({ start: lineStart, end: this.#nextLine(end), text: '' })
  }

  #addPair(map: YAMLMap<Scalar, Node | null>, key: string, value: Json): void {
    const last = map.items.at(-1)
    if (map.flow || !last)
      this.#addToFlow(
        map,
        last,
        (isPretty, indent) => `${this.#renderFlow(key, false)}: ${this.#renderFlow(value, !isPretty, indent)}`,
      )
    else {
      const column = this.#columnOf(map.items[0]!.key)
      this.#insertLines(
        this.#endOf(last),
        `${' '.repeat(column)}${this.#renderPlain(key)}:${this.#renderValue(value, column)}`,
      )
    }
  }

  #append(list: YAMLSeq<Node>, values: readonly Json[]): void {
    const last = list.items.at(-1)
    if (list.flow || !last) {
      this.#addToFlow(list, last, (isPretty, indent) =>
        values.map((value) => this.#renderFlow(value, !isPretty, indent)).join(', '),
      )
      return
    }
    const lineStart = this.#text.lastIndexOf('\n', last.range![0]) + 1
    const column = this.#text.slice(lineStart, last.range![0]).lastIndexOf('-')
    if (column < 0) throw new EditError('the list has an unusual form')
    const indent = ' '.repeat(column)
    const lines = values.map((value) => {
      const text = this.#dumpBlock(value).replaceAll('\n', `\n${indent}  `)
      return `${indent}- ${text}`.replaceAll('\n', this.#newline)
    })
    this.#insertLines(this.#endOf(last), lines.join(this.#newline))
  }

  /** Adds an element at the end of a collection in brackets, on a line of its own if the others are. */
  #addToFlow(
    collection: Node,
    last: Node | YamlPair | undefined,
    render: (isPretty: boolean, indent: string) => string,
  ): void {
    const end = last ? this.#endOf(last) : collection.range![0] + 1
    const start = last ? this.#startOf(last) : end
    const indent = /\n([ \t]*)$/.exec(this.#text.slice(0, start))?.[1]
    const isPretty = last !== undefined && indent !== undefined
    const separator = last ? (isPretty ? `,${this.#newline}${indent}` : ', ') : ''
    this.#splices.push({ start: end, end, text: separator + render(isPretty, indent ?? '') })
  }

  /** Inserts lines behind the line of an offset. */
  #insertLines(offset: number, lines: string): void {
    const end = this.#lineEnd(offset)
    this.#splices.push({ start: end, end, text: this.#newline + lines })
  }

  /** Renders a value behind the colon of a key at a column. */
  #renderValue(value: Json, column: number): string {
    if (this.#isJson) return ` ${this.#renderFlow(value, false, ' '.repeat(column))}`
    const text = this.#dumpBlock(value)
    const isInline = value === null || typeof value !== 'object' || !Object.keys(value).length
    const indent = ' '.repeat(column + 2)
    return (isInline ? ` ${text}` : `\n${text}`)
      .split('\n')
      .map((line, at) => (at > 0 && line !== '' ? indent + line : line))
      .join(this.#newline)
  }

  #dumpBlock(value: Json): string {
    return dump(value, { lineWidth: -1, noRefs: true }).trimEnd()
  }

  #renderFlow(value: Json, isInline: boolean, indent = ''): string {
    if (this.#isJson) {
      const unit = /\n([ \t]+)/.exec(this.#text)?.[1] ?? '  '
      const text = JSON.stringify(value, null, isInline ? undefined : unit)
      return isInline ? text : text.replaceAll('\n', this.#newline + indent)
    }
    if (isList(value)) return `[${value.map((element) => this.#renderFlow(element, true)).join(', ')}]`
    if (isObject(value))
      return `{ ${Object.entries(value)
        .map(([key, member]) => `${this.#renderPlain(key)}: ${this.#renderFlow(member, true)}`)
        .join(', ')} }`
    return this.#renderScalar(value, undefined, true)
  }

  #renderPlain = (text: string): string =>
    /^[A-Za-z][\w.-]*$/.test(text) && !/^(?:null|true|false|y|n|yes|no|on|off)$/i.test(text)
      ? text
      : JSON.stringify(text)

  /** Renders a scalar with the quotes of the former one, where they suit it. */
  #renderScalar(value: Json, former: Scalar | undefined, inFlow: boolean): string {
    if (typeof value !== 'string') return JSON.stringify(value)
    if (this.#isJson || former?.type === 'QUOTE_DOUBLE') return JSON.stringify(value)
    if (former?.type === 'QUOTE_SINGLE' && !/[\p{Cc}]/u.test(value)) return `'${value.replaceAll("'", "''")}'`
    const text = this.#dumpBlock(value)
    return text.includes('\n') || (inFlow && /[,[\]{}]/.test(text)) ? JSON.stringify(value) : text
  }

  #startOf(item: Node | YamlPair): number {
    return ('key' in item ? item.key : item).range![0]
  }

  /** Returns the end of a node, without the comments and empty lines behind it. */
  #endOf(item: Node | YamlPair): number {
    if ('key' in item)
      return item.value?.range ? Math.max(this.#endOf(item.value), item.key.range![1] + 1) : item.key.range![1] + 1
    if ((isMap<Scalar, Node | null>(item) || isSeq<Node>(item)) && !item.flow && item.items.length)
      return this.#endOf(item.items.at(-1)!)
    const [start, end] = item.range!
    return isScalar(item) && item.type?.startsWith('BLOCK')
      ? start + this.#text.slice(start, end).trimEnd().length
      : end
  }

  #columnOf(node: Node): number {
    return node.range![0] - (this.#text.lastIndexOf('\n', node.range![0] - 1) + 1)
  }

  #afterColon(pair: YamlPair): number {
    return this.#text.indexOf(':', pair.key.range![1]) + 1
  }

  #lineEnd(offset: number): number {
    const end = this.#text.indexOf('\n', offset)
    if (end < 0) return this.#text.length
    return this.#text[end - 1] === '\r' && end > offset ? end - 1 : end
  }

  #nextLine(offset: number): number {
    const end = this.#text.indexOf('\n', offset)
    return end < 0 ? this.#text.length : end + 1
  }
}

function findPair(map: YAMLMap<Scalar, Node | null>, key: string): YamlPair | undefined {
  return map.items.find((pair) => String(pair.key.value) === key)
}

function findNode(map: YAMLMap<Scalar, Node | null>, keys: readonly string[]): Node | null | undefined {
  return keys.reduce<Node | null | undefined>(
    (node, key) => (isMap<Scalar, Node | null>(node) ? findPair(node, key)?.value : undefined),
    map,
  )
}

function setIn(value: Json, [key, ...rest]: readonly string[], member: Json): Json {
  const content = isObject(value) ? value : {}
  return { ...content, [key!]: rest.length ? setIn(content[key!] ?? {}, rest, member) : member }
}

// What a rule of `regent lint` is, and what it is given.
import { creation, type FlatFields } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { isLoopback } from '../../lib/http/loopback.ts'
import type { DeclaredFields, SourcePosition } from '../model/plan-input.ts'

/** A stated object, as far as rules look at it. */
export interface LintedObject {
  readonly kind: KindName
  readonly key: Key
  readonly fields: DeclaredFields
  /** Secrets that stand in a document as they are. */
  readonly literal: readonly string[]
  /** It is only named: nothing is said of it. */
  readonly named: boolean
  readonly origin: SourcePosition
}

/** What a rule has against an object. */
export interface Complaint {
  /** The field; absent: the object as it is. */
  readonly path?: string | undefined
  /** The element of the field's value. */
  readonly element?: string
  /** What is wrong, and what to do; without the name of the object, and never with a secret. */
  readonly message: string
}

/** One rule. What is not stated counts as what creation gives. */
export interface Rule {
  /** What is looked at; absent: every kind. */
  readonly kind?: KindName
  /** In words, for the documentation. */
  readonly finds: string
  readonly source: readonly [title: string, url: string]
  /** `realm`: all stated objects of the realm. */
  find(object: Readable, realm: readonly LintedObject[]): Complaint[]
}

/** An object whose fields can be read: as stated, or else as creation would make them. */
export class Readable {
  readonly object: LintedObject
  readonly #made: FlatFields

  constructor(object: LintedObject) {
    this.object = object
    const stated = Object.fromEntries([...object.fields].map(([path, { value }]) => [path, value]))
    this.#made = creation(kinds[object.kind], stated)
  }

  get(path: string): Json {
    return this.#made[path] ?? null
  }

  /** Whether a flag is on, also where it is the text of a setting. */
  isOn(path: string): boolean {
    const value = this.get(path)
    return String(Array.isArray(value) ? value[0] : value) === 'true'
  }

  /** A text, or the first of a list of texts. */
  text(path: string): string {
    const value = this.get(path)
    return String((Array.isArray(value) ? value[0] : value) ?? '')
  }

  texts(path: string): string[] {
    return (this.get(path) ?? []) as string[]
  }
}

/** Whether a URL is not encrypted on its way to another machine. */
export function isPlain(url: string, scheme = 'http'): boolean {
  const [, host] = new RegExp(`^${scheme}://(\\[[^\\]]*\\]|[^/:?#]*)`, 'i').exec(url) ?? []
  return host !== undefined && !isLoopback(host.toLowerCase())
}

/** A complaint about one field. */
export function against(path: string | undefined, message: string): Complaint[] {
  return [{ path, message }]
}

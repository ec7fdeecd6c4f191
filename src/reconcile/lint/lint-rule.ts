// Lint rules and the objects that they check.
import { addDefaults, type FlatFields } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, readTexts } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { isLoopback } from '../../lib/http/loopback.ts'
import type { DeclarationOrigin, DeclaredFields } from '../model/plan-input.ts'

/** A declared object, with the parts that rules check. */
export interface LintedObject {
  readonly kind: KindName
  readonly key: Key
  readonly fields: DeclaredFields
  /** Paths of secrets that the document contains in plain text. */
  readonly literal: readonly string[]
  /** Encrypted values of fields that are no secrets, by path. */
  readonly encrypted?: ReadonlyMap<string, string> | undefined
  /** Whether the document only refers to the object, without declaring fields. */
  readonly isReference: boolean
  readonly origin: DeclarationOrigin
  /** Whether later runs lint the same object. */
  readonly isReused?: true
}

/** A violation of a rule by an object. */
export interface RuleViolation {
  /** The field; absent for the object as a whole. */
  readonly path?: string | undefined
  /** The element of a list in the field. */
  readonly element?: string
  /** Says what is wrong and what to do, without the object's name. Never contains a secret. */
  readonly message: string
}

/** The documentation of a lint rule. */
interface DescribedRule {
  /** The kind of object that it checks. Default: all kinds. */
  readonly kind?: KindName
  /** The setting that the rule finds, as a noun phrase. */
  readonly finds: string
  readonly source: readonly [title: string, url: string]
}

/** A lint rule for single objects. Undeclared fields count with their defaults. */
export interface LintRule extends DescribedRule {
  /** Returns the violations of the rule by an object. */
  find(object: LintSubject): RuleViolation[]
}

/** A lint rule for realm settings, which may depend on all declared objects of the realm. */
export interface RealmLintRule extends DescribedRule {
  /** Returns the violations of the rule by the settings of a realm. `objects`: all declared objects of the realm. */
  find(realm: LintSubject, objects: readonly LintedObject[]): RuleViolation[]
}

/** Reads the fields of a declared object, with defaults for undeclared ones. */
export class LintSubject {
  readonly object: LintedObject
  readonly #fields: FlatFields

  constructor(object: LintedObject) {
    this.object = object
    const declared = Object.fromEntries([...object.fields].map(([path, { value }]) => [path, value]))
    this.#fields = addDefaults(kinds[object.kind], declared)
  }

  get(path: string): Json {
    return this.#fields[path] ?? null
  }

  /** Whether a flag is on. In component configs it is the text `true`, or a list with it. */
  isOn(path: string): boolean {
    const value = this.get(path)
    return String(Array.isArray(value) ? value[0] : value) === 'true'
  }

  /** Returns a text, or the first of a list of texts; empty where there is none. */
  text(path: string): string {
    const value = this.get(path)
    return String((Array.isArray(value) ? value[0] : value) ?? '')
  }

  texts(path: string): readonly string[] {
    return readTexts(this.get(path))
  }
}

/** Whether a URL of another machine is not encrypted. */
export function isUnencrypted(url: string): boolean {
  const [, host] = /^http:\/\/(\[[^\]]*\]|[^/:?#]*)/i.exec(url) ?? []
  return host !== undefined && !isLoopback(host.toLowerCase())
}

/** Returns a list with one violation, of the field at a path. */
export function violationAt(path: string, message: string): RuleViolation[] {
  return [{ path, message }]
}

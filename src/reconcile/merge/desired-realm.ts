// What all documents of a source say together about each realm.
import { MASTER } from '../../kinds/built-in/index.ts'
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { sharing } from '../../kinds/shared.ts'
import { address, describe } from '../../kinds/tree.ts'
import type { Position } from '../../lib/position.ts'
import type { StatedList } from '../../realm-file/lists.ts'
import { parseRealm, type StatedObject, type StatedRealm, type UnknownFields } from '../../realm-file/parse.ts'
import { mapTexts } from '../../realm-file/substitute.ts'
import { generatedIn } from '../../realm-file/variables.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import {
  byPlace,
  collect,
  DocumentError,
  type Notice,
  type Problem,
  renderPosition,
} from '../../realm-file/yaml/problem.ts'
import { changeTexts } from '../../service/context/secrets.ts'
import type { Vault } from '../../service/context/vault.ts'
import type { SourcePosition } from '../model/plan-input.ts'
import { StatedFields, type StatedValue } from '../model/stated-fields.ts'

/** One object as all documents state it. */
export interface DesiredObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  /** What it was called before. */
  readonly renamedFrom: string | undefined
  readonly fields: StatedFields
  /** Its secrets in the clear, by path; never a part of a plan. */
  readonly secrets: Readonly<Record<string, Json>> | undefined
  readonly masked: readonly string[]
  /** Secrets that stand in a document as they are. */
  readonly literal: readonly string[]
  /** It is only named: it is not made. */
  readonly named: boolean
  /** Where it is stated first. */
  readonly origin: SourcePosition
}

/** One realm as all documents state it. */
export interface DesiredRealm {
  readonly name: string
  readonly objects: ReadonlyMap<string, DesiredObject>
  readonly notices: StatedRealm['notices']
  /** Where the realm is named when no document states the realm itself. */
  readonly named: Position | undefined
  /** Names of the secrets in it that Regent makes. */
  readonly generated: ReadonlySet<string>
  /** The lists of objects that are stated, also empty ones. */
  readonly lists: readonly StatedList[]
}

/** How secrets that documents name are made, for one source. */
export type MakeSecret = (realm: string, name: string) => string

/** The realms that the documents state, in order of name, master last. Throws DocumentError with everything that is wrong. */
export function desiredRealms(
  documents: readonly Document[],
  vault: Vault,
  unknownFields: UnknownFields = 'error',
  make?: MakeSecret,
): DesiredRealm[] {
  const problems: Problem[] = []
  const realms = new Map<string, Merged>()
  // One document after the other: what is kept of each is much less than what it takes to read it.
  for (const document of documents) {
    for (const part of collect(problems, () => statedIn(document, unknownFields))) {
      const realm = realms.get(part.name) ?? new Merged(part.name, vault, problems, make)
      realms.set(part.name, realm)
      realm.add(part)
    }
  }
  if (problems.length) throw new DocumentError(byPlace(problems, documents))
  return [...realms.values()].sort((a, b) => inOrder(a.name, b.name))
}

const read = new WeakMap<Document, StatedRealm>()

/** Resources of one object stay the same documents from run to run: what they say is kept with them, which is little. */
function statedIn(document: Document, unknownFields: UnknownFields): StatedRealm {
  if (!document.states || unknownFields !== 'error') return parseRealm(document, unknownFields)
  const stated = read.get(document) ?? parseRealm(document)
  read.set(document, stated)
  return stated
}

/** The order of realms: by name, master last. */
export function inOrder(a: string, b: string): number {
  return Number(a === MASTER) - Number(b === MASTER) || (a < b ? -1 : 1)
}

const NONE: readonly string[] = []

/** What is stated of one realm. */
class Merged implements DesiredRealm {
  readonly name: string
  readonly objects = new Map<string, DesiredObject>()
  readonly notices: Notice[] = []
  named: Position | undefined
  readonly generated = new Set<string>()
  readonly lists: StatedList[] = []
  readonly #vault: Vault
  readonly #make: MakeSecret | undefined
  readonly #problems: Problem[]
  readonly #ids = new Map<string, Claim>()
  readonly #shared = sharing()
  #parts = 0

  constructor(name: string, vault: Vault, problems: Problem[], make: MakeSecret | undefined) {
    this.name = name
    this.#make = make
    this.#vault = vault
    this.#problems = problems
  }

  add(part: StatedRealm): void {
    this.notices.push(...part.notices)
    this.lists.push(...part.lists)
    if (!this.#parts++) this.named = part.named
    // One document that states the realm itself is enough.
    else if (!part.named) this.named = undefined
    for (const object of part.objects) {
      const id = address(object.kind, object.key)
      const known = this.objects.get(id)
      claim(this.#ids, object, this.#problems)
      this.objects.set(id, this.#together(known, object))
    }
  }

  #together(known: DesiredObject | undefined, object: StatedObject): DesiredObject {
    const stated = new Map<string, StatedValue>(known?.fields)
    const secrets = { ...known?.secrets }
    for (const [path, written] of Object.entries(object.fields)) {
      const secret = written !== null && isSecret(kinds[object.kind], path)
      const value = this.#made(object, path, written, secret)
      if (secret) secrets[path] = this.#shared(value)
      state(stated, object, path, secret ? digestOf(this.#vault, value) : value, this.#problems)
    }
    const { kind, key, origin } = object
    return {
      kind,
      key,
      id: known?.id ?? object.id,
      renamedFrom: known?.renamedFrom ?? object.renamedFrom,
      fields: this.#packed(stated),
      secrets: Object.keys(secrets).length ? secrets : undefined,
      masked: object.masked.length ? [...(known?.masked ?? []), ...object.masked] : (known?.masked ?? NONE),
      literal: known?.literal.length ? [...known.literal, ...object.literal] : object.literal,
      named: (known?.named ?? true) && object.named,
      origin: known?.origin ?? origin,
    }
  }

  /** With the secrets that it names in the place of their names. */
  #made({ kind, key, origin }: StatedObject, path: string, value: Json, secret: boolean): Json {
    const make = this.#make
    if (!make) return value
    if (secret)
      return mapTexts(value, [], (text) => {
        const name = generatedIn(text)
        if (name === undefined) return text
        this.generated.add(name)
        return make(this.name, name)
      })
    if (typeof value === 'string' && generatedIn(value) !== undefined) {
      const message = `${describe(kind, key)}: ${path} is no secret, and everybody could read there what ${value} stands for: put it where a secret belongs`
      this.#problems.push({ position: origin.locate(path), message })
    }
    return value
  }

  #packed(stated: ReadonlyMap<string, StatedValue>): StatedFields {
    const all = [...stated.values()]
    const [first] = all
    const same = all.every(({ origin }) => origin === first?.origin)
    return new StatedFields(
      this.#shared([...stated.keys()]) as string[],
      all.map(({ value }) => this.#shared(value)),
      first && same ? first.origin : all.map(({ origin }) => origin),
    )
  }
}

/** The digest of a secret: most are texts or lists of them. */
function digestOf(vault: Vault, value: Json): Json {
  const digest = changeTexts(value, (secret) => vault.digest(secret))
  return digest === value ? vault.digest(JSON.stringify(value)) : digest
}

function state(
  fields: Map<string, StatedValue>,
  object: StatedObject,
  path: string,
  value: Json,
  problems: Problem[],
): void {
  const other = fields.get(path)
  if (!other) fields.set(path, { value, origin: object.origin })
  else if (JSON.stringify(other.value) !== JSON.stringify(value))
    problems.push(contradiction(object, path, other.origin.locate(path)))
}

/** Who wishes an id. */
export type Claim = Pick<DesiredObject, 'kind' | 'key' | 'id' | 'origin'>

/** An id is wished for one object only, and the same one wherever it is. */
export function claim(ids: Map<string, Claim>, { kind, key, id, origin }: Claim, problems: Problem[]): void {
  const object: Claim = { kind, key, id, origin }
  if (object.id === undefined) return
  const [own, wished] = [address(object.kind, object.key), `${object.kind} ${object.id}`]
  const { idField } = kinds[object.kind]
  const before = ids.get(own)
  const holder = ids.get(wished)
  if (before && before.id !== object.id) problems.push(contradiction(object, idField, before.origin.locate(idField)))
  else if (holder && address(holder.kind, holder.key) !== own) {
    const other = `${describe(holder.kind, holder.key)} at ${renderPosition(holder.origin.locate(idField))}`
    const name = describe(object.kind, object.key)
    const message = `${name} has the id of ${other}: leave one of them out, since ids are unique`
    problems.push({ position: object.origin.locate(idField), message })
  }
  ids.set(own, before ?? object).set(wished, holder ?? object)
}

/** Two places state a field otherwise: told at the one, with the other. */
export function contradiction({ kind, key, origin }: Claim, path: string, other: Position): Problem {
  const message = `${path} is stated differently at ${renderPosition(other)}: state it once, or twice the same`
  return { position: origin.locate(path), message: `${describe(kind, key)}: ${message}`, other }
}

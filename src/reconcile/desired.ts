// What all documents of a source say together about each realm.
import { MASTER } from '../kinds/built-in/index.ts'
import { isSecret } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { address, describe } from '../kinds/tree.ts'
import type { Position } from '../lib/position.ts'
import type { Document } from '../realm-file/document.ts'
import { parseRealm, type StatedObject, type StatedRealm, type UnknownFields } from '../realm-file/parse.ts'
import { byPlace, collect, DocumentError, type Problem, renderPosition } from '../realm-file/problem.ts'
import { changeTexts } from '../service/secrets.ts'
import type { Vault } from '../service/vault.ts'

/** One stated value: as it is compared (a secret as its digest), and where it comes from. */
export interface StatedValue {
  readonly value: Json
  readonly position: Position
  /** Where the value of the path names an object of that key. */
  readonly locate: (path: string, key: Key) => Position
}

/** One object as all documents state it. */
export interface DesiredObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  readonly fields: ReadonlyMap<string, StatedValue>
  readonly masked: readonly string[]
  /** It is only named: it is not made. */
  readonly named: boolean
  readonly position: Position
  readonly parentPosition: Position
}

/** One realm as all documents state it. */
export interface DesiredRealm {
  readonly name: string
  readonly objects: ReadonlyMap<string, DesiredObject>
  readonly notices: StatedRealm['notices']
  /** Where the realm is named when no document states the realm itself. */
  readonly named: Position | undefined
  /** The secret of a path of an object; never a part of a plan. */
  readonly secret: (address: string, path: string) => Json | undefined
}

/** The realms that the documents state, in order of name, master last. Throws DocumentError with everything that is wrong. */
export function desiredRealms(
  documents: readonly Document[],
  vault: Vault,
  unknownFields: UnknownFields = 'error',
): DesiredRealm[] {
  const problems: Problem[] = []
  const stated = documents.flatMap((document) => collect(problems, () => parseRealm(document, unknownFields)))
  const byRealm = Map.groupBy(stated, ({ name }) => name)
  const realms = [...byRealm].map(([name, parts]) => merge(name, parts, vault, problems))
  if (problems.length) throw new DocumentError(byPlace(problems, documents))
  return realms.sort((a, b) => inOrder(a.name, b.name))
}

/** The order of realms: by name, master last. */
export function inOrder(a: string, b: string): number {
  return Number(a === MASTER) - Number(b === MASTER) || (a < b ? -1 : 1)
}

function merge(name: string, parts: readonly StatedRealm[], vault: Vault, problems: Problem[]): DesiredRealm {
  const objects = new Map<string, DesiredObject & { fields: Map<string, StatedValue> }>()
  const secrets = new Map<string, Json>()
  const ids = new Map<string, StatedObject>()
  for (const object of parts.flatMap((part) => part.objects)) {
    const id = address(object.kind, object.key)
    const known = objects.get(id) ?? { ...object, fields: new Map(), masked: [] }
    objects.set(id, {
      ...known,
      id: known.id ?? object.id,
      masked: [...known.masked, ...object.masked],
      named: known.named && object.named,
    })
    claim(ids, object, problems)
    for (const [path, value] of Object.entries(object.fields)) {
      const secret = value !== null && isSecret(kinds[object.kind], path)
      if (secret) secrets.set(`${id} ${path}`, value)
      state(known.fields, object, path, secret ? digestOf(vault, value) : value, problems)
    }
  }
  return {
    name,
    objects,
    notices: parts.flatMap((part) => part.notices),
    named: parts.every((part) => part.named) ? parts[0]!.named : undefined,
    secret: (id, path) => secrets.get(`${id} ${path}`),
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
  const { locate } = object
  const position = locate(path)
  const other = fields.get(path)
  if (!other) fields.set(path, { value, position, locate })
  else if (JSON.stringify(other.value) !== JSON.stringify(value))
    problems.push(contradiction(object, path, other.position))
}

/** An id is wished for one object only, and the same one wherever it is. */
function claim(ids: Map<string, StatedObject>, object: StatedObject, problems: Problem[]): void {
  if (object.id === undefined) return
  const [own, wished] = [address(object.kind, object.key), `${object.kind} ${object.id}`]
  const { idField } = kinds[object.kind]
  const before = ids.get(own)
  const holder = ids.get(wished)
  if (before && before.id !== object.id) problems.push(contradiction(object, idField, before.locate(idField)))
  else if (holder && address(holder.kind, holder.key) !== own) {
    const other = `${describe(holder.kind, holder.key)} at ${renderPosition(holder.locate(idField))}`
    const name = describe(object.kind, object.key)
    const message = `${name} has the id of ${other}: leave one of them out, since ids are unique`
    problems.push({ position: object.locate(idField), message })
  }
  ids.set(own, before ?? object).set(wished, holder ?? object)
}

function contradiction({ kind, key, locate }: StatedObject, path: string, other: Position): Problem {
  const message = `${path} is stated differently at ${renderPosition(other)}: state it once, or twice the same`
  return { position: locate(path), message: `${describe(kind, key)}: ${message}` }
}

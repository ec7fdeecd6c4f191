// Merges the documents of one source into the realms that they declare.
import { MASTER } from '../../kinds/built-in/index.ts'
import { isSecret } from '../../kinds/compare.ts'
import { listUnenforced } from '../../kinds/effects/find-unenforced.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import { describeObject, formatAddress } from '../../kinds/tree.ts'
import { createValueInterner } from '../../kinds/value-interner.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import type { DeclaredList } from '../../realm-file/declared-lists.ts'
import {
  type DeclaredObject,
  type DeclaredRealm,
  parseRealm,
  type UnknownFieldPolicy,
} from '../../realm-file/parse-realm.ts'
import { transformTextsByPath } from '../../realm-file/substitute-variables.ts'
import { parseGeneratedSecret } from '../../realm-file/variables.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import {
  collectProblems,
  DocumentError,
  type DocumentProblem,
  type DocumentWarning,
  sortByPosition,
} from '../../realm-file/yaml/problem.ts'
import { transformTexts } from '../../service/context/secrets.ts'
import type { Vault } from '../../service/context/vault.ts'
import { DeclaredFieldMap, type DeclaredValue } from '../model/declared-field-map.ts'
import { claimId, createConflict, type IdClaim } from './conflicts.ts'
import type { DesiredObject } from './desired-object.ts'
import { OverlayMerger } from './overlay-merger.ts'

/** A realm as all documents declare it together. */
export interface DesiredRealm {
  readonly name: string
  /** Its objects by address. */
  readonly objects: ReadonlyMap<string, DesiredObject>
  readonly warnings: DeclaredRealm['warnings']
  /** The position at which documents name the realm, if none of them declares it. */
  readonly realmReference: SourcePosition | undefined
  /** The names of its generated secrets. */
  readonly generatedSecrets: ReadonlySet<string>
  /** The declared lists of objects, empty ones included. */
  readonly lists: readonly DeclaredList[]
}

/** Returns the generated secret of a name in a realm. */
export type GenerateSecret = (realm: string, name: string) => string

/** The vault and the settings by which documents are merged. */
export interface MergeOptions {
  readonly vault: Vault
  /** Whether unknown fields are errors or warnings. Default: `error`. */
  readonly unknownFields?: UnknownFieldPolicy | undefined
  /** Absent: `$(generated:NAME)` is left as it is. */
  readonly generateSecret?: GenerateSecret | undefined
}

/** Returns the realms that documents declare, by name, master last. Throws DocumentError with all problems. */
export function readDesiredRealms(documents: readonly Document[], options: MergeOptions): DesiredRealm[] {
  const problems: DocumentProblem[] = []
  const realms = new Map<string, RealmMerger>()
  const inOrder = documents.toSorted((a, b) => (a.overlay ?? 0) - (b.overlay ?? 0))
  // One document at a time: the merged objects take much less memory than a parsed document.
  for (const document of inOrder) {
    for (const part of collectProblems(problems, () => parseCached(document, options.unknownFields))) {
      const realm = realms.get(part.name) ?? new RealmMerger(part.name, options, problems)
      if (part.overlay !== undefined && !realms.has(part.name))
        problems.push({
          position: document.locate([kinds.realm.naturalKey]),
          message: `the base declares no realm ${part.name}, which this overlay changes. Correct the name, or declare the realm in a file outside of the overlays.`,
        })
      realms.set(part.name, realm)
      realm.add(part, parsedRealms.has(document))
    }
  }
  if (problems.length) throw new DocumentError(sortByPosition(problems, documents))
  return [...realms.values()].sort((a, b) => compareRealmNames(a.name, b.name))
}

/** Results with at most this many objects are cached. */
const MOST_CACHED_OBJECTS = 100
const parsedRealms = new WeakMap<Document, DeclaredRealm>()

/** Parses a document. Unchanged documents of a git source, and resources, are the same from run to run: small results are cached. */
function parseCached(document: Document, unknownFields: UnknownFieldPolicy = 'error'): DeclaredRealm {
  if (unknownFields !== 'error') return parseRealm(document, unknownFields)
  const parsed = parsedRealms.get(document) ?? parseRealm(document)
  if (parsed.objects.length <= MOST_CACHED_OBJECTS) parsedRealms.set(document, parsed)
  return parsed
}

/** Returns the objects that a document declares, without those that it only refers to; none if it is invalid. */
export function listDeclaredObjects(document: Document): Pick<DeclaredObject, 'kind' | 'key'>[] {
  const declared = collectProblems([], () => parseCached(document))
  return declared.flatMap(({ objects }) => objects).filter(({ isReferenceOnly }) => !isReferenceOnly)
}

/** Compares names in the order in which realms are applied: by name, master last. */
export function compareRealmNames(a: string, b: string): number {
  return Number(a === MASTER) - Number(b === MASTER) || (a < b ? -1 : 1)
}

const NO_MASKS: DesiredObject['masked'] = new Map()
const reusedObjects = new WeakMap<DeclaredObject, DesiredObject>()

/** A realm that grows document by document. */
class RealmMerger implements DesiredRealm {
  readonly name: string
  readonly objects = new Map<string, DesiredObject>()
  readonly warnings: DocumentWarning[] = []
  realmReference: SourcePosition | undefined
  readonly generatedSecrets = new Set<string>()
  readonly lists: DeclaredList[] = []
  readonly #vault: Vault
  readonly #generateSecret: GenerateSecret | undefined
  readonly #problems: DocumentProblem[]
  readonly #ids = new Map<string, IdClaim>()
  readonly #intern = createValueInterner()
  #overlay: OverlayMerger | undefined
  #documentCount = 0

  constructor(name: string, { vault, generateSecret }: MergeOptions, problems: DocumentProblem[]) {
    this.name = name
    this.#generateSecret = generateSecret
    this.#vault = vault
    this.#problems = problems
  }

  /** `isReused`: whether later runs get the same part. */
  add(part: DeclaredRealm, isReused: boolean): void {
    this.warnings.push(...part.warnings)
    if (part.overlay !== this.#overlay?.number)
      this.#overlay = part.overlay === undefined ? undefined : new OverlayMerger(part.overlay, this.#problems)
    // An overlay declares only differences, so that its lists are never complete.
    if (!this.#overlay) this.lists.push(...part.lists)
    if (!this.#documentCount++) this.realmReference = part.referencePosition
    // One document that declares the realm itself is enough.
    else if (!part.referencePosition) this.realmReference = undefined
    for (const object of part.objects) {
      if (object.removesObject) {
        for (const removed of this.#overlay?.remove(object, this.objects) ?? []) this.#delete(removed)
        continue
      }
      const id = formatAddress(object.kind, object.key)
      const before = this.objects.get(id)
      claimId(this.#ids, object, this.#problems)
      if (isReused && !before && !this.#overlay) this.objects.set(id, this.#mergeReused(object))
      else this.objects.set(id, this.#merge(this.#overlay ? this.#overlay.prepare(before, object) : before, object))
    }
  }

  #delete({ kind, key, id }: DesiredObject): void {
    const address = formatAddress(kind, key)
    this.objects.delete(address)
    this.#ids.delete(address)
    if (id !== undefined) this.#ids.delete(`${kind} ${id}`)
  }

  /** Merges an object that no other document declares. The result is reused unless it depends on more than the object. */
  #mergeReused(object: DeclaredObject): DesiredObject {
    const reused = reusedObjects.get(object)
    if (reused) return reused
    const problemCount = this.#problems.length
    const merged = this.#merge(undefined, object)
    if (merged.secrets || merged.encrypted || this.#problems.length > problemCount) return merged
    const desired: DesiredObject = { ...merged, isReused: true }
    reusedObjects.set(object, desired)
    return desired
  }

  #merge(before: DesiredObject | undefined, object: DeclaredObject): DesiredObject {
    const fields = new Map<string, DeclaredValue>(before?.fields)
    const secrets = { ...before?.secrets }
    for (const [path, written] of Object.entries(object.fields)) {
      const isSecretValue = written !== null && isSecret(kinds[object.kind], path)
      if (isSecretValue) {
        const secret = this.#insertGenerated(written)
        secrets[path] = this.#intern(secret)
        this.#addField(fields, object, { path, value: digestSecret(this.#vault, secret) })
      } else {
        this.#refuseGenerated(object, path, written)
        this.#addField(fields, object, { path, value: written })
      }
    }
    const { kind, key, origin } = object
    return {
      kind,
      key,
      id: before?.id ?? object.id,
      renamedFrom: before?.renamedFrom ?? object.renamedFrom,
      fields: this.#compact(fields),
      ...collectSecrets(kind, secrets),
      masked: object.maskedSecrets.length
        ? new Map([...object.maskedSecrets.map((path) => [path, origin] as const), ...(before?.masked ?? [])])
        : (before?.masked ?? NO_MASKS),
      ...this.#digestEncrypted(before?.encrypted, object),
      literal: before?.literal.length ? [...before.literal, ...object.literalSecrets] : object.literalSecrets,
      isReference: (before?.isReference ?? true) && object.isReferenceOnly,
      origin: before?.origin ?? origin,
    }
  }

  #digestEncrypted(
    before: DesiredObject['encrypted'],
    { encryptedFields, fields }: DeclaredObject,
  ): Pick<DesiredObject, 'encrypted'> {
    if (!encryptedFields.length) return before ? { encrypted: before } : {}
    const digests = encryptedFields.map((path) => [path, this.#vault.digest(JSON.stringify(fields[path]))] as const)
    return { encrypted: new Map([...(before ?? []), ...digests]) }
  }

  /** Replaces `$(generated:NAME)` in a secret by the generated secret. */
  #insertGenerated(secret: Json): Json {
    const generate = this.#generateSecret
    if (!generate) return secret
    return transformTextsByPath(secret, (text) => {
      const name = parseGeneratedSecret(text)
      if (name === undefined) return text
      this.generatedSecrets.add(name)
      return generate(this.name, name)
    })
  }

  /** Refuses `$(generated:NAME)` in a field that is no secret. */
  #refuseGenerated({ kind, key, origin }: DeclaredObject, path: string, value: Json): void {
    if (!this.#generateSecret || typeof value !== 'string' || parseGeneratedSecret(value) === undefined) return
    const message = `${describeObject(kind, key)}: ${path} is no secret, so that ${value} would be readable there. Use it in a secret only.`
    this.#problems.push({ position: origin.locate(path), message })
  }

  /** Adds a field, or refuses it if an earlier document declares another value. */
  #addField(
    fields: Map<string, DeclaredValue>,
    object: DeclaredObject,
    { path, value }: { readonly path: string; readonly value: Json },
  ): void {
    const before = fields.get(path)
    if (!before) fields.set(path, { value, origin: object.origin })
    else if (JSON.stringify(before.value) !== JSON.stringify(value))
      this.#problems.push(createConflict(object, path, before.origin.locate(path)))
  }

  #compact(fields: ReadonlyMap<string, DeclaredValue>): DeclaredFieldMap {
    const all = [...fields.values()]
    const [first] = all
    const haveSameOrigin = all.every(({ origin }) => origin === first?.origin)
    return new DeclaredFieldMap(
      this.#intern([...fields.keys()]) as string[],
      all.map(({ value }) => this.#intern(value)),
      first && haveSameOrigin ? first.origin : all.map(({ origin }) => origin),
    )
  }
}

/** Returns the members of an object with these secrets. */
export function collectSecrets(
  kind: KindName,
  secrets: Readonly<Record<string, Json>>,
): Pick<DesiredObject, 'secrets' | 'unenforcedSecrets'> {
  const entries = Object.entries(secrets)
  if (!entries.length) return { secrets: undefined }
  const unenforced = listUnenforced(kinds[kind], entries)
  return { secrets, ...(unenforced.length && { unenforcedSecrets: unenforced }) }
}

/** Returns the digest of a secret: of each text in it, or of its JSON if it has none. */
function digestSecret(vault: Vault, value: Json): Json {
  const digest = transformTexts(value, (text) => vault.digest(text))
  return digest === value ? vault.digest(JSON.stringify(value)) : digest
}

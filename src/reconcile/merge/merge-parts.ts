// Merges the declarations of several sources into one desired realm.
import { readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key } from '../../kinds/kind.ts'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import type { TenantPermissions } from '../../kinds/tenant-permissions.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import type { DocumentProblem } from '../../realm-file/yaml/problem.ts'
import { DeclaredFieldMap, type DeclaredValue } from '../model/declared-field-map.ts'
import type { DeclarationOrigin } from '../model/plan-input.ts'
import type { Removals } from '../read/removals.ts'
import { claimId, createConflict, type IdClaim } from './conflicts.ts'
import type { DesiredObject } from './desired-object.ts'
import { collectSecrets, type DesiredRealm } from './desired-realm.ts'

/** The part of a realm that one source declares. */
export interface SourcePart {
  readonly source: string
  /** A git commit, or a digest of the files. */
  readonly revision: string
  /** A digest of everything that decides what a run does with the part. */
  readonly digest: string
  readonly desired: DesiredRealm
  readonly settings: SourceSettings
  /** Its permissions as a tenant of the realm; undefined if it is none. */
  readonly tenant: readonly TenantPermissions[] | undefined
  /** Whether the source was never applied to the realm. */
  readonly isNew: boolean
  /** Whether the source has other settings than at its last apply to the realm. */
  readonly hasNewSettings: boolean
  /** Whether objects that the source no longer declares are retained, released or deleted. */
  readonly removals?: Removals | undefined
  /** The git repository and folder of the files; without a repository, the path of the folder. */
  readonly origin?: string | undefined
  /** The origin at the last apply, if that was another one. */
  readonly formerOrigin?: string | undefined
}

/** Returns the part of a source that no longer declares anything of a realm. */
export function createEmptyRealm(name: string): DesiredRealm {
  return {
    name,
    objects: new Map(),
    warnings: [],
    realmReference: undefined,
    generatedSecrets: new Set(),
    lists: [],
  }
}

/** Merges the parts of a realm. Each conflict is added to the problems twice, once per position. */
export function mergeParts(name: string, parts: readonly SourcePart[], problems: DocumentProblem[]): DesiredRealm {
  const realms = parts.map(({ desired }) => desired).filter(({ objects }) => objects.size)
  if (realms.length <= 1) return realms[0] ?? createEmptyRealm(name)
  const objects = new Map<string, DesiredObject>()
  const ids = new Map<string, IdClaim>()
  for (const object of realms.flatMap((realm) => [...realm.objects.values()])) {
    const id = formatAddress(object.kind, object.key)
    const before = objects.get(id)
    objects.set(id, before ? mergeObjects(before, object, problems) : object)
    claimId(ids, object, problems)
  }
  return {
    name,
    objects,
    warnings: realms.flatMap(({ warnings }) => warnings),
    lists: realms.flatMap(({ lists }) => lists),
    realmReference: realms.every(({ realmReference }) => realmReference) ? realms[0]!.realmReference : undefined,
    generatedSecrets: new Set(realms.flatMap(({ generatedSecrets }) => [...generatedSecrets])),
  }
}

function mergeObjects(first: DesiredObject, second: DesiredObject, problems: DocumentProblem[]): DesiredObject {
  const fields = new Map<string, DeclaredValue>(first.fields)
  for (const [path, declared] of second.fields) {
    const before = fields.get(path)
    if (!before || resolveField(kinds[first.kind], path).field.relation)
      fields.set(path, before ? mergeRelationValues(before, declared) : declared)
    else if (JSON.stringify(before.value) !== JSON.stringify(declared.value))
      // A problem for each source, since each has its own status and author.
      problems.push(
        createConflict({ ...second, origin: declared.origin }, path, before.origin.locate(path)),
        createConflict({ ...first, origin: before.origin }, path, declared.origin.locate(path)),
      )
  }
  const { kind, key, origin } = first
  const encrypted = [...(first.encrypted ?? []), ...(second.encrypted ?? [])]
  return {
    kind,
    key,
    id: first.id ?? second.id,
    renamedFrom: first.renamedFrom ?? second.renamedFrom,
    fields: new DeclaredFieldMap(
      [...fields.keys()],
      [...fields.values()].map(({ value }) => value),
      [...fields.values()].map(({ origin }) => origin),
    ),
    ...collectSecrets(kind, { ...second.secrets, ...first.secrets }),
    masked: new Map([...second.masked, ...first.masked]),
    ...(encrypted.length && { encrypted: new Map(encrypted) }),
    literal: [...first.literal, ...second.literal],
    isReference: first.isReference && second.isReference,
    origin: first.isReference && !second.isReference ? second.origin : origin,
  }
}

/** Merges the elements of a relation, of which each source may declare some. */
function mergeRelationValues(first: DeclaredValue, second: DeclaredValue): DeclaredValue {
  const ofFirst = new Set(readKeys(first.value).map((key) => JSON.stringify(key)))
  const added = readKeys(second.value).filter((key) => !ofFirst.has(JSON.stringify(key)))
  if (!added.length) return first
  return {
    value: [...readKeys(first.value), ...added],
    origin: new MergedOrigin(first.origin, second.origin, new Set(added.map((key) => JSON.stringify(key)))),
  }
}

/** The origin of a relation whose elements come from two sources. */
class MergedOrigin implements DeclarationOrigin {
  readonly #first: DeclarationOrigin
  readonly #second: DeclarationOrigin
  readonly #keysOfSecond: ReadonlySet<string>

  /** `keysOfSecond`: the elements that only the second source declares, as JSON. */
  constructor(first: DeclarationOrigin, second: DeclarationOrigin, keysOfSecond: ReadonlySet<string>) {
    this.#first = first
    this.#second = second
    this.#keysOfSecond = keysOfSecond
  }

  get position(): SourcePosition {
    return this.#first.position
  }

  get parentPosition(): SourcePosition {
    return this.#first.parentPosition
  }

  locate(path: string, key?: Key): SourcePosition {
    const isOfSecond = key && this.#keysOfSecond.has(JSON.stringify(key))
    return (isOfSecond ? this.#second : this.#first).locate(path, key)
  }

  getLine(number: number): string {
    return this.#first.getLine(number)
  }
}

// What a plan is made of: what is stated, what is live, what is owned.
import type { FlatFields } from '../../kinds/compare.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Position } from '../../lib/position.ts'
import type { Attribution, Note } from './action.ts'

/** A live object as it is compared: secrets as digests. */
export interface LiveState {
  readonly kind: KindName
  readonly key: Key
  /** Absent where the object will be there once the realm is made. */
  readonly id?: string
  readonly version?: number
  /** It was not read: it is stated as it was applied, and nobody has changed it since. Only the stated fields are known. */
  readonly settled?: true
  /** Nobody states it, and a list that is whole does not have it. */
  readonly undeclared?: true
  readonly fields: FlatFields
}

/** What the sources of a run own of one object, together. */
export interface ManagedObject {
  readonly kind: KindName
  readonly object: string
  readonly key: Key
  readonly fields: FlatFields
  readonly file: string
  readonly line: number
  /** Somebody else has changed the object since. */
  readonly marked: boolean
  /** Live values that the last run left alone, by path. */
  readonly drifted: Readonly<Record<string, Json>> | null
  /** The same of those that count as if they were stated. */
  readonly accepted: Readonly<Record<string, Json>> | null
  /** A source that owns it prunes nothing. */
  readonly stays?: true
  /** Somebody has deleted just this from what states it. */
  readonly meant?: true
  /** What stated it is not there any more, and nobody has deleted that. */
  readonly vanished?: true
}

/** Where a stated object stands, or something in it. */
export interface SourcePosition {
  readonly position: Position
  /** Where its parent is named; without a parent field, where the object itself stands. */
  readonly parentPosition: Position
  /** The position of a field, or of the place in its value that names an object of that key. */
  locate(path: string, key?: Key): Position
  /** A line of its file, from 1. */
  line(number: number): string
}

/** The stated fields of an object, each with where it is stated. */
export interface DeclaredFields
  extends Iterable<[path: string, stated: { readonly value: Json; readonly origin: SourcePosition }]> {
  readonly size: number
  has(path: string): boolean
}

/** A stated object, as `desired.ts` gives it. */
export interface DeclaredObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  /** What it was called before. */
  readonly renamedFrom: string | undefined
  readonly fields: DeclaredFields
  readonly masked: readonly string[]
  /** It is only named: it is not made. */
  readonly named: boolean
  readonly origin: SourcePosition
}

/** What becomes of drift: see service/journal/drift-policy.ts. */
export type DriftPolicy = 'correct' | 'report' | 'accept' | 'selfHeal'

/** Everything that a plan is made of. */
export interface PlanInput {
  readonly realm: string
  /** The realm's name now: another one where somebody renamed it. */
  readonly currentName: string
  readonly exists: boolean
  readonly declared: ReadonlyMap<string, DeclaredObject>
  /** Whether the object at the address is stated as it was applied, and nobody has changed it since: no more of it is known. */
  readonly isSettled: (address: string) => boolean
  /** What is left alone of what the documents say. */
  readonly notices: readonly Note[]
  /** Where the realm is named when no document states the realm itself. */
  readonly named: Position | undefined
  readonly live: readonly LiveState[]
  /** The keys of all live objects of kinds that a reference misses: what may have been meant. */
  readonly names: ReadonlyMap<KindName, readonly Key[]>
  /** What the sources of this run own, and what those do that it does not read. */
  readonly managed: readonly ManagedObject[]
  readonly otherSources: readonly (ManagedObject & { readonly source: string })[]
  /** What becomes of a field, or without a path of a whole object, that is stated and not as it was applied. */
  readonly policyOf: (kind: KindName, key: Key, path: string | undefined, by: Attribution | undefined) => DriftPolicy
  /** Whether nothing else is to be in a relation than what is stated. */
  readonly isAuthoritative: (kind: KindName, key: Key, path: string) => boolean
  /** A source of the run settles something else about itself than when it applied last. */
  readonly resettled: boolean
  /** How many rows of the inventory somebody else had marked, by source of the run. */
  readonly marked: ReadonlyMap<string, number>
  /** What a new realm has or gets with a switch, by address: never pruned, and where released fields go back to. */
  readonly builtIn: ReadonlyMap<string, FlatFields>
  /** People, by their ids, who get the credentials that are stated although they were there before: an approval says so. */
  readonly credentialsOf?: ReadonlySet<string>
  /** The role that new users get; absent where no user is declared. */
  readonly defaultRole?: string | undefined
  /** Who last changed the path of a live or deleted object. */
  readonly changedBy: (kind: KindName, id: string, path?: string) => Attribution | undefined
}

// What a plan consists of.
import type { Json } from '../kinds/fields.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import type { Position } from '../lib/position.ts'

/** Who changed something, and when: from the journal. */
export interface Attribution {
  readonly who: string
  /** `administrator`, by REST or the command line; `person`, whose own account it is; `source`; `system`, Regent itself. */
  readonly kind: 'administrator' | 'person' | 'source' | 'system'
  readonly client?: string | undefined
  readonly address?: string | undefined
  readonly at: string
  /** Of a source: the revision that was applied. */
  readonly revision?: string | undefined
}

/** One field of an action. A relation has `add` and `remove` instead of `from` and `to`. Secrets are digests. */
export interface Change {
  readonly path: string
  readonly from?: Json
  readonly to?: Json
  readonly add?: readonly Key[]
  readonly remove?: readonly Key[]
  /** `stated`: a document says so; `drift`: somebody changed what a document says; `released`: no document says it any more. */
  readonly why: 'stated' | 'drift' | 'released'
  /** Whose change this puts back or overwrites. */
  readonly by?: Attribution
  readonly position?: Position
}

/** Drift that stays as it is. Without a path the object is gone. Secrets are digests. */
export interface LeftAlone {
  readonly kind: KindName
  readonly key: Key
  readonly path?: string
  readonly live: Json
  /** It counts as if it were stated, until the source states something new. */
  readonly adopted?: true
  readonly by?: Attribution
}

/** What is to be done to one object. */
export interface Action {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: KindName
  readonly key: Key
  /** The live object; of a creation, the id that is wished. */
  readonly id?: string
  readonly version?: number
  readonly changes: readonly Change[]
  /** Of a creation: it was there, and somebody deleted it. */
  readonly lost?: Attribution
  readonly position?: Position
}

/** An action of that shape as a plain value, with these changes. */
export function asPlain(action: Action, changes: readonly Change[] = action.changes): Action {
  const { operation, kind, key, id, lost, position } = action
  return {
    operation,
    kind,
    key,
    ...(id !== undefined && { id }),
    changes,
    ...(lost && { lost }),
    ...(position && { position }),
  }
}

/** Something a person should know that is no change. */
export interface Note {
  readonly message: string
  readonly position?: Position
}

/** The comparison of one realm. */
export interface RealmPlan {
  readonly realm: string
  /** The realm's name now, where somebody renamed it. */
  readonly calledNow?: string
  /** Whether the realm itself is new. */
  readonly creates: boolean
  readonly actions: readonly Action[]
  /** What is not as it was applied, and stays so. */
  readonly leftAlone: readonly LeftAlone[]
  readonly notes: readonly Note[]
  /** Live objects that the plan counts on, with their versions. */
  readonly knows: readonly { readonly kind: KindName; readonly id: string; readonly version: number }[]
}

/** A reason why a plan waits for an approval. */
export interface Guard {
  readonly guard: 'deletesRealm' | 'makesRealmAgain' | 'deletions' | 'adoption'
  /** In words for people. */
  readonly message: string
  /** What it is about: the name of a realm, or ids of people. */
  readonly about: readonly string[]
  /** Revision of the realm that it deletes: of another one it would be another plan. */
  readonly revision?: number
  /** Digest of what is stated that adopted people log in with: an approval may give it to them. Absent: nothing is. */
  readonly credentials?: string
}

/** A plan that was not applied, since it waits for an approval. */
export interface Guarded {
  /** The id by which it is approved. */
  readonly plan: string
  readonly guards: readonly Guard[]
  /** Until when it can be approved. */
  readonly expires: string
}

/** An approval with which a plan was applied. */
export interface Approved {
  readonly plan: string
  readonly by: string
  readonly at: string
}

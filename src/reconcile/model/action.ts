// What a plan consists of.
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Position } from '../../lib/position.ts'

/** Version of the JSON of plans and outcomes. */
export const FORMAT_VERSION = 1

/** Who changed something, and when: from the journal. */
export interface Attribution {
  readonly name: string
  /** `administrator`, by REST or the command line; `person`, whose own account it is; `source`; `system`, Regent itself. */
  readonly kind: 'administrator' | 'person' | 'source' | 'system'
  readonly client?: string | undefined
  readonly address?: string | undefined
  readonly at: string
  /** Of a source: the revision that was applied. */
  readonly revision?: string | undefined
}

/** A changed field of an object. */
export type FieldChange = ValueChange | RelationChange

/** A field that gets another value. Secrets are digests. */
export interface ValueChange extends ChangeCause {
  /** The live value; null: none. */
  readonly from: Json
  /** The value that is set; null: none. */
  readonly to: Json
}

/** A relation that gains or loses elements. */
export interface RelationChange extends ChangeCause {
  readonly add: readonly Key[]
  readonly remove: readonly Key[]
}

/** The field of a change, and what causes it. */
interface ChangeCause {
  /** Name of the field; of a map `field.key`. */
  readonly path: string
  /** `declared`: a document declares another value; `drift`: the live value was changed; `undeclared`: removed from the sources. */
  readonly reason: 'declared' | 'drift' | 'undeclared'
  /** Who made the live change that this one corrects or overwrites. */
  readonly by?: Attribution
  /** Where the value is declared. */
  readonly position?: Position
}

/** Returns whether a change adds and removes elements of a relation. */
export function isRelationChange(change: FieldChange): change is RelationChange {
  return 'add' in change
}

/** Returns the values that changes set, by path; relations are left out. */
export function valuesSetBy(changes: readonly FieldChange[]): Record<string, Json> {
  return Object.fromEntries(changes.flatMap((change) => (isRelationChange(change) ? [] : [[change.path, change.to]])))
}

/** Drift that is reported or accepted, and not corrected. Without a path the object is deleted. Secrets are digests. */
export interface IgnoredDrift {
  readonly kind: KindName
  readonly key: Key
  readonly path?: string
  readonly live: Json
  /** It counts as declared until the source declares another value. */
  readonly accepted?: true
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
  readonly changes: readonly FieldChange[]
  /** Of a creation: it was there, and somebody deleted it. */
  readonly deletedBy?: Attribution
  readonly position?: Position
}

/** An action of that shape as a plain value, with these changes. */
export function toPlainAction(action: Action, changes: readonly FieldChange[] = action.changes): Action {
  const { operation, kind, key, id, deletedBy, position } = action
  return {
    operation,
    kind,
    key,
    ...(id !== undefined && { id }),
    changes,
    ...(deletedBy && { deletedBy }),
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
  readonly currentName?: string
  /** Whether the realm itself is new. */
  readonly creates: boolean
  readonly actions: readonly Action[]
  /** What is not as it was applied, and stays so. */
  readonly ignoredDrift: readonly IgnoredDrift[]
  readonly notes: readonly Note[]
  /** Live objects that the plan counts on, with their versions. */
  readonly preconditions: readonly { readonly kind: KindName; readonly id: string; readonly version: number }[]
}

/** A reason why a plan waits for an approval. */
export interface Guard {
  readonly guard: 'deletesRealm' | 'recreatesRealm' | 'deletions' | 'adoption' | 'recreated'
  /** In words for people. */
  readonly message: string
  /** What it is about: the name of a realm, or ids of objects. */
  readonly objects: readonly string[]
  /** Revision of the realm that it deletes: of another one it would be another plan. */
  readonly revision?: number
  /** Digest of what is stated that adopted people log in with: an approval may give it to them. Absent: nothing is. */
  readonly credentials?: string
}

/** A plan that was not applied, since it waits for an approval. */
export interface PendingApproval {
  /** The id by which it is approved. */
  readonly plan: string
  readonly guards: readonly Guard[]
  /** Until when it can be approved. */
  readonly expires: string
}

/** An approval with which a plan was applied. */
export interface Approval {
  readonly plan: string
  readonly by: string
  readonly at: string
}

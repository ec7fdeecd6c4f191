// The parts of a plan: actions, changes, drift, guards, approvals.
import type { UnenforcedEffect } from '../../kinds/effects/field-effect.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { MASK } from '../../kinds/mask.ts'
import type { SourcePosition } from '../../lib/source-position.ts'

/** Version of the JSON of plans and outcomes. */
export const FORMAT_VERSION = 1

/** The author of a change, from the journal. */
export interface Attribution {
  readonly name: string
  /** `administrator`: by REST or CLI; `user`: the owner of the account; `source`: an apply; `workflow`: a step of a workflow; `federation`: a directory; `system`: Regent itself. */
  readonly kind: 'administrator' | 'user' | 'client' | 'source' | 'workflow' | 'federation' | 'system'
  readonly client?: string | undefined
  readonly address?: string | undefined
  /** When, as an ISO 8601 date and time. */
  readonly at: string
  /** Of a source: the revision that was applied. */
  readonly revision?: string | undefined
  /** Of a rollback: the revision of the realm that it went back to. */
  readonly rolledBackTo?: number | undefined
}

/** A changed field of an object. */
export type FieldChange = ValueChange | RelationChange

/** A changed value of a field. Secrets are digests. */
export interface ValueChange extends ChangeCause {
  /** The live value; null if there is none. */
  readonly from: Json
  /** The new value; null removes it. */
  readonly to: Json
  /** A digest of the new value, if it or the last applied value is encrypted in its file. Reports mask both values. */
  readonly encrypted?: string
}

/** Elements that are added to a relation or removed from it. */
export interface RelationChange extends ChangeCause {
  readonly add: readonly Key[]
  readonly remove: readonly Key[]
}

/** The field of a change, and its cause. */
interface ChangeCause {
  /** The name of the field; of a map `field.key`. */
  readonly path: string
  /** `declared`: a document declares another value; `drift`: the live value was changed; `undeclared`: removed from the sources. */
  readonly reason: 'declared' | 'drift' | 'undeclared'
  /** The author of the live change that this one corrects or overwrites. */
  readonly by?: Attribution
  /** The position at which the value is declared. */
  readonly position?: SourcePosition
}

/** Whether a change is that of a relation. */
export function isRelationChange(change: FieldChange): change is RelationChange {
  return 'add' in change
}

/** Returns the new values of changes by path, without relations. */
export function collectNewValues(changes: readonly FieldChange[]): Record<string, Json> {
  return Object.fromEntries(changes.flatMap((change) => (isRelationChange(change) ? [] : [[change.path, change.to]])))
}

/** Drift that is reported or accepted, and not corrected. Without a path, the object was deleted. Secrets are digests. */
export interface IgnoredDrift {
  readonly kind: KindName
  readonly key: Key
  readonly path?: string
  readonly declared?: Json
  readonly live: Json
  /** Whether the declared value is encrypted in its file. Reports mask it. */
  readonly encrypted?: true
  /** The live value counts as declared until the source declares another value. */
  readonly accepted?: true
  readonly by?: Attribution
}

/** The reason of a deletion: the object was removed from its source, or is not in an authoritative list. */
export type DeletionReason =
  | { readonly reason: 'removed'; readonly file: string; readonly line: number }
  | { readonly reason: 'undeclared' }

/** The create, update or delete of one object. */
export interface Action {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: KindName
  readonly key: Key
  /** The id of the live object; of a creation, the declared id. */
  readonly id?: string
  readonly version?: number
  readonly changes: readonly FieldChange[]
  /** Of a creation: whether one of its values is encrypted in its file. */
  readonly hasEncryptedValues?: true
  /** Of a creation: the author of the deletion that it reverts. */
  readonly deletedBy?: Attribution
  /** Of a deletion in a plan: why, with the position of the last applied declaration. */
  readonly deletion?: DeletionReason
  readonly position?: SourcePosition
}

/** Returns an action as plain JSON, without its version. */
export function toPlainAction(action: Action, changes: readonly FieldChange[] = action.changes): Action {
  const { operation, kind, key, id, deletedBy, deletion, position } = action
  return {
    operation,
    kind,
    key,
    ...(id !== undefined && { id }),
    changes,
    ...(deletedBy && { deletedBy }),
    ...(deletion && { deletion }),
    ...(position && { position }),
  }
}

/** Returns a plan without the values that are encrypted in their files. */
export function maskEncryptedValues(plan: RealmPlan): RealmPlan {
  const { actions, ignoredDrift } = plan
  if (!actions.some(hasEncryptedChange) && !ignoredDrift.some(({ encrypted }) => encrypted)) return plan
  return {
    ...plan,
    actions: actions.map(maskAction),
    ignoredDrift: ignoredDrift.map((drift) => (drift.encrypted ? { ...drift, declared: MASK, live: MASK } : drift)),
  }
}

/** Returns an action without the values that are encrypted in their files. */
export const maskAction = (action: Action): Action =>
  hasEncryptedChange(action) ? { ...action, ...toPlainAction(action, action.changes.map(maskChange)) } : action

const isEncrypted = (change: FieldChange): change is ValueChange =>
  !isRelationChange(change) && change.encrypted !== undefined

// The changes of a creation are created on each access.
const hasEncryptedChange = (action: Action): boolean =>
  action.operation === 'create' ? action.hasEncryptedValues === true : action.changes.some(isEncrypted)

const maskChange = (change: FieldChange): FieldChange =>
  isEncrypted(change) ? { ...change, from: maskValue(change.from), to: maskValue(change.to) } : change

const maskValue = (value: Json): Json => (value === null ? null : MASK)

/** A remark about a plan that is no change. */
export interface Note {
  readonly message: string
  readonly position?: SourcePosition
  /** The positions of further objects that the note is about. */
  readonly furtherPositions?: readonly SourcePosition[]
  /** Of a declared value that is not enforced. */
  readonly effect?: UnenforcedEffect['effect']
}

/** The plan of one realm. */
export interface RealmPlan {
  readonly realm: string
  /** The realm's name in the store, if an administrator renamed it. */
  readonly currentName?: string
  /** Whether the realm itself is new. */
  readonly creates: boolean
  readonly actions: readonly Action[]
  /** Drift that the plan does not correct. */
  readonly ignoredDrift: readonly IgnoredDrift[]
  readonly notes: readonly Note[]
  /** The live objects that the plan depends on, with their versions. */
  readonly preconditions: readonly { readonly kind: KindName; readonly id: string; readonly version: number }[]
}

/** The names of the guards. */
export const GUARDS = [
  'deletesRealm',
  'recreatesRealm',
  'deletions',
  'adoption',
  'recreated',
  'shared',
  'moved',
  'impassableFlow',
] as const

/** A guard that blocks a plan until it is approved. */
export interface Guard {
  readonly guard: (typeof GUARDS)[number]
  /** The reason as text, such as `deletes 30 objects, more than 20`. */
  readonly message: string
  /** The affected objects: the name of a realm, or ids of objects; of `shared` and `moved` names of sources, of `impassableFlow` that of the flow. */
  readonly objects: readonly string[]
  /** The revision of the realm to delete: an approval is void once the realm has changed. */
  readonly revision?: number
  /** A digest of the declared credentials of adopted users, which an approval may give them; absent if none are declared. */
  readonly credentials?: string
}

/** A plan that was not applied, since it is pending approval. */
export interface PendingApproval {
  /** The id of the saved plan. */
  readonly plan: string
  readonly guards: readonly Guard[]
  /** Until when it can be approved, as an ISO 8601 date and time. */
  readonly expires: string
}

/** The approval with which a plan was applied. */
export interface AppliedApproval {
  readonly plan: string
  readonly by: string
  readonly at: string
}

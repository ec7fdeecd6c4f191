// The parts of the API's representations that the console shows. The OpenAPI document describes them.

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** A natural key, from the realm down. */
export type ObjectKey = readonly string[]

/** Who changed something. */
export interface Attribution {
  readonly name: string
  readonly kind: string
  readonly client?: string
  readonly address?: string
  readonly at: string
  readonly revision?: string
  readonly rolledBackTo?: number
}

/** A position in a document. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column?: number
}

/** The states of a realm. */
export type RealmStateName = 'failed' | 'pendingApproval' | 'drifted' | 'suspended' | 'inSync' | 'unmanaged'

/** A realm with its state. */
export interface RealmState {
  readonly realm: string
  readonly enabled: boolean
  readonly permissions: readonly string[]
  readonly state?: RealmStateName
  readonly sources?: readonly string[]
  readonly drift?: number
  readonly pendingPlans?: number
  readonly lastChange?: { readonly revision: number; readonly by: Attribution }
}

/** A condition of a source. */
export interface Condition {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly since: string
}

/** An attempt to apply a source. */
export interface Attempt {
  readonly revision?: string
  readonly at: string
  readonly message?: string
}

/** A source with its status. */
export interface SourceState {
  readonly name: string
  readonly realms: readonly string[]
  readonly suspended: { readonly by: string; readonly at: string; readonly renamedTo?: string } | null
  readonly status: {
    readonly attempted?: Attempt
    readonly applied?: Attempt
    readonly ready?: Condition
    readonly reconciling?: Condition
    readonly stalled?: Condition
    readonly problems?: readonly (Position & { readonly message: string })[]
    readonly nextTryAt?: string
    readonly attempts?: readonly Attempt[]
  }
}

/** A source in a realm. */
export interface RealmSource {
  readonly realm: string
  readonly source: string
  readonly revision: string
  readonly appliedAt: string
  readonly suspended: { readonly revision: number; readonly by: string; readonly at: string } | null
  readonly objects: number
  readonly changed: number
}

/** A guard that blocks a plan. */
export interface Guard {
  readonly guard: string
  readonly message: string
  readonly credentials?: string
}

/** A saved plan, without its changes. */
export interface SavedPlan {
  readonly id: string
  readonly state: 'pending' | 'approved' | 'ready' | 'applied' | 'expired'
  readonly digest: string
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly {
    readonly realm: string
    readonly hasChanges: boolean
    readonly guards: readonly Guard[]
    readonly appliedAt?: string
    readonly revision?: number
  }[]
  readonly appliesOnApproval: boolean
  readonly created: Attribution
  readonly expires: string
  readonly outdated: boolean
  readonly authors?: readonly string[]
  readonly approvedAt?: string
  readonly approvedBy?: string
}

/** A changed field. */
export interface FieldChange {
  readonly path: string
  readonly from?: Json
  readonly to?: Json
  readonly add?: readonly ObjectKey[]
  readonly remove?: readonly ObjectKey[]
  readonly reason?: 'declared' | 'drift' | 'undeclared'
  readonly by?: Attribution
  readonly position?: Position
}

/** The operations on objects. */
export type ObjectOperation = 'create' | 'update' | 'delete'

/** The create, update or delete of one object. */
export interface Action {
  readonly operation: ObjectOperation
  readonly kind: string
  readonly key: ObjectKey
  readonly id?: string
  readonly changes: readonly FieldChange[]
  readonly deletedBy?: Attribution
  readonly deletion?: { readonly file?: string; readonly line?: number }
  readonly position?: Position
}

/** A message about a plan. */
export interface PlanNote {
  readonly message: string
  readonly position?: Position
}

/** The outcome of a plan in one realm. */
export interface RealmOutcome {
  readonly plan: {
    readonly realm: string
    readonly creates: boolean
    readonly actions: readonly Action[]
    readonly notes: readonly PlanNote[]
  }
  readonly consequences: readonly {
    readonly operation: ObjectOperation
    readonly kind: string
    readonly key: ObjectKey
  }[]
  readonly effects: readonly {
    readonly kind: string
    readonly key: ObjectKey
    readonly effect: string
    readonly count: number
  }[]
  readonly findings?: readonly {
    readonly rule: string
    readonly kind: string
    readonly key: ObjectKey
    readonly path?: string
    readonly message: string
    readonly position: Position
  }[]
  readonly guards?: readonly Guard[]
}

/** A saved plan with its changes. */
export interface WholePlan extends SavedPlan {
  readonly outcome: { readonly realms: readonly RealmOutcome[]; readonly notes: readonly PlanNote[] }
}

/** A drifted field or object. */
export interface Drift {
  readonly realm: string
  readonly source: string
  readonly kind: string
  readonly key: ObjectKey
  readonly path?: string
  readonly applied?: Json
  readonly live?: Json
  readonly by?: Attribution
  readonly policy: 'correct' | 'report' | 'selfHeal'
  readonly file: string
  readonly line: number
}

/** What to commit to accept drift. */
export interface AcceptedDrift {
  readonly document?: Json
  readonly edits: readonly {
    readonly source: string
    readonly file: string
    readonly line: number
    readonly kind: string
    readonly key: ObjectKey
    readonly path?: string
    readonly declared?: Json
    readonly live?: Json
  }[]
}

/** The number of objects of a kind. */
export interface KindCount {
  readonly kind: string
  readonly title: string
  readonly parents: readonly string[]
  readonly count: number
  readonly managed: number
}

/** An object in a list. */
export interface ListedObject {
  readonly id: string
  readonly key: ObjectKey
  readonly sources: readonly string[]
}

/** The provenance of a field. */
export interface FieldProvenance {
  readonly path: string
  readonly value?: Json
  readonly declarations: readonly {
    readonly source: string
    readonly revision: string
    readonly file: string
    readonly line: number
  }[]
  readonly by?: Attribution
}

/** An object with what is known about it. */
export interface InspectedObject {
  readonly kind: string
  readonly key: ObjectKey
  readonly id: string
  readonly path: string
  readonly url?: string
  readonly yaml: string
  readonly provenance?: {
    readonly by?: Attribution
    readonly fields: readonly FieldProvenance[]
    readonly isJournalComplete: boolean
  }
  readonly history?: readonly {
    readonly revision: number
    readonly operation: ObjectOperation
    readonly by: Attribution
    readonly changes: readonly FieldChange[]
  }[]
}

/** A revision of a realm. */
export interface Revision {
  readonly number: number
  readonly at: string
  readonly actor: { readonly kind: string; readonly user?: string; readonly client?: string; readonly source?: string }
  readonly created: number
  readonly updated: number
  readonly deleted: number
  readonly sources: readonly { readonly name: string; readonly revision: string }[] | null
  readonly oldestRetained: boolean
}

/** A user of a realm. */
export interface User {
  readonly id: string
  readonly username: string
  readonly firstName?: string
  readonly lastName?: string
  readonly email?: string
  readonly emailVerified?: boolean
  readonly enabled: boolean
  readonly createdTimestamp?: number
  readonly requiredActions?: readonly string[]
}

/** A session of a user. */
export interface UserSession {
  readonly id: string
  readonly ipAddress?: string
  readonly start?: number
  readonly lastAccess?: number
  readonly clients?: Readonly<Record<string, string>>
}

/** The lock state of a user. */
export interface LockState {
  readonly numFailures: number
  readonly disabled: boolean
  readonly lastIPFailure?: string
  readonly lastFailure?: number
}

/** A user event. */
export interface UserEvent {
  readonly time: number
  readonly type: string
  readonly clientId?: string
  readonly userId?: string
  readonly ipAddress?: string
  readonly error?: string
  readonly details?: Readonly<Record<string, string>>
}

/** An admin event. */
export interface AdminEvent {
  readonly time: number
  readonly operationType: string
  readonly resourceType: string
  readonly resourcePath: string
  readonly error?: string
  readonly representation?: string
  readonly authDetails?: {
    readonly realmId?: string
    readonly clientId?: string
    readonly userId?: string
    readonly ipAddress?: string
  }
}

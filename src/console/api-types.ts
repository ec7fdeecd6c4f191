// The parts of the API's representations that the console shows. The OpenAPI document describes them.

/** Any JSON value. */
export type JsonData = string | number | boolean | null | readonly JsonData[] | { readonly [name: string]: JsonData }

/** A natural key, from the realm down. */
export type NaturalKey = readonly string[]

/** The actor of a change, and its time. */
export interface AttributionRepresentation {
  readonly name: string
  readonly kind: string
  readonly client?: string
  readonly address?: string
  readonly at: string
  readonly revision?: string
  readonly rolledBackTo?: number
}

/** A position in a document. */
export interface PositionRepresentation {
  readonly file: string
  readonly line: number
  readonly column?: number
}

/** The states of a realm. */
export type RealmStateName = 'failed' | 'pendingApproval' | 'drifted' | 'suspended' | 'inSync' | 'unmanaged'

/** A realm with its state. */
export interface RealmStateRepresentation {
  readonly realm: string
  readonly enabled: boolean
  readonly permissions: readonly string[]
  readonly state?: RealmStateName
  readonly sources?: readonly string[]
  readonly drift?: number
  readonly pendingPlans?: number
  readonly lastChange?: { readonly revision: number; readonly by: AttributionRepresentation }
}

/** A condition of a source. */
export interface SourceConditionRepresentation {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly since: string
}

/** An attempt to apply a source. */
export interface SourceAttemptRepresentation {
  readonly revision?: string
  readonly at: string
  readonly message?: string
}

/** A source with its status. */
export interface SourceStateRepresentation {
  readonly name: string
  readonly realms: readonly string[]
  readonly suspended: { readonly by: string; readonly at: string; readonly renamedTo?: string } | null
  readonly status: {
    readonly attempted?: SourceAttemptRepresentation
    readonly applied?: SourceAttemptRepresentation
    readonly ready?: SourceConditionRepresentation
    readonly reconciling?: SourceConditionRepresentation
    readonly stalled?: SourceConditionRepresentation
    readonly problems?: readonly (PositionRepresentation & { readonly message: string })[]
    readonly nextTryAt?: string
    readonly attempts?: readonly SourceAttemptRepresentation[]
  }
}

/** A source in a realm. */
export interface RealmSourceRepresentation {
  readonly realm: string
  readonly source: string
  readonly revision: string
  readonly appliedAt: string
  readonly suspended: { readonly revision: number; readonly by: string; readonly at: string } | null
  readonly settings: {
    readonly prune?: string
    readonly ownership?: string
    readonly drift?: readonly { readonly kind?: string; readonly path?: string; readonly policy: string }[]
    readonly guards?: { readonly deletions?: number; readonly share?: number }
  }
  readonly objects: number
  readonly changed: number
}

/** A guard that blocks a plan. */
export interface GuardRepresentation {
  readonly guard: string
  readonly message: string
  readonly credentials?: string
}

/** A saved plan, without its changes. */
export interface SavedPlanRepresentation {
  readonly id: string
  readonly state: 'pending' | 'approved' | 'ready' | 'applied' | 'expired'
  readonly digest: string
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly {
    readonly realm: string
    readonly hasChanges: boolean
    readonly guards: readonly GuardRepresentation[]
    readonly appliedAt?: string
    readonly revision?: number
  }[]
  readonly appliesOnApproval: boolean
  readonly created: AttributionRepresentation
  readonly expires: string
  readonly outdated: boolean
  readonly authors?: readonly string[]
  readonly approvedAt?: string
  readonly approvedBy?: string
}

/** A changed field. */
export interface ChangeRepresentation {
  readonly path: string
  readonly from?: JsonData
  readonly to?: JsonData
  /** Set if the values are masked or absent, since they are encrypted in a file. */
  readonly encrypted?: string | true
  readonly add?: readonly NaturalKey[]
  readonly remove?: readonly NaturalKey[]
  readonly reason?: 'declared' | 'drift' | 'undeclared'
  readonly by?: AttributionRepresentation
  readonly position?: PositionRepresentation
}

/** The operations on objects. */
export type ActionOperation = 'create' | 'update' | 'delete'

/** The create, update or delete of one object. */
export interface ActionRepresentation {
  readonly operation: ActionOperation
  readonly kind: string
  readonly key: NaturalKey
  readonly id?: string
  readonly changes: readonly ChangeRepresentation[]
  readonly deletedBy?: AttributionRepresentation
  readonly deletion?: { readonly file?: string; readonly line?: number }
  readonly position?: PositionRepresentation
}

/** A message about a plan. */
export interface NoteRepresentation {
  readonly message: string
  readonly position?: PositionRepresentation
}

/** The outcome of a plan in one realm. */
export interface RealmOutcomeRepresentation {
  readonly plan: {
    readonly realm: string
    readonly creates: boolean
    readonly actions: readonly ActionRepresentation[]
    readonly notes: readonly NoteRepresentation[]
  }
  readonly consequences: readonly {
    readonly operation: ActionOperation
    readonly kind: string
    readonly key: NaturalKey
  }[]
  readonly effects: readonly {
    readonly kind: string
    readonly key: NaturalKey
    readonly effect: string
    readonly count: number
  }[]
  readonly findings?: readonly {
    readonly rule: string
    readonly kind: string
    readonly key: NaturalKey
    readonly path?: string
    readonly message: string
    readonly position: PositionRepresentation
  }[]
  readonly guards?: readonly GuardRepresentation[]
}

/** A saved plan with its changes. */
export interface SavedPlanWithOutcome extends SavedPlanRepresentation {
  readonly outcome: {
    readonly realms: readonly RealmOutcomeRepresentation[]
    readonly notes: readonly NoteRepresentation[]
  }
}

/** A drifted field or object. */
export interface DriftRepresentation {
  readonly realm: string
  readonly source: string
  readonly kind: string
  readonly key: NaturalKey
  readonly path?: string
  readonly applied?: JsonData
  readonly live?: JsonData
  readonly encrypted?: true
  readonly by?: AttributionRepresentation
  readonly policy: 'correct' | 'report' | 'selfHeal'
  readonly file: string
  readonly line: number
}

/** Declarations that accept drift. */
export interface AcceptedDriftRepresentation {
  readonly document?: JsonData
  readonly edits: readonly {
    readonly source: string
    readonly file: string
    readonly line: number
    readonly kind: string
    readonly key: NaturalKey
    readonly path?: string
    readonly declared?: JsonData
    readonly live?: JsonData
    readonly encrypted?: true
  }[]
}

/** The number of objects of a kind. */
export interface KindCountRepresentation {
  readonly kind: string
  readonly title: string
  readonly parents: readonly string[]
  readonly count: number
  readonly managed: number
}

/** An object in a list. */
export interface ListedObjectRepresentation {
  readonly id: string
  readonly key: NaturalKey
  readonly sources: readonly string[]
}

/** The provenance of a field. */
export interface FieldProvenanceRepresentation {
  readonly path: string
  readonly value?: JsonData
  readonly encrypted?: true
  readonly declarations: readonly {
    readonly source: string
    readonly revision: string
    readonly file: string
    readonly line: number
  }[]
  readonly by?: AttributionRepresentation
}

/** An object with what is known about it. */
export interface InspectedObjectRepresentation {
  readonly kind: string
  readonly key: NaturalKey
  readonly id: string
  readonly path: string
  readonly url?: string
  readonly yaml: string
  readonly provenance?: {
    readonly by?: AttributionRepresentation
    readonly fields: readonly FieldProvenanceRepresentation[]
    readonly isJournalComplete: boolean
  }
  readonly history?: readonly {
    readonly revision: number
    readonly operation: ActionOperation
    readonly by: AttributionRepresentation
    readonly changes: readonly ChangeRepresentation[]
  }[]
}

/** A revision of a realm. */
export interface RevisionRepresentation {
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
export interface UserRepresentation {
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
export interface UserSessionRepresentation {
  readonly id: string
  readonly ipAddress?: string
  readonly start?: number
  readonly lastAccess?: number
  readonly clients?: Readonly<Record<string, string>>
}

/** The lock state of a user. */
export interface LockStateRepresentation {
  readonly numFailures: number
  readonly disabled: boolean
  readonly lastIPFailure?: string
  readonly lastFailure?: number
}

/** A user event. */
export interface UserEventRepresentation {
  readonly time: number
  readonly type: string
  readonly clientId?: string
  readonly userId?: string
  readonly ipAddress?: string
  readonly error?: string
  readonly details?: Readonly<Record<string, string>>
}

/** An admin event. */
export interface AdminEventRepresentation {
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

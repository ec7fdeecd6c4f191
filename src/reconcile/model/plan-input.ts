// The input of a plan: declarations, live objects, and what sources manage.
import type { ClientType } from '../../kinds/client-types.ts'
import type { FlatFields } from '../../kinds/compare.ts'
import type { UnenforcedValue } from '../../kinds/effects/find-unenforced.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import type { DriftPolicy } from '../../service/journal/drift-policy.ts'
import type { Attribution, Note } from './action.ts'

/** A live object in the form in which it is compared. Secrets are digests. */
export interface LiveState {
  readonly kind: KindName
  readonly key: Key
  /** Absent if the object is created together with its realm. */
  readonly id?: string
  readonly version?: number
  /** No source declares the object, and it is missing from an authoritative list. */
  readonly undeclared?: true
  readonly fields: FlatFields
}

/** An object that sources of the run manage, with the last applied values of all of them. */
export interface ManagedObject {
  readonly kind: KindName
  readonly object: string
  readonly key: Key
  readonly fields: FlatFields
  /** The paths of those values that were encrypted in their file; absent if none was. */
  readonly encrypted?: readonly string[]
  readonly file: string
  readonly line: number
  /** Whether others have changed the object since the last apply. */
  readonly marked: boolean
  /** Live values of drift that the last run reported and did not correct, by path. */
  readonly drifted: Readonly<Record<string, Json>> | null
  /** Live values of accepted drift, by path. */
  readonly accepted: Readonly<Record<string, Json>> | null
  /** A source that manages it prunes nothing. */
  readonly isRetained?: true
  /** The declaration was deleted deliberately, such as by `kubectl delete`. */
  readonly isDeletedFromSource?: true
  /** The declaration disappeared without a deletion, such as with an unmounted folder. */
  readonly isMissingFromSource?: true
}

/** The positions at which an object and its fields are declared. */
export interface DeclarationOrigin {
  readonly position: SourcePosition
  /** The position of the field that names its parent; without such a field, that of the object. */
  readonly parentPosition: SourcePosition
  /** Returns the position of a field, or of the element in its value that refers to the object with that key. */
  locate(path: string, key?: Key): SourcePosition
  /** Returns a line of its file, counted from 1. */
  getLine(number: number): string
}

/** The declared fields of an object, each with its origin. */
export interface DeclaredFields
  extends Iterable<[path: string, declared: { readonly value: Json; readonly origin: DeclarationOrigin }]> {
  readonly size: number
  has(path: string): boolean
}

/** The declaration of an object. Secrets are digests. */
export interface ObjectDeclaration {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  /** The former name of a renamed object. */
  readonly renamedFrom: string | undefined
  readonly fields: DeclaredFields
  /** The values within its secrets that are not enforced, such as the types of credentials. */
  readonly unenforcedSecrets?: readonly UnenforcedValue[] | undefined
  /** The origins of masked secrets, whose live values are retained, by path. */
  readonly masked: ReadonlyMap<string, DeclarationOrigin>
  /** Digests of encrypted values of fields that are no secrets, by path. */
  readonly encrypted?: ReadonlyMap<string, string> | undefined
  /** Whether documents only refer to the object, so that it has to exist. */
  readonly isReference: boolean
  readonly origin: DeclarationOrigin
  /** Later runs get the same object if its file is unchanged, so that values derived from it are cached. */
  readonly isReused?: true
}

/** A drifted field, or without a path a drifted object, and who changed it. */
export interface DriftSubject {
  readonly kind: KindName
  readonly key: Key
  readonly path: string | undefined
  readonly by: Attribution | undefined
}

/** A declared reference to a secret that the vault does not have. */
export interface UnresolvedSecret {
  readonly kind: KindName
  readonly key: Key
  readonly path: string
  /** `${vault.key}` */
  readonly reference: string
  /** Advice for administrators, as a sentence. */
  readonly advice: string
  readonly position: SourcePosition
}

/** The input of the plan of one realm. */
export interface PlanInput {
  readonly realm: string
  /** The realm's name in the store; it differs if an administrator renamed the realm. */
  readonly currentName: string
  readonly exists: boolean
  /** Declarations by address. */
  readonly declared: ReadonlyMap<string, ObjectDeclaration>
  /** Whether neither the declaration at an address nor its live object has changed since the last apply. Such objects are not read. */
  readonly isUnchanged: (address: string) => boolean
  /** Warnings about documents, such as ignored fields. */
  readonly warnings: readonly Note[]
  /** The position at which documents name the realm, if none of them declares it. */
  readonly realmReference: SourcePosition | undefined
  readonly live: readonly LiveState[]
  /** The keys of all live objects of kinds with an unresolved reference, to suggest similar names. */
  readonly candidateKeys: ReadonlyMap<KindName, readonly Key[]>
  /** The objects that sources of this run manage. */
  readonly managed: readonly ManagedObject[]
  /** The objects that sources manage which are not read in this run. */
  readonly otherSources: readonly (ManagedObject & Pick<InventoryRow, 'source' | 'lines'>)[]
  /** The tenants among these sources. What they declare yields to this run, unless it is a tenant's own. */
  readonly tenants: ReadonlySet<string>
  readonly getDriftPolicy: (drift: DriftSubject) => DriftPolicy
  /** Whether a declared relation is authoritative: other elements are removed from it. */
  readonly isAuthoritative: (kind: KindName, key: Key, path: string) => boolean
  /** Whether a source of the run has other settings than at its last apply. */
  readonly hasNewSettings: boolean
  /** The number of inventory rows that others have marked, by source of the run. */
  readonly markedRows: ReadonlyMap<string, number>
  /** Fields of built-in objects by address. These objects are never pruned; unmanaged fields return to these values. */
  readonly builtIn: ReadonlyMap<string, FlatFields>
  /** Ids of existing users who get their declared credentials, as an approval allows. */
  readonly credentialRecipients?: ReadonlySet<string>
  /** Absent: none. */
  readonly unresolvedSecrets?: readonly UnresolvedSecret[]
  /** The default role of new users; absent if no user is declared. */
  readonly defaultRole?: string | undefined
  /** The client types of the realm; absent if no live client has a type. */
  readonly clientTypes?: readonly ClientType[]
  /** Returns who last changed a path of a live or deleted object. */
  readonly changedBy: (kind: KindName, id: string, path?: string) => Attribution | undefined
}

/** The input of a plan, with the inventory rows that it was made from. */
export interface ObservedRealm extends PlanInput {
  readonly rows: readonly InventoryRow[]
}

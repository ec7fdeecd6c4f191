// Binds declarations to live objects. Pure.
import { hash } from 'node:crypto'
import type { Json } from '../../kinds/json.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { Attribution } from '../model/action.ts'
import type { DeclarationOrigin, LiveState, ManagedObject, ObjectDeclaration, PlanInput } from '../model/plan-input.ts'

/** A live object that is declared or managed, and the input of its plan. */
export interface BoundObject {
  readonly input: PlanInput
  readonly live: LiveState
  /** The values that sources last applied to it; absent if none ever did. */
  readonly managed: ManagedObject | undefined
}

/** A declared field of an object. Secrets are digests. */
export interface DeclaredField {
  readonly path: string
  readonly value: Json
  readonly origin: DeclarationOrigin
  /** A digest of the value, if it is encrypted in its file and the field is no secret. */
  readonly encrypted?: string | undefined
}

/** Returns the declared fields of an object as a list. */
export function listFields({ fields, encrypted }: Pick<ObjectDeclaration, 'fields' | 'encrypted'>): DeclaredField[] {
  return [...fields].map(([path, { value, origin }]) => ({ path, value, origin, encrypted: encrypted?.get(path) }))
}

/** Returns the mark of a change to a value, if the last applied value was encrypted in its file: reports mask the values then. */
export function markFormerlyEncrypted(
  managed: ManagedObject | undefined,
  path: string,
  to: Json,
): { readonly encrypted?: string } {
  return managed?.encrypted?.includes(path) ? { encrypted: hash('sha256', JSON.stringify(to), 'base64url') } : {}
}

/** Returns who last changed a path of a live object, if the journal still holds that. */
export function findAuthor({ input, live }: BoundObject, path: string): Attribution | undefined {
  return live.id === undefined ? undefined : input.changedBy(live.kind, live.id, path)
}

/**
 * Returns the live objects by the address of their declaration. Managed objects bind by id, also when they were renamed; the
 * remaining declarations bind by key.
 */
export function bindLiveObjects(input: PlanInput): ReadonlyMap<string, LiveState> {
  const byId = new Map(input.live.filter(({ id }) => id).map((live) => [`${live.kind} ${live.id}`, live]))
  const binding = new Map<string, LiveState>()
  for (const { kind, key, object } of input.managed) {
    const live = byId.get(`${kind} ${object}`)
    const id = formatAddress(kind, key)
    if (live && input.declared.has(id)) binding.set(id, live)
  }
  const boundById = new Set(binding.values())
  for (const live of input.live) {
    const id = formatAddress(live.kind, live.key)
    if (input.declared.has(id) && !binding.has(id) && !boundById.has(live)) binding.set(id, live)
  }
  return binding
}

/** A declared object that was deleted after it was applied, and whose name another live object has. */
export interface RecreatedObject {
  readonly declaration: ObjectDeclaration
  /** The deleted object. */
  readonly applied: Pick<ManagedObject, 'kind' | 'object'>
  readonly live: LiveState
}

/**
 * Returns the declared objects that were deleted after they were applied, and whose name another live object has, by address.
 * Sources that are not read in this run count for objects that the sources of the run have never applied.
 */
export function findRecreated(
  input: PlanInput,
  binding: ReadonlyMap<string, LiveState> = bindLiveObjects(input),
): ReadonlyMap<string, RecreatedObject> {
  const managed = Map.groupBy(input.managed, ({ kind, key }) => formatAddress(kind, key))
  const ofOtherSources = Map.groupBy(input.otherSources, ({ kind, key }) => formatAddress(kind, key))
  const recreated = new Map<string, RecreatedObject>()
  for (const [id, live] of binding) {
    const rows = managed.get(id) ?? ofOtherSources.get(id) ?? []
    const applied = rows.find(({ object }) => object !== live.id)
    if (applied && live.id !== undefined && !input.isUnchanged(id))
      recreated.set(id, { declaration: input.declared.get(id)!, applied, live })
  }
  return recreated
}

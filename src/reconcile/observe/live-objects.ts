// Reads the live objects that matter for a plan: declared, referred to or managed ones.

import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { findParent, formatAddress } from '../../kinds/tree.ts'
import type { Context } from '../../service/context/context.ts'
import { digestSecrets } from '../../service/context/secrets.ts'
import { writers } from '../../service/kinds/index.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { LiveState, ManagedObject } from '../model/plan-input.ts'
import { isUnchangedValue, listReferences } from '../model/references.ts'
import { createFormerKeyLookup } from '../model/renames.ts'

/** Natural keys by kind, and by their JSON text. */
export type KeysByKind = ReadonlyMap<KindName, ReadonlyMap<string, Key>>

/** Returns the keys of all declared objects, their parents and what they refer to, without unchanged objects. */
export function collectKeys(
  desired: DesiredRealm,
  managed: readonly ManagedObject[],
  isUnchanged: (address: string) => boolean,
): KeysByKind {
  const unmarked = new Map(
    managed.filter(({ marked }) => !marked).map((row) => [formatAddress(row.kind, row.key), row.fields]),
  )
  const keys = new Map<KindName, Map<string, Key>>()
  const add = (kind: KindName, key: Key) => {
    if (isUnchanged(formatAddress(kind, key))) return
    if (!keys.has(kind)) keys.set(kind, new Map())
    keys.get(kind)!.set(JSON.stringify(key), key)
    const parent = findParent(key)
    if (parent) add(parent.kind, parent.key)
  }
  const findFormer = createFormerKeyLookup(desired.objects.values())
  for (const [id, { kind, key, fields }] of desired.objects) {
    if (isUnchanged(id)) continue
    add(kind, key)
    if (findFormer) add(kind, findFormer(kind, key))
    for (const [path, { value }] of fields) {
      if (isUnchangedValue(unmarked.get(id), path, value)) continue
      for (const target of listReferences({ kind, key }, path, value)) add(target.to, target.key)
    }
  }
  return keys
}

/** Reads live objects by natural keys and by the ids of managed objects. At most one statement per kind. */
export async function readLiveObjects(
  context: Context,
  keys: KeysByKind,
  managed: readonly ManagedObject[],
): Promise<LiveState[]> {
  const live: LiveState[] = []
  for (const kind of creationOrder) {
    const ids = managed.filter((row) => row.kind === kind).map(({ object }) => object)
    const keysOfKind = [...(keys.get(kind)?.values() ?? [])]
    if (!ids.length && !keysOfKind.length) continue
    const objects = await writers[kind].list(context, { ids, keys: keysOfKind })
    live.push(
      ...objects.map(({ key, id, version, representation }) => ({
        kind,
        key,
        id,
        version,
        fields: digestSecrets(context.vault, kinds[kind], representation),
      })),
    )
  }
  return live
}

/** Reads the keys of all objects of each kind with an unresolved reference. One statement per such kind. */
export async function readCandidateKeys(
  context: Context,
  keys: KeysByKind,
  existing: ReadonlySet<string>,
): Promise<Map<KindName, Key[]>> {
  const candidates = new Map<KindName, Key[]>()
  for (const [kind, keysOfKind] of keys) {
    if ([...keysOfKind.values()].every((key) => existing.has(formatAddress(kind, key)))) continue
    const objects = await writers[kind].list(context, {})
    candidates.set(
      kind,
      objects.map(({ key }) => key),
    )
  }
  return candidates
}

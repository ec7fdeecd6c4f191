// Finds drift: live values that differ from what a source last applied. The inventory has the applied values, so that no documents
// are read.
import type { FlatFields } from '../../kinds/compare.ts'
import { getField, isSameValue, isSecret, readKeys, subtractKeys, valueAt } from '../../kinds/compare.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Context } from '../../service/context/context.ts'
import { digestSecrets } from '../../service/context/secrets.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { InventoryRow, MarkedInventoryRow } from '../../service/context/store-types.ts'
import { type DriftPolicy, getDriftPolicy } from '../../service/journal/drift-policy.ts'
import { listLatestEntries } from '../../service/journal/journal.ts'
import { listMarkedInventory } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import { isPermitted, requirePermissions } from '../../service/permissions/require-permissions.ts'
import { listMarkedRealms } from '../../service/sources/source-records.ts'
import type { Attribution } from '../model/action.ts'
import { blame } from '../model/attribution.ts'

/** A field or a whole object that differs from what a source last applied. */
export interface Drift {
  readonly realm: string
  readonly source: string
  readonly kind: KindName
  readonly key: Key
  /** The field; absent where the object was deleted. */
  readonly path?: string
  /** The last applied value and the live value; absent for secrets and encrypted values. */
  readonly applied?: Json
  readonly live?: Json
  /** Whether the value is encrypted in the file of a source. */
  readonly encrypted?: true
  readonly by?: Attribution
  /** `correct`: the next apply corrects it. `report`: it stays. `selfHeal`: it is corrected at once. */
  readonly policy: Exclude<DriftPolicy, 'accept'>
  /** Position of the declaration of the field or object. */
  readonly file: string
  readonly line: number
}

/** Lists the drift of one realm, or of all realms that the caller may see. A few statements per realm with changed objects. */
export async function listDrift(service: Service, caller: Caller, realm?: string): Promise<Drift[]> {
  if (realm !== undefined) return service.read(caller, realm, listRealmDrift)
  const drift: Drift[] = []
  for (const name of await listMarkedRealms(service)) {
    drift.push(
      ...(await service.read(caller, name, async (context) =>
        isPermitted(context, 'accept-drift') ? listRealmDrift(context) : [],
      )),
    )
  }
  return drift
}

/** Lists the drift of the context's realm, of users only if the caller may view them. Throws forbidden. A few statements where objects have changed, otherwise one. */
export async function listRealmDrift(context: Context): Promise<Drift[]> {
  requirePermissions(context, 'accept-drift')
  const seesUsers = isPermitted(context, 'view-users')
  // Every change of an object marks its inventory rows, so that rows without a mark have no drift.
  const rows = (await listMarkedInventory(context)).filter(({ kind }) => seesUsers || !kinds[kind].isUserData)
  if (!rows.length) return []
  const changedBy = blame(await listLatestEntries(context, rows))
  const live = new Map<string, FlatFields>()
  for (const kind of creationOrder) {
    const ids = rows.filter((row) => row.kind === kind).map(({ object }) => object)
    for (const object of ids.length ? await writers[kind].list(context, { ids }) : []) {
      live.set(`${kind} ${object.id}`, digestSecrets(context.vault, kinds[kind], object.representation))
    }
  }
  const rowsByObject = Map.groupBy(rows, toObjectName)
  return rows.flatMap((row) =>
    compareRow(row, live.get(toObjectName(row)), changedBy).flatMap((compared): Drift[] => {
      const { path, by } = compared
      const declaring = rowsByObject
        .get(toObjectName(row))!
        .filter(({ fields }) => path === undefined || path in fields)
      const isEncrypted = path !== undefined && declaring.some(({ encrypted }) => encrypted?.includes(path))
      const difference = isEncrypted ? omitValues(compared) : compared
      const policy = getDriftPolicy(
        declaring.map(({ settings }) => settings),
        { kind: row.kind, path, by },
      )
      return policy === 'accept' ? [] : [{ realm: context.realm.name, ...difference, policy }]
    }),
  )
}

function omitValues({
  applied: _,
  live: __,
  ...rest
}: Omit<Drift, 'realm' | 'policy'>): Omit<Drift, 'realm' | 'policy'> {
  return { ...rest, encrypted: true }
}

const toObjectName = ({ kind, object }: InventoryRow): string => `${kind} ${object}`
/** Returns the differences between an inventory row and the live fields of its object; undefined: the object was deleted. */
function compareRow(
  row: MarkedInventoryRow,
  live: FlatFields | undefined,
  changedBy: ReturnType<typeof blame>,
): Omit<Drift, 'realm' | 'policy'>[] {
  const { source, kind, key, file, line } = row
  const base = { source, kind, key, file, line }
  if (!live) {
    const by = changedBy(kind, row.object)
    return [{ ...base, ...(by && { by }) }]
  }
  return Object.entries(row.fields).flatMap(([path, applied]): Omit<Drift, 'realm' | 'policy'>[] => {
    if (getField(kinds[kind], path).appliedOnChange) return []
    const liveValue = valueAt(kinds[kind], live, path)
    if (!isChanged(row, path, { applied, live: liveValue })) return []
    const by = changedBy(kind, row.object, path)
    const values = isSecret(kinds[kind], path) ? {} : { applied, live: liveValue }
    return [{ ...base, line: line + (row.lines?.[path] ?? 0), path, ...values, ...(by && { by }) }]
  })
}

/** Whether a value differs from the applied one. Additional elements of a relation count only with `prune: all`. */
function isChanged(row: MarkedInventoryRow, path: string, { applied, live }: { applied: Json; live: Json }): boolean {
  const { kind } = row
  const field = getField(kinds[kind], path)
  if (!field.relation) return !isSameValue(field, applied, live)
  const [appliedKeys, liveKeys] = [readKeys(applied), readKeys(live)]
  const isAuthoritative = row.settings.prune === 'all' && !kinds[kind].isUserData
  return (
    subtractKeys(appliedKeys, liveKeys).length > 0 ||
    (isAuthoritative && subtractKeys(liveKeys, appliedKeys).length > 0)
  )
}

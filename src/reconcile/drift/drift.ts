// Drift: where live values are not what a source last applied. It needs no documents: the inventory knows.
import type { FlatFields } from '../../kinds/compare.ts'
import { isSecret, keysOf, missing, resolve, same, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { creationOrder } from '../../kinds/order.ts'
import type { Context } from '../../service/context/context.ts'
import { digested } from '../../service/context/secrets.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { InventoryRow, MarkedRow } from '../../service/context/store-types.ts'
import { type DriftPolicy, driftPolicy } from '../../service/journal/drift-policy.ts'
import { entriesOf } from '../../service/journal/journal.ts'
import { markedInventoryOf } from '../../service/journal/source-inventory.ts'
import type { SourceSettings } from '../../service/journal/source-settings.ts'
import { writers } from '../../service/kinds/index.ts'
import { demand, may } from '../../service/permissions/administrators.ts'
import { markedRealms } from '../../service/sources/sources.ts'
import type { Attribution } from '../model/action.ts'
import { blame } from '../model/attribution.ts'

/** One field, or a whole object, that is not as a source last applied it. */
export interface Drift {
  readonly realm: string
  readonly source: string
  readonly kind: KindName
  readonly key: Key
  /** Absent: the object is gone. */
  readonly path?: string
  /** What was applied, and what is live; of secrets nothing but that they differ. */
  readonly applied?: Json
  readonly live?: Json
  readonly by?: Attribution
  /** What becomes of it: the next apply puts it back, it stays, or it is put back at once. */
  readonly policy: Exclude<DriftPolicy, 'accept'>
  /** Where the field is stated, or the object. */
  readonly file: string
  readonly line: number
}

/** The drift of one realm, or of all that the caller may see. A few statements per realm in which something changed. */
export async function findDrift(service: Service, caller: Caller, realm?: string): Promise<Drift[]> {
  if (realm !== undefined) return service.read(caller, realm, driftOf)
  const found: Drift[] = []
  for (const name of await markedRealms(service)) {
    found.push(
      ...(await service.read(caller, name, async (context) =>
        may(context, 'administer-realm') ? driftOf(context) : [],
      )),
    )
  }
  return found
}

/** The drift of the realm of the context. Throws forbidden. A few statements where something changed, else one. */
export async function driftOf(context: Context): Promise<Drift[]> {
  demand(context, 'administer-realm')
  // Whoever changes an object marks its rows: without a mark there is no drift.
  const rows = await markedInventoryOf(context)
  if (!rows.length) return []
  const changedBy = blame(await entriesOf(context, rows))
  const live = new Map<string, FlatFields>()
  for (const kind of creationOrder) {
    const ids = rows.filter((row) => row.kind === kind).map(({ object }) => object)
    for (const one of ids.length ? await writers[kind].list(context, { ids }) : []) {
      live.set(`${kind} ${one.id}`, digested(context.vault, kinds[kind], one.representation))
    }
  }
  const sharing = Map.groupBy(rows, rowName)
  return rows.flatMap((row) => {
    const found = compare(context.realm.name, row, live.get(rowName(row)), changedBy)
    return found.flatMap((one): Drift[] => {
      const stating = sharing.get(rowName(row))!.filter(({ fields }) => one.path === undefined || one.path in fields)
      const settings = stating.map((other) => other.settings as SourceSettings)
      const policy = driftPolicy(settings, row.kind, one.path, one.by)
      return policy === 'accept' ? [] : [{ ...one, policy }]
    })
  })
}

const rowName = ({ kind, object }: InventoryRow): string => `${kind} ${object}`

function compare(
  realm: string,
  row: MarkedRow,
  live: FlatFields | undefined,
  changedBy: ReturnType<typeof blame>,
): Omit<Drift, 'policy'>[] {
  const { source, kind, key, file, line } = row
  const base = { realm, source, kind, key, file, line }
  if (!live) {
    const by = changedBy(kind, row.object)
    return [{ ...base, ...(by && { by }) }]
  }
  return Object.entries(row.fields).flatMap(([path, applied]): Omit<Drift, 'policy'>[] => {
    if (resolve(kinds[kind], path).field.once) return []
    const now = valueAt(kinds[kind], live, path)
    if (!differs(row, path, applied, now)) return []
    const by = changedBy(kind, row.object, path)
    const at = line + (row.lines?.[path] ?? 0)
    const values = isSecret(kinds[kind], path) ? {} : { applied, live: now }
    return [{ ...base, line: at, path, ...values, ...(by && { by }) }]
  })
}

/** Of a relation only elements that were applied count: others are nobody's business, unless the source prunes all. */
function differs({ kind, settings }: MarkedRow, path: string, applied: Json, live: Json): boolean {
  if (!resolve(kinds[kind], path).field.relation) return !same(kinds[kind], path, applied, live)
  const [stated, there] = [keysOf(applied), keysOf(live)]
  const isWhole = (settings as SourceSettings).prune === 'all' && !kinds[kind].people
  return missing(stated, there).length > 0 || (isWhole && missing(there, stated).length > 0)
}

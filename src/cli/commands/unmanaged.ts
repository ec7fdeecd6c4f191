import { describeObject } from '../../kinds/tree.ts'
import type { UnmanagedObjects } from '../../reconcile/accept/unmanaged.ts'
import { renderAttribution } from '../../reconcile/model/attribution.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printTable } from '../print.ts'

interface UnmanagedFlags extends StoreFlags {
  readonly output: Format
  readonly users?: true
}

/** `regent drift --unmanaged`: lists live objects that no source declares. */
export async function unmanaged(realm: string | undefined, flags: UnmanagedFlags): Promise<void> {
  const query = new URLSearchParams({ ...(realm !== undefined && { realm }), ...(flags.users && { users: 'true' }) })
  const unmanagedByRealm = await request<UnmanagedObjects[]>(flags, 'GET', `/regent/v1/unmanaged?${query}`)
  printTable(flags.output, unmanagedByRealm, {
    head: ['Realm', 'Object', 'Created by'],
    rows: unmanagedByRealm.flatMap((unmanaged) => toRows(unmanaged, flags.users === true)),
    none: 'No unmanaged objects.',
    foot: 'Print the YAML that declares it with "regent accept <realm>".',
  })
}

function toRows({ realm, objects, users }: UnmanagedObjects, withUsers: boolean): string[][] {
  const rows = objects.map(({ kind, key, by }) => [
    realm,
    describeObject(kind, key),
    by ? renderAttribution(by) : 'unknown',
  ])
  if (!users || withUsers) return rows
  return [...rows, [realm, users === 1 ? '1 user' : `${users} users`, '(--users lists them)']]
}

import { describe } from '../../kinds/tree.ts'
import type { Unmanaged } from '../../reconcile/accept/unmanaged.ts'
import { by } from '../../reconcile/model/attribution.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printTable } from '../print.ts'

interface UnmanagedFlags extends StoreFlags {
  readonly output: Format
  readonly users?: true
}

/** `regent drift --unmanaged`: what is live and nobody states. */
export async function unmanaged(realm: string | undefined, flags: UnmanagedFlags): Promise<void> {
  const query = new URLSearchParams({ ...(realm !== undefined && { realm }), ...(flags.users && { users: 'true' }) })
  const found = (await request(flags, 'GET', `/regent/v1/unmanaged?${query}`)) as Unmanaged[]
  printTable(flags.output, found, {
    head: ['Realm', 'Object', 'Made by'],
    rows: found.flatMap((one) => rowsOf(one, flags.users === true)),
    none: 'Nothing: what is live is stated, or came with its realm.',
    foot: 'Print the YAML that declares it with "regent accept <realm>".',
  })
}

function rowsOf({ realm, objects, users }: Unmanaged, named: boolean): string[][] {
  const rows = objects.map((one) => [realm, describe(one.kind, one.key), one.by ? by(one.by) : 'unknown'])
  if (!users || named) return rows
  return [...rows, [realm, users === 1 ? '1 user' : `${users} users`, '(--users names them)']]
}

import { describe } from '../kinds/tree.ts'
import type { Unmanaged } from '../reconcile/unmanaged.ts'
import { by } from '../reconcile/words.ts'
import { request, type StoreFlags } from './connect.ts'
import { type Format, printTable } from './print.ts'

interface UnmanagedFlags extends StoreFlags {
  readonly output: Format
  readonly people?: true
}

/** `regent drift --unmanaged`: what is live and nobody states. */
export async function unmanaged(realm: string | undefined, flags: UnmanagedFlags): Promise<void> {
  const query = new URLSearchParams({ ...(realm !== undefined && { realm }), ...(flags.people && { people: 'true' }) })
  const found = (await request(flags, 'GET', `/regent/v1/unmanaged?${query}`)) as Unmanaged[]
  printTable(flags.output, found, {
    head: ['Realm', 'Object', 'Made by'],
    rows: found.flatMap((one) => rowsOf(one, flags.people === true)),
    none: 'Nothing: what is live is stated, or came with its realm.',
    foot: 'State it with "regent adopt <realm>", which prints the document to commit.',
  })
}

function rowsOf({ realm, objects, people }: Unmanaged, named: boolean): string[][] {
  const rows = objects.map((one) => [realm, describe(one.kind, one.key), one.by ? by(one.by) : 'unknown'])
  if (!people || named) return rows
  return [...rows, [realm, people === 1 ? 'one person' : `${people} people`, '(--people names them)']]
}

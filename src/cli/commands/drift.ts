import { describe } from '../../kinds/tree.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import { by } from '../../reconcile/model/attribution.ts'
import { text } from '../../reconcile/report/words.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printTable } from '../print.ts'

/** `regent drift`. */
export async function drift(realm: string | undefined, flags: StoreFlags & { output: Format }): Promise<void> {
  const query = realm === undefined ? '' : `?realm=${encodeURIComponent(realm)}`
  const found = (await request(flags, 'GET', `/regent/v1/drift${query}`)) as Drift[]
  printTable(flags.output, found, {
    head: ['Realm', 'Object', 'Field', 'Change', 'By', 'Stated at'],
    rows: found.map(rowOf),
    none: 'No drift: everything is as it was applied.',
    foot: 'Put it back with "regent apply <source>", or state it in the file.',
  })
}

function rowOf(one: Drift): string[] {
  return [
    one.realm,
    describe(one.kind, one.key),
    one.path ?? '',
    one.path === undefined
      ? 'deleted'
      : 'applied' in one
        ? `${text(one.applied ?? null)} → ${text(one.live ?? null)}`
        : '(secret changed)',
    one.by ? by(one.by) : 'unknown',
    `${one.file}:${one.line}`,
  ]
}

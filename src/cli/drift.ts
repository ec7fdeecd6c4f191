import Table from 'cli-table3'
import { describe } from '../kinds/tree.ts'
import type { Drift } from '../reconcile/drift.ts'
import { by, text } from '../reconcile/render.ts'
import { request, type StoreFlags } from './connect.ts'

/** `regent drift`. */
export async function drift(realm: string | undefined, flags: StoreFlags & { output: string }): Promise<void> {
  const query = realm === undefined ? '' : `?realm=${encodeURIComponent(realm)}`
  const found = (await request(flags, 'GET', `/regent/v1/drift${query}`)) as Drift[]
  if (flags.output === 'json') console.log(JSON.stringify(found, null, 2))
  else console.log(found.length ? render(found) : 'No drift: everything is as it was applied.')
}

function render(found: readonly Drift[]): string {
  const table = new Table({
    head: ['Realm', 'Object', 'Field', 'Change', 'By', 'Stated at'],
    style: { head: [], border: [] },
    wordWrap: true,
  })
  for (const one of found) {
    table.push([
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
    ])
  }
  return `${table.toString()}\nPut it back with "regent apply <source>", or state it in the file.`
}

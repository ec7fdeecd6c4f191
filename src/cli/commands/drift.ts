import { describeObject } from '../../kinds/tree.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import { renderAttribution } from '../../reconcile/model/attribution.ts'
import { renderValue } from '../../reconcile/report/value-text.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printTable } from '../print.ts'

/** `regent drift`: lists the live changes of managed objects. */
export async function drift(realm: string | undefined, flags: StoreFlags & { output: Format }): Promise<void> {
  const query = realm === undefined ? '' : `?realm=${encodeURIComponent(realm)}`
  const drifts = await request<Drift[]>(flags, 'GET', `/regent/v1/drift${query}`)
  printTable(flags.output, drifts, {
    head: ['Realm', 'Object', 'Field', 'Change', 'By', 'Declared at'],
    rows: drifts.map(toRow),
    none: 'No drift.',
    foot: 'To correct it, run "regent apply" with your files. To keep it, run "regent accept <realm>", which prints what to declare.',
  })
}

function toRow(drift: Drift): string[] {
  return [
    drift.realm,
    describeObject(drift.kind, drift.key),
    drift.path ?? '',
    drift.path === undefined
      ? 'deleted'
      : 'applied' in drift
        ? `${renderValue(drift.applied ?? null)} → ${renderValue(drift.live ?? null)}`
        : '(secret changed)',
    drift.by ? renderAttribution(drift.by) : 'unknown',
    `${drift.file}:${drift.line}`,
  ]
}

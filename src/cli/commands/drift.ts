import { describeObject } from '../../kinds/tree.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import { FORMAT_VERSION } from '../../reconcile/model/action.ts'
import { renderAttribution } from '../../reconcile/model/attribution.ts'
import { listValueLines, renderLiveChange } from '../../reconcile/report/value-text.ts'
import { request, type StoreFlags } from '../connect.ts'
import { setExitCode } from '../exit-codes.ts'
import { paint } from '../paint.ts'
import { type Format, printTable } from '../print.ts'

type DriftFlags = StoreFlags & { readonly output: Format; readonly detailedExitcode?: true }

/** `regent drift`: lists the live changes of managed objects. With `--detailed-exitcode` it exits with 2 if there are any. */
export async function drift(realm: string | undefined, flags: DriftFlags): Promise<void> {
  const query = realm === undefined ? '' : `?realm=${encodeURIComponent(realm)}`
  const drifts = await request<Drift[]>(flags, 'GET', `/regent/v1/drift${query}`)
  printTable(
    flags.output,
    { formatVersion: FORMAT_VERSION, drift: drifts },
    {
      head: ['Realm', 'Object', 'Field', 'Change', 'By', 'Declared at'],
      rows: drifts.map(toRow),
      none: 'No drift.',
      foot: [
        ...(drifts.some(({ by }) => by?.rolledBackTo !== undefined)
          ? [
              'A rollback suspends the sources of its realm. To correct its changes, run "regent source resume <source>" first.',
            ]
          : []),
        'To correct it, run "regent apply" with your files. To keep it, run "regent accept <realm>", which prints what to declare.',
      ].join('\n'),
    },
  )
  if (drifts.length && flags.detailedExitcode) setExitCode('changes')
}

function toRow(drift: Drift): string[] {
  return [
    drift.realm,
    describeObject(drift.kind, drift.key),
    drift.path ?? '',
    drift.path === undefined
      ? 'deleted'
      : 'applied' in drift
        ? renderChangeLines(drift, drift.path)
        : drift.encrypted
          ? '(encrypted value changed)'
          : '(secret changed)',
    drift.by ? renderAttribution(drift.by) : 'unknown',
    `${drift.file}:${drift.line}`,
  ]
}

function renderChangeLines({ kind, applied, live }: Drift, path: string): string {
  return listValueLines(renderLiveChange({ kind, path, from: applied, to: live }), paint).join('\n')
}

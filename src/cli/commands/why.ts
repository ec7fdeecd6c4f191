import { describeObject } from '../../kinds/tree.ts'
import type { FieldExplanation, ObjectExplanation } from '../../reconcile/history/explain-object.ts'
import { renderAttribution, shortenRevision } from '../../reconcile/model/attribution.ts'
import { renderValue } from '../../reconcile/report/whole-value.ts'
import { request, type StoreFlags } from '../connect.ts'
import { paint } from '../paint.ts'

/** `regent why`: prints which documents declare a value, and who set it. */
export async function whyCommand(realm: string, path: string, flags: StoreFlags & { output: string }): Promise<void> {
  const query = new URLSearchParams({ path })
  const reasons = await request<ObjectExplanation>(flags, 'GET', `/regent/v1/why/${encodeURIComponent(realm)}?${query}`)
  console.log(flags.output === 'json' ? JSON.stringify(reasons, null, 2) : render(reasons))
}

function render({ kind, key, by: creator, fields, isJournalComplete }: ObjectExplanation): string {
  const createdBy = creator ? `, created by ${renderAttribution(creator)}` : ''
  const lines = fields.length
    ? fields.flatMap((field) => renderReason(field, isJournalComplete))
    : ['  no document declares it']
  return [`${paint('bold', describeObject(kind, key))}${createdBy}`, ...lines].join('\n')
}

function renderReason(
  { path, value, encrypted, declarations, by: author, ...rest }: FieldExplanation,
  isJournalComplete: boolean,
): string[] {
  const renderedValue =
    'value' in { value, ...rest } && value !== undefined ? renderValue(value) : encrypted ? '(encrypted)' : '(secret)'
  const positions = declarations.map(
    ({ source, revision, file, line }) =>
      `      declared at ${file}:${line} (source ${source}, revision ${shortenRevision(revision)})`,
  )
  return [
    `  ${path}: ${renderedValue}`,
    ...(positions.length ? positions : ['      no document declares it']),
    author
      ? `      set by ${renderAttribution(author)}`
      : isJournalComplete
        ? '      the default, set when the object was created'
        : '      the default, or set before the oldest entry of the journal',
  ]
}

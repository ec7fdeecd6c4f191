import { dump } from 'js-yaml'
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { describeObject } from '../../kinds/tree.ts'
import type { AcceptedDrift, SourceEdit } from '../../reconcile/accept/accept.ts'
import { renderAttribution } from '../../reconcile/model/attribution.ts'
import { request, type StoreFlags } from '../connect.ts'
import { renderDocument } from '../realm-files.ts'

interface AcceptFlags extends StoreFlags {
  readonly output: string
  readonly users?: true
}

/** `regent accept`: prints the document to commit, after comments on the lines to edit. */
export async function accept(realm: string, paths: readonly string[], flags: AcceptFlags): Promise<void> {
  const query = new URLSearchParams([
    ...paths.map((path): [string, string] => ['path', path]),
    ...(flags.users ? [['users', 'true'] as [string, string]] : []),
  ])
  const accepted = await request<AcceptedDrift>(flags, 'GET', `/regent/v1/accept/${encodeURIComponent(realm)}?${query}`)
  if (flags.output === 'json') console.log(JSON.stringify(accepted, null, 2))
  else console.log(render(accepted, paths))
}

function render({ document, edits }: AcceptedDrift, paths: readonly string[]): string {
  if (!document && !edits.length)
    return `# Nothing to accept: everything live${paths.length ? ` at ${paths.join(', ')}` : ''} is declared.`
  return [...edits.flatMap(renderComment), ...(document ? [renderDocument(document, 'yaml').trimEnd()] : [])].join('\n')
}

function renderComment({ file, line, kind, key, path, live, by, ...edit }: SourceEdit): string[] {
  const place = `# ${file}:${line}: ${describeObject(kind, key)}`
  const author = by ? `, by ${renderAttribution(by)}` : ''
  if (path === undefined) return [`${place} was deleted${author}: remove it`]
  if (!('declared' in edit)) return [`${place}: ${path} was changed${author}: declare the new secret, or a variable`]
  const { name, key: member } = resolveField(kinds[kind], path)
  const value = member === undefined ? live : { [member]: live }
  const text = dump({ [name]: value ?? null }, { lineWidth: -1, noRefs: true })
  return [
    `${place} was changed${author}: declare`,
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `#   ${line}`),
  ]
}

import { dump } from 'js-yaml'
import { resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { describe } from '../../kinds/tree.ts'
import type { AcceptedDrift, Edit } from '../../reconcile/accept/accept.ts'
import { by } from '../../reconcile/model/attribution.ts'
import { request, type StoreFlags } from '../connect.ts'
import { renderDocument } from '../realm-files.ts'

interface AcceptFlags extends StoreFlags {
  readonly output: string
  readonly users?: true
}

/** `regent accept`: the document to commit, and above it, as comments, the places that state something else. */
export async function accept(realm: string, paths: readonly string[], flags: AcceptFlags): Promise<void> {
  const query = new URLSearchParams([
    ...paths.map((path): [string, string] => ['path', path]),
    ...(flags.users ? [['users', 'true'] as [string, string]] : []),
  ])
  const found = (await request(
    flags,
    'GET',
    `/regent/v1/accept/${encodeURIComponent(realm)}?${query}`,
  )) as AcceptedDrift
  if (flags.output === 'json') console.log(JSON.stringify(found, null, 2))
  else console.log(render(found))
}

function render({ document, edits }: AcceptedDrift): string {
  if (!document && !edits.length) return '# Nothing to accept: everything live is declared.'
  return [...edits.flatMap(commentOf), ...(document ? [renderDocument(document, 'yaml').trimEnd()] : [])].join('\n')
}

function commentOf({ file, line, kind, key, path, live, by: who, ...edit }: Edit): string[] {
  const place = `# ${file}:${line}: ${describe(kind, key)}`
  const did = who ? `, by ${by(who)}` : ''
  if (path === undefined) return [`${place} was deleted${did}: remove it`]
  if (!('stated' in edit)) return [`${place}: ${path} was changed${did}: declare the new secret, or a variable`]
  const { name, key: member } = resolve(kinds[kind], path)
  const value = member === undefined ? live : { [member]: live }
  const text = dump({ [name]: value ?? null }, { lineWidth: -1, noRefs: true })
  return [
    `${place} was changed${did}: declare`,
    ...text
      .trimEnd()
      .split('\n')
      .map((one) => `#   ${one}`),
  ]
}

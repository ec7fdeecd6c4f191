import { dump } from 'js-yaml'
import { resolve } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import { describe } from '../kinds/tree.ts'
import type { Adoption, Edit } from '../reconcile/adopt.ts'
import { by } from '../reconcile/words.ts'
import { request, type StoreFlags } from './connect.ts'
import { renderDocument } from './realm-files.ts'

interface AdoptFlags extends StoreFlags {
  readonly output: string
  readonly people?: true
}

/** `regent adopt`: the document to commit, and above it, as comments, the places that state something else. */
export async function adopt(realm: string, paths: readonly string[], flags: AdoptFlags): Promise<void> {
  const query = new URLSearchParams([
    ...paths.map((path): [string, string] => ['path', path]),
    ...(flags.people ? [['people', 'true'] as [string, string]] : []),
  ])
  const found = (await request(flags, 'GET', `/regent/v1/adopt/${encodeURIComponent(realm)}?${query}`)) as Adoption
  if (flags.output === 'json') console.log(JSON.stringify(found, null, 2))
  else console.log(render(found))
}

function render({ document, edits }: Adoption): string {
  if (!document && !edits.length) return '# Nothing to adopt: what is live is stated.'
  return [...edits.flatMap(commentOf), ...(document ? [renderDocument(document, 'yaml').trimEnd()] : [])].join('\n')
}

function commentOf({ file, line, kind, key, path, live, by: who, ...edit }: Edit): string[] {
  const place = `# ${file}:${line}: ${describe(kind, key)}`
  const did = who ? `, by ${by(who)}` : ''
  if (path === undefined) return [`${place} was deleted${did}: take it out`]
  if (!('stated' in edit)) return [`${place}: ${path} was changed${did}: state the new secret, or a variable`]
  const { name, key: member } = resolve(kinds[kind], path)
  const value = member === undefined ? live : { [member]: live }
  const text = dump({ [name]: value ?? null }, { lineWidth: -1, noRefs: true })
  return [
    `${place} was changed${did}: state`,
    ...text
      .trimEnd()
      .split('\n')
      .map((one) => `#   ${one}`),
  ]
}

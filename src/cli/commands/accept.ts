import { writeFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { dump } from 'js-yaml'
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { describeObject } from '../../kinds/tree.ts'
import { formatPosition } from '../../lib/source-position.ts'
import type { AcceptedDrift, SourceEdit } from '../../reconcile/accept/accept.ts'
import { renderAttribution } from '../../reconcile/model/attribution.ts'
import { request, type StoreFlags } from '../connect.ts'
import { setExitCode } from '../exit-codes.ts'
import { renderDocument } from '../realm-files.ts'
import { type ReadSource, readChangedTexts, readSource, type SourceFlags, toStoreFlags } from './source.ts'

interface AcceptFlags extends StoreFlags, SourceFlags {
  readonly output: string
  readonly users?: true
  /** The file or folder to edit. */
  readonly write?: string
}

/** `regent accept`: prints the document to commit, after comments on the lines to edit. With `--write`, edits the files instead. */
export async function accept(realm: string, paths: readonly string[], flags: AcceptFlags): Promise<void> {
  const query = new URLSearchParams([
    ...paths.map((path): [string, string] => ['path', path]),
    ...(flags.users ? [['users', 'true'] as [string, string]] : []),
  ])
  const source = flags.write === undefined ? undefined : await readEditableSource(flags.write, flags)
  const accepted = await request<AcceptedDrift>(
    { ...flags, ...(source && toStoreFlags(source, 'plan')) },
    'GET',
    `/regent/v1/accept/${encodeURIComponent(realm)}?${query}`,
  )
  if (source) await writeAccepted(realm, accepted, { source, flags })
  else if (flags.output === 'json') console.log(JSON.stringify(accepted, null, 2))
  else console.log(render(accepted, paths))
}

/** A source in local files. */
type EditableSource = ReadSource & { readonly root: string }

/** Reads the source whose files are edited. @throws Error if an edit could be in the wrong file */
async function readEditableSource(path: string, flags: AcceptFlags): Promise<EditableSource> {
  const source = await readSource([path], flags)
  const { root, environment } = source
  if (root === undefined)
    throw new Error('Files of a remote repository cannot be edited: clone it, and pass its folder.')
  const [overlay] = environment?.overlays ?? []
  if (overlay !== undefined)
    throw new Error(
      `--write does not edit files of an environment with overlays, such as ${relative(root, overlay)}: a change of the base would be in all environments. Nothing was edited. Run "regent accept" without --write, and declare the values in the base or in an overlay.`,
    )
  return { ...source, root }
}

/** Edits the files of the source so that they declare what was accepted, and lists what remains to do. */
async function writeAccepted(
  realm: string,
  accepted: AcceptedDrift,
  { source, flags }: { readonly source: EditableSource; readonly flags: AcceptFlags },
): Promise<void> {
  const { root } = source
  const { editFiles } = await import('../../reconcile/accept/edit-files.ts')
  const { texts, count, remaining } = await editFiles(accepted, {
    ...{ name: source.name, realm, texts: new Map(source.files.map(({ file, text }) => [file, text])) },
    read: async (changed) => (await readChangedTexts(source, changed, flags)).documents,
  })
  for (const [file, text] of texts) await writeFile(resolve(root, file), text)
  if (remaining.length) setExitCode('changes')
  if (flags.output === 'json')
    console.log(JSON.stringify({ files: [...texts.keys()], edits: count, remaining }, null, 2))
  else {
    const summary = `${count} ${count === 1 ? 'edit' : 'edits'} in ${texts.size} ${texts.size === 1 ? 'file' : 'files'}`
    console.log(
      [...texts.keys()]
        .map((file) => `edited ${file}`)
        .concat(remaining.length || count ? [`${summary}, ${remaining.length} left to do.`] : ['Nothing to accept.'])
        .join('\n'),
    )
    for (const { position, message } of remaining)
      console.log(position ? `${formatPosition(position)}: ${message}` : message)
  }
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
  if (edit.encrypted) return [`${place}: ${path} was changed${author}: set the live value with "sops edit"`]
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

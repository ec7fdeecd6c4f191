// Realms as files: one document, or a folder with a file for each object.
import { mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { dump } from 'js-yaml'
import type { Representation } from '../kinds/json.ts'
import { folderOf } from '../realm-file/export/folder.ts'
import { documentSchema } from '../realm-file/resources/schema.ts'

/** Hidden: no document of the folder. */
const SCHEMA = '.realm.schema.json'

/** The document as a text, `json` or `yaml`. */
export function renderDocument(document: Representation, form: string): string {
  return form === 'json' ? `${JSON.stringify(document, null, 2)}\n` : dump(document, { lineWidth: 120, noRefs: true })
}

/** What may hold secrets is for its owner only, also where it lay there before. */
export async function writeRealmFile(file: string, text: string, { secrets = false } = {}): Promise<void> {
  const opened = await open(file, 'w', secrets ? 0o600 : undefined)
  try {
    if (secrets) await opened.chmod(0o600)
    await opened.writeFile(text)
  } finally {
    await opened.close()
  }
}

/** Writes the files that together say what the document says. Removes nothing: what lies there besides may be somebody's own. */
export async function writeFolder(
  folder: string,
  document: Representation,
  { output: form, secrets }: { readonly output: string; readonly secrets?: boolean | undefined },
): Promise<void> {
  const schema = resolve(folder, SCHEMA)
  const files = folderOf(document).map((one) => ({ ...one, file: resolve(folder, `${one.path}.${form}`) }))
  await mkdir(folder, { recursive: true })
  await writeFile(schema, `${JSON.stringify(documentSchema())}\n`)
  for (const { file, document: own } of files) {
    await mkdir(dirname(file), { recursive: true })
    const header = form === 'json' ? '' : `# yaml-language-server: $schema=${relative(dirname(file), schema)}\n`
    await writeRealmFile(file, header + renderDocument(own, form), { secrets })
  }
  console.log(`Wrote ${files.length} file${files.length === 1 ? '' : 's'} to ${folder}.`)
  const written = new Set(files.map(({ file }) => file))
  const others = (await readdir(folder, { recursive: true }))
    .filter((name) => /\.(ya?ml|json)$/.test(name) && !name.split(/[\\/]/).some((part) => part.startsWith('.')))
    .filter((name) => !written.has(resolve(folder, name)))
  if (others.length) {
    console.error(`Also there, and not written now; remove what is not wanted any more:`)
    for (const name of others.sort()) console.error(`  ${join(folder, name)}`)
  }
}

// Writes realms as files: one document, or a folder with a file for each object.
import { mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { dump } from 'js-yaml'
import type { Representation } from '../kinds/json.ts'
import { reportProgress } from '../lib/timing/progress.ts'
import { splitIntoFiles } from '../realm-file/export/split-into-files.ts'
import { createDocumentSchema } from '../realm-file/resources/document-schema.ts'
import { clearProgress } from './terminal/progress.ts'

/** The schema file. Files with a leading dot are not read as documents. */
const SCHEMA = '.realm.schema.json'

/** Renders a document as `json` or `yaml`. */
export function renderDocument(document: Representation, form: string): string {
  return form === 'json' ? `${JSON.stringify(document, null, 2)}\n` : dump(document, { lineWidth: 120, noRefs: true })
}

/** Writes a file. With `secrets` only its owner may read it, also if it existed before. */
export async function writeRealmFile(file: string, text: string, { secrets = false } = {}): Promise<void> {
  const opened = await open(file, 'w', secrets ? 0o600 : undefined)
  try {
    if (secrets) await opened.chmod(0o600)
    await opened.writeFile(text)
  } finally {
    await opened.close()
  }
}

/** Writes a document as files, one per object. Deletes nothing; other YAML and JSON files are listed. */
export async function writeFolder(
  folder: string,
  document: Representation,
  { output: form, secrets }: { readonly output: string; readonly secrets?: boolean | undefined },
): Promise<void> {
  const schema = resolve(folder, SCHEMA)
  const files = splitIntoFiles(document).map(({ path, document }) => ({
    document,
    file: resolve(folder, `${path}.${form}`),
  }))
  await mkdir(folder, { recursive: true })
  await writeFile(schema, `${JSON.stringify(createDocumentSchema())}\n`)
  for (const [done, { file, document }] of files.entries()) {
    await reportProgress({ phase: 'write', done, total: files.length })
    await mkdir(dirname(file), { recursive: true })
    const header = form === 'json' ? '' : `# yaml-language-server: $schema=${relative(dirname(file), schema)}\n`
    await writeRealmFile(file, header + renderDocument(document, form), { secrets })
  }
  await reportProgress({ phase: 'write', done: files.length, total: files.length })
  clearProgress()
  console.log(`Wrote ${files.length} file${files.length === 1 ? '' : 's'} to ${folder}.`)
  const written = new Set(files.map(({ file }) => file))
  const otherFiles = (await readdir(folder, { recursive: true }))
    .filter((name) => /\.(ya?ml|json)$/.test(name) && !name.split(/[\\/]/).some((part) => part.startsWith('.')))
    .filter((name) => !written.has(resolve(folder, name)))
  if (otherFiles.length) {
    console.error(`The folder has other files too. Remove those that you no longer need:`)
    for (const name of otherFiles.sort()) console.error(`  ${join(folder, name)}`)
  }
}

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { dump } from 'js-yaml'
import type { Representation } from '../kinds/kind.ts'
import { folderOf } from '../realm-file/folder.ts'
import { documentSchema } from '../realm-file/schema.ts'
import { request, type StoreFlags } from './connect.ts'

interface ExportFlags extends StoreFlags {
  readonly secrets?: boolean
  readonly ids?: boolean
  readonly full?: boolean
  readonly dir?: string
  readonly output: string
}

/** Hidden: no document of the folder. */
const SCHEMA = '.realm.schema.json'

/** `regent export`: the document alone goes to the standard output, or into a folder, a file for each object. */
export async function exportCommand(realm: string, flags: ExportFlags): Promise<void> {
  const document = await read(realm, flags)
  if (flags.dir === undefined) process.stdout.write(render(document, flags.output))
  else await writeFolder(flags.dir, document, flags.output)
}

async function read(realm: string, flags: ExportFlags): Promise<Representation> {
  const asked = (['secrets', 'ids', 'full'] as const).filter((name) => flags[name])
  const query = new URLSearchParams(asked.map((name): [string, string] => [name, 'true']))
  return (await request(flags, 'GET', `/regent/v1/export/${encodeURIComponent(realm)}?${query}`)) as Representation
}

function render(document: Representation, output: string): string {
  return output === 'json' ? `${JSON.stringify(document, null, 2)}\n` : dump(document, { lineWidth: 120, noRefs: true })
}

/** Removes nothing: what lies there besides may be somebody's own. */
async function writeFolder(folder: string, document: Representation, output: string): Promise<void> {
  const schema = resolve(folder, SCHEMA)
  const files = folderOf(document).map((one) => ({ ...one, file: resolve(folder, `${one.path}.${output}`) }))
  await mkdir(folder, { recursive: true })
  await writeFile(schema, `${JSON.stringify(documentSchema())}\n`)
  for (const { file, document: own } of files) {
    await mkdir(dirname(file), { recursive: true })
    const header = output === 'json' ? '' : `# yaml-language-server: $schema=${relative(dirname(file), schema)}\n`
    await writeFile(file, header + render(own, output))
  }
  console.log(`Wrote ${files.length} files to ${folder}.`)
  const written = new Set(files.map(({ file }) => file))
  const others = (await readdir(folder, { recursive: true }))
    .filter((name) => /\.(ya?ml|json)$/.test(name) && !name.split(/[\\/]/).some((part) => part.startsWith('.')))
    .filter((name) => !written.has(resolve(folder, name)))
  if (others.length) {
    console.error(`Also there, and not written now; remove what is not wanted any more:`)
    for (const name of others.sort()) console.error(`  ${join(folder, name)}`)
  }
}

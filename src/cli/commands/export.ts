import type { Representation } from '../../kinds/json.ts'
import { request, type StoreFlags } from '../connect.ts'
import { renderDocument, writeFolder } from '../realm-files.ts'
import { runWithProgress } from '../terminal/interruption.ts'

interface ExportFlags extends StoreFlags {
  readonly secrets?: boolean
  readonly ids?: boolean
  readonly full?: boolean
  readonly dir?: string
  readonly output: string
}

/** `regent export`: prints the document, or writes it into a folder with a file for each object. */
export async function exportCommand(realm: string, flags: ExportFlags): Promise<void> {
  const document = await read(realm, flags)
  if (flags.dir === undefined) process.stdout.write(renderDocument(document, flags.output))
  else await writeFiles(flags.dir, document, flags)
}

function writeFiles(folder: string, document: Representation, flags: ExportFlags): Promise<void> {
  return runWithProgress(
    () => writeFolder(folder, document, flags),
    () => `The files in ${folder} are incomplete.`,
  )
}

async function read(realm: string, flags: ExportFlags): Promise<Representation> {
  const enabledFlags = (['secrets', 'ids', 'full'] as const).filter((name) => flags[name])
  const query = new URLSearchParams(enabledFlags.map((name): [string, string] => [name, 'true']))
  return await request<Representation>(flags, 'GET', `/regent/v1/export/${encodeURIComponent(realm)}?${query}`)
}

// Names a source that nothing names: asks on a terminal, and writes the answer into a project file.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { PROJECT_FILE } from '../../reconcile/read/project-file.ts'
import {
  type GivenIdentity,
  locateSource,
  requireSourceName,
  type SourceLocation,
} from '../../reconcile/read/source-identity.ts'
import { prompt } from '../prompt.ts'

/**
 * Finds the source at a path. If it has no name, asks for one on a terminal. Throws SourceError if it has none, or if its environment
 * is open.
 */
export async function locateNamedSource(
  path: string,
  identity: GivenIdentity,
): Promise<SourceLocation & { readonly name: string }> {
  let location = await locateSource(path, identity)
  if (location.name === undefined && !location.project && process.stdin.isTTY && process.stderr.isTTY) {
    await writeProjectFile(location.folder, await askName(location.folder))
    location = await locateSource(path, identity)
  }
  return { ...location, name: requireSourceName(path, location, identity) }
}

/** Returns a new name for the source in a folder. It has a random part, since other folders may have the same name. */
export function suggestName(folder: string): string {
  return `${basename(folder)}-${randomBytes(3).toString('hex')}`
}

/** Writes a project file with the name of a source, and reports it. */
export async function writeProjectFile(folder: string, name: string): Promise<void> {
  const file = join(folder, PROJECT_FILE)
  await writeFile(file, `name: ${JSON.stringify(name)}\n`, { flag: 'wx' })
  console.error(`Wrote ${relative('', file)}, which names the source ${name}. Keep it with the files.`)
}

async function askName(folder: string): Promise<string> {
  const suggestion = suggestName(folder)
  const name = await prompt(`Name of the source in ${folder} [${suggestion}]: `, 'Pass the name with --name.')
  return name.trim() || suggestion
}

// Lists of passwords that nobody may choose: text files in one folder, a password a line, in any case.
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Blacklists } from './context.ts'

/** The lists of a folder; without one there are none. Each is kept in memory as it is, and read again when it has changed. */
export function openBlacklists(folder: string | undefined): Blacklists {
  const read = new Map<string, { readonly changed: number; readonly lines: Promise<Buffer> }>()
  const pathOf = (name: string) => join(folder!, name)

  async function linesOf(name: string): Promise<Buffer> {
    const { mtimeMs: changed } = await stat(pathOf(name))
    const known = read.get(name)
    if (known?.changed === changed) return known.lines
    const lines = readFile(pathOf(name), 'utf8').then((text) =>
      Buffer.from(`\n${text.toLowerCase().replaceAll('\r', '')}\n`),
    )
    read.set(name, { changed, lines })
    return lines
  }

  return {
    has: (name) => folder !== undefined && /^[^/\\]+$/.test(name) && !/^\.+$/.test(name) && existsSync(pathOf(name)),
    holds: async (name, password) => (await linesOf(name)).includes(`\n${password.toLowerCase()}\n`),
  }
}

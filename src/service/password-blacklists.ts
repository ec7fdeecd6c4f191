// Lists of passwords that nobody may choose: text files in one folder, a password a line, in any case.
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The lists that there are. */
export interface Blacklists {
  /** Whether there is a list of that name. */
  has(name: string): boolean
  /** Whether the password is on the list. Throws what reading says where the list is gone meanwhile. */
  holds(name: string, password: string): Promise<boolean>
}

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

// Password blacklists: text files in one folder, one password per line, compared without case.
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The password blacklists that exist. */
export interface PasswordBlacklists {
  /** Whether a list of that name exists. */
  has(name: string): boolean
  /** Whether the list contains the password. Throws the error of the file system where the list was deleted meanwhile. */
  contains(name: string, password: string): Promise<boolean>
}

/** Returns the password blacklists of a folder; none without a folder. A list stays in memory until its file changes. */
export function openPasswordBlacklists(folder: string | undefined): PasswordBlacklists {
  const cache = new Map<string, { readonly modifiedAt: number; readonly lines: Promise<Buffer> }>()
  const pathOf = (name: string) => join(folder!, name)

  async function readLines(name: string): Promise<Buffer> {
    const { mtimeMs: modifiedAt } = await stat(pathOf(name))
    const cached = cache.get(name)
    if (cached?.modifiedAt === modifiedAt) return cached.lines
    const lines = readFile(pathOf(name), 'utf8').then((text) =>
      Buffer.from(`\n${text.toLowerCase().replaceAll('\r', '')}\n`),
    )
    cache.set(name, { modifiedAt, lines })
    return lines
  }

  return {
    has: (name) => folder !== undefined && /^[^/\\]+$/.test(name) && !/^\.+$/.test(name) && existsSync(pathOf(name)),
    contains: async (name, password) => (await readLines(name)).includes(`\n${password.toLowerCase()}\n`),
  }
}

// Restricts the environment variables and files that documents may take values from.
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { FileSourceOptions } from './file-source.ts'

/** Allows all variables and files that the process can read, except Regent's own settings. */
export const ALL_VARIABLES: readonly string[] = ['env:*', 'file:/']

/**
 * Returns a filter that allows the listed variables (`env:NAME`, `env:PREFIX_*`) and folders (`file:FOLDER`, with symbolic links
 * resolved). Never allows `REGENT_*`: these hold passwords of Regent itself.
 */
export function createVariableFilter(list: readonly string[]): FileSourceOptions['isAllowed'] {
  const entriesOf = (kind: string) =>
    list.flatMap((entry) => (entry.startsWith(`${kind}:`) ? [entry.slice(kind.length + 1)] : []))
  const patterns = entriesOf('env')
  const folders = entriesOf('file')
  return (kind, name) =>
    kind === 'env'
      ? !/^REGENT_/i.test(name) &&
        patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name))
      : folders.some((folder) => join(resolveLinks(name), sep).startsWith(join(resolveLinks(resolve(folder)), sep)))
}

/** Returns the path with all symbolic links resolved, also where the last parts of it do not exist. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(resolveLinks(parent), basename(path))
  }
}

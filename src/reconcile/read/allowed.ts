// Which variables and files documents may take values from.
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { FileSourceOptions } from './file.ts'

/** All that whoever runs this process may read, less its own settings. */
export const EVERYTHING: readonly string[] = ['env:*', 'file:/']

/**
 * Only what the list names: `env:NAME`, `env:PREFIX_*`, and `file:FOLDER` with what is below it, wherever links lead. Never `REGENT_*`:
 * there are passwords of Regent itself.
 */
export function allowedBy(list: readonly string[]): FileSourceOptions['allowed'] {
  const of = (kind: string) => list.flatMap((one) => (one.startsWith(`${kind}:`) ? [one.slice(kind.length + 1)] : []))
  const names = of('env')
  const folders = of('file')
  return (kind, name) =>
    kind === 'env'
      ? !/^REGENT_/i.test(name) &&
        names.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name))
      : folders.some((folder) => join(real(name), sep).startsWith(join(real(resolve(folder)), sep)))
}

/** Where it is after all links; of what is not there, where it would be. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(real(above), basename(path))
  }
}

// Runs SOPS, if it and age-keygen are on the path.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const folders = (process.env.PATH ?? '').split(delimiter)

/** Whether SOPS and age-keygen are installed. */
export const hasSops = ['sops', 'age-keygen'].every((name) => folders.some((folder) => existsSync(join(folder, name))))

/** Part of the titles of tests with SOPS. It gives the reason if they are skipped. */
export const withSops = hasSops ? 'with SOPS' : 'skipped: no SOPS or age-keygen'

/** Runs SOPS in a folder, and returns its output. Throws with the output if it fails. */
export function sops(cwd: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('sops', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout + stderr)
  return stdout
}

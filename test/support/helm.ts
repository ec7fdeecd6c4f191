// Helm, where it is on the path.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const command = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'helm'))
  .find((path) => existsSync(path))

/** Whether it is there. */
export const hasHelm = command !== undefined

/** What tests with it are called, which says so where they are left out. */
export const withHelm = hasHelm ? 'with Helm' : 'skipped: no Helm'

/** Runs it. Throws with what it says when it fails. */
export function helm(...args: string[]): string {
  // What is rendered holds all definitions.
  const { status, stdout, stderr } = spawnSync(command!, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(stdout + stderr)
  return stdout
}

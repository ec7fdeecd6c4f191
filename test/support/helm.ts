// Runs Helm, if it is on the path.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const command = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'helm'))
  .find((path) => existsSync(path))

/** Whether Helm is installed. */
export const hasHelm = command !== undefined

/** Part of the titles of tests with Helm. It gives the reason if they are skipped. */
export const withHelm = hasHelm ? 'with Helm' : 'skipped: no Helm'

/** Runs Helm, and returns its output. Throws with the output if it fails. */
export function helm(...args: string[]): string {
  // The output contains all custom resource definitions.
  const { status, stdout, stderr } = spawnSync(command!, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(stdout + stderr)
  return stdout
}

// Builds the package as it is published, for tests of the command line.
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..', '..')

/** A built package. */
export interface BuiltPackage {
  /** Path of the program, `bin/regent.js`. */
  readonly command: string
  remove(): Promise<void>
}

/** Builds the package in a folder of its own, which finds the packages of the repository. Takes two seconds. */
export async function buildPackage(): Promise<BuiltPackage> {
  const caches = join(root, 'node_modules', '.cache')
  await mkdir(caches, { recursive: true })
  const folder = await mkdtemp(join(caches, 'package-'))
  // Loaded here, since the configuration bundles the console.
  const { default: config } = await import('../../rolldown.config.ts')
  const bundle = await rolldown({ ...config, cwd: root, logLevel: 'silent' })
  await bundle.write({ ...config.output, dir: join(folder, 'dist') })
  await bundle.close()
  for (const path of ['bin', 'package.json']) await cp(join(root, path), join(folder, path), { recursive: true })
  return { command: join(folder, 'bin', 'regent.js'), remove: () => rm(folder, { recursive: true }) }
}

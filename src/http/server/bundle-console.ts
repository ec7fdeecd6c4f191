// Builds the files of the web console from src/console.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The folder with the code of the console. */
const folder = fileURLToPath(new URL('../../console/', import.meta.url))

/** The console in the form that browsers load. */
export interface ConsoleBundle {
  /** The texts of the files by name: the script, and the stylesheet. */
  readonly files: ReadonlyMap<string, string>
  /** The paths of the modules that became part of the script. */
  readonly modules: readonly string[]
}

/** Bundles the console. */
export async function bundleConsole(): Promise<ConsoleBundle> {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: `${folder}main.tsx`,
    platform: 'browser',
    tsconfig: `${folder}tsconfig.json`,
    transform: { target: 'es2023' },
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  await bundle.close()
  const style = await readFile(`${folder}style.css`, 'utf8')
  const files = new Map([
    ['console.js', output[0].code],
    ['console.css', style],
  ])
  return { files, modules: output[0].moduleIds }
}

// Builds the files of the web console from src/console.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The folder with the code of the console. */
const folder = fileURLToPath(new URL('../../console/', import.meta.url))

/** Returns the texts of the console's files by name: its script, and its stylesheet. */
export async function bundleConsole(): Promise<Map<string, string>> {
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
  return new Map([
    ['console.js', output[0].code],
    ['console.css', style],
  ])
}

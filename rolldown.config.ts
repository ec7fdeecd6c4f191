// Builds what is published: dist/main.js, and a chunk for each part that is loaded on demand. Packages become part of the chunks, since
// finding and loading their hundreds of files takes longer than running them. Those in `dependencies` of package.json do not: they have
// native code or other files, or are large and rarely needed.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig, type Plugin } from 'rolldown'
import packageJson from './package.json' with { type: 'json' }
import { bundleConsole } from './src/http/server/bundle-console.ts'

const webConsole = await bundleConsole()

export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  transform: { target: 'node24' },
  external: [
    ...Object.keys(packageJson.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
    // Only the sources bundle the console.
    'rolldown',
    // pg and chokidar load these if they are installed.
    'pg-native',
    'fsevents',
  ],
  output: { dir: 'dist', cleanDir: true },
  plugins: [addConsole(), licenses()],
})

/** Writes the files of the web console to dist/console. */
function addConsole(): Plugin {
  return {
    name: 'console',
    generateBundle() {
      for (const [name, source] of webConsole.files)
        this.emitFile({ type: 'asset', fileName: `console/${name}`, source })
    },
  }
}

/** Writes the licenses of the packages in the chunks and in the console to dist/licenses.txt. */
function licenses(): Plugin {
  return {
    name: 'licenses',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? output.moduleIds : []))
      const folders = new Set(
        [...modules, ...webConsole.modules].filter((id) => id.includes('/node_modules/')).map(findPackageFolder),
      )
      const source = [...folders]
        .sort()
        .map(renderLicense)
        .join(`\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source })
    },
  }
}

/** Returns the folder of the package that contains a module: the nearest with a package.json that has a version. */
function findPackageFolder(id: string): string {
  const folder = dirname(id)
  const file = join(folder, 'package.json')
  return existsSync(file) && readPackage(folder).version ? folder : findPackageFolder(folder)
}

function readPackage(folder: string): { name?: string; version?: string; license?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function renderLicense(folder: string): string {
  const { name, version, license } = readPackage(folder)
  const texts = globSync('{LICEN[CS]E,NOTICE}*', { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  )
  return [`${name} ${version} (${license})\n`, ...texts].join('\n')
}

// Checks which file of src may import what: imports run one way, and each large dependency has one home.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One import of a file: static, dynamic or re-export. */
export interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

/** A file of src, its path from the root of the repository, and what it imports. */
export interface SourceFile {
  readonly file: string
  readonly imports: readonly Import[]
}

const order = [
  ['lib'],
  ['kinds'],
  ['store', 'config'],
  ['service'],
  ['realm-file'],
  ['oidc', 'reconcile'],
  ['http'],
  ['operator'],
  ['cli'],
  ['main'],
]
const text = order.map((row) => (row.length > 1 ? `{${row.join(', ')}}` : row[0])).join(' ← ')
const pure =
  /^src\/reconcile\/(action|beyond|binding|changes|creation|dependencies|kept|lint\/[\w-]+|markdown|markdown-code|moved|obstacles|plan|plan-input|renames|render|shown|unknown-providers|waiting|words)\.ts$/

// `from` and `to` are paths, or `to` is the name of a package. The first rule that forbids an import names the violation.
const rules: [rule: string, forbids: (from: string, to: string, typeOnly: boolean) => boolean][] = [
  [
    'only store imports it, and service its types',
    (from, to, typeOnly) =>
      isPackage(to, 'kysely', 'pg', '@electric-sql/pglite') &&
      !(at(from, 'store') || (typeOnly && at(from, 'service'))),
  ],
  ['only service imports it', (from, to) => isPackage(to, 'nodemailer') && !at(from, 'service')],
  ['only http imports it', (from, to) => isPackage(to, 'fastify', '@fastify') && !at(from, 'http')],
  ['only operator imports it', (from, to) => isPackage(to, '@kubernetes') && !at(from, 'operator')],
  [
    'reconcile/{action,beyond,binding,changes,creation,dependencies,kept,lint/*,markdown,markdown-code,moved,obstacles,plan,plan-input,renames,render,shown,unknown-providers,waiting,words} import kinds, lib and one another only',
    (from, to) => pure.test(from) && !at(to, 'kinds', 'lib') && !pure.test(to),
  ],
  ['only cli and main import config', (from, to) => at(to, 'config') && !at(from, 'cli', 'main')],
  ['not a layer of src', (from, to) => height(from) < 0 || (isFile(to) && height(to) < 0)],
  ['nothing above service imports store', (from, to) => at(to, 'store') && height(from) > height('src/service/')],
  [
    'oidc and reconcile do not import each other, nor do store and config',
    (from, to) => isFile(to) && height(from) === height(to) && layer(from) !== layer(to),
  ],
  [text, (from, to) => height(to) > height(from)],
]

/** The violations among the imports of these files, one line each. */
export function checkImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ file, imports }) =>
    imports.flatMap(({ specifier, typeOnly }) => {
      const to = specifier.startsWith('.') ? `./${join(dirname(file), specifier)}`.replace('./src/', 'src/') : specifier
      const broken = rules.find(([, forbids]) => forbids(file, to, typeOnly))
      return broken ? [`${file} imports ${to}: ${broken[0]}`] : []
    }),
  )
}

/** The imports that stand in a file's text. An import with any value in it is not type-only. */
export function readImports(source: string): Import[] {
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const from =
    /^(?:import|export)\s+(type\s+)?(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?\s*from\s*['"]([^'"]+)/gm
  const bareOrDynamic = /(?:^import\s*|\bimport\(\s*)['"]([^'"]+)/gm
  return [
    ...[...code.matchAll(from)].map((match) => ({ specifier: match[2]!, typeOnly: match[1] !== undefined })),
    ...[...code.matchAll(bareOrDynamic)].map((match) => ({ specifier: match[1]!, typeOnly: false })),
  ]
}

/** The files of src in the current directory. */
export function readSources(): SourceFile[] {
  return globSync('src/**/*.ts').map((file) => ({ file, imports: readImports(readFileSync(file, 'utf8')) }))
}

function isPackage(to: string, ...names: string[]): boolean {
  return names.some((name) => to === name || to.startsWith(`${name}/`))
}

function isFile(to: string): boolean {
  return to.startsWith('src/') || to.startsWith('./')
}

function layer(path: string): string | undefined {
  return /^src\/([^/.]+)(\/|\.ts$)/.exec(path)?.[1]
}

function at(path: string, ...layers: string[]): boolean {
  return layers.includes(layer(path) ?? '')
}

function height(path: string): number {
  return order.findIndex((row) => row.includes(layer(path) ?? ''))
}

if (import.meta.main) {
  const violations = checkImports(readSources())
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length > 0 ? 1 : 0
}

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
/** The folders of a layer, lowest first: each imports from itself and from those before it only. */
const folders: Readonly<Record<string, readonly string[]>> = {
  'src/service/': [
    'context',
    'permissions',
    'journal',
    'objects',
    'messages',
    'authorization',
    'users',
    'clients',
    'realms',
    'kinds',
    'login',
    'sources',
    'operations',
    'admin-api',
  ],
  'src/reconcile/': [
    'model',
    'read',
    'merge',
    'observe',
    'plan',
    'lint',
    'report',
    'execute',
    'approve',
    'record',
    'run',
    'drift',
    'history',
    'import',
    'accept',
    'following',
  ],
  'src/service/admin-api/': [
    'common',
    'users',
    'clients',
    'roles',
    'authorization',
    'authentication',
    'identity-providers',
    'organizations',
    'realms',
  ],
}
const text = order.map((row) => (row.length > 1 ? `{${row.join(', ')}}` : row[0])).join(' ← ')
/** Folders of reconcile that compute only: they import kinds, lib, one another, and types of service. */
const pure = ['model', 'plan', 'lint', 'report'].map((folder) => `src/reconcile/${folder}/`)
const isPure = (path: string) => path === 'node:crypto' || pure.some((folder) => path.startsWith(folder))

type Rule = [rule: string, forbids: (from: string, to: string, typeOnly: boolean) => boolean]

// `from` and `to` are paths, or `to` is the name of a package. The first rule that forbids an import names the violation.
const rules: Rule[] = [
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
    'reconcile/{model,plan,lint,report} import kinds, lib, one another, and types of service only',
    (from, to, typeOnly) => isPure(from) && !at(to, 'kinds', 'lib') && !isPure(to) && !(typeOnly && at(to, 'service')),
  ],
  ['only cli and main import config', (from, to) => at(to, 'config') && !at(from, 'cli', 'main')],
  ['not a layer of src', (from, to) => height(from) < 0 || (isFile(to) && height(to) < 0)],
  ['nothing above service imports store', (from, to) => at(to, 'store') && height(from) > height('src/service/')],
  [
    'oidc and reconcile do not import each other, nor do store and config',
    (from, to) => isFile(to) && height(from) === height(to) && layer(from) !== layer(to),
  ],
  [text, (from, to) => height(to) > height(from)],
  ...Object.entries(folders).map(([parent, inside]): Rule => {
    const place = (path: string) => inside.indexOf(path.slice(parent.length).split('/')[0]!)
    return [
      `${parent}: ${inside.join(' ← ')}`,
      (from, to) => from.startsWith(parent) && to.startsWith(parent) && (place(from) < 0 || place(to) > place(from)),
    ]
  }),
]

/** The violations among the imports of these files, one line each. */
export function checkImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ file, imports }) =>
    imports.flatMap(({ specifier, typeOnly }) => {
      const to = targetOf(file, specifier)
      const broken = rules.find(([, forbids]) => forbids(file, to, typeOnly))
      return broken ? [`${file} imports ${to}: ${broken[0]}`] : []
    }),
  )
}

/** The import cycles among these files, types included, one line each: the files of a cycle in order. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(
    files.map(({ file, imports }) => [file, imports.map(({ specifier }) => targetOf(file, specifier))]),
  )
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) cycles.push([...path.slice(start), file].join(' → '))
    if (start >= 0 || done.has(file)) return
    for (const to of targets.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const { file } of files) visit(file, [])
  return cycles
}

/** Returns the path of an imported file, or the name of a package. */
export function targetOf(file: string, specifier: string): string {
  return specifier.startsWith('.') ? `./${join(dirname(file), specifier)}`.replace('./src/', 'src/') : specifier
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
  const sources = readSources()
  const violations = [...checkImports(sources), ...findCycles(sources).map((cycle) => `import cycle: ${cycle}`)]
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length > 0 ? 1 : 0
}

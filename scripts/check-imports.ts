// Checks the imports in src: folders are layers, and each large dependency is used in one folder only.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One import of a file: static, dynamic or re-export. */
export interface Import {
  readonly specifier: string
  readonly isTypeOnly: boolean
}

/** A file of src, as a path from the root of the repository, with its imports. */
export interface SourceFile {
  readonly file: string
  readonly imports: readonly Import[]
}

/** The folder of the browser's code, and the packages that it is made of. */
const CONSOLE = 'src/console/'
const consolePackages = ['preact', '@preact/signals', 'diff']

/** The layers, lowest first. A layer imports from itself and from lower ones only. */
const layers = [
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
/** The folders and files within a layer, lowest first. A folder imports from itself and from lower ones only. */
const subfolders: Readonly<Record<string, readonly string[]>> = {
  'src/service/': [
    'policy-evaluation',
    'context',
    'tasks',
    'permissions',
    'journal',
    'objects',
    'messages',
    'authorization',
    'users',
    'client-policies',
    'clients',
    'realms',
    'kinds',
    'federation',
    'workflows',
    'login',
    'sources',
    'operations',
    'admin-api',
    'protection',
    'registration',
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
    'inspect',
    'following',
  ],
  'src/operator/': [
    'cluster',
    'operator-queue.ts',
    'desired',
    'status',
    'secrets',
    'realms',
    'git',
    'operator.ts',
    'admission',
    'crds',
  ],
  'src/service/admin-api/': [
    'common',
    'users',
    'clients',
    'roles',
    'clients-v2',
    'authorization',
    'authentication',
    'identity-providers',
    'organizations',
    'realms',
  ],
}
const layerRule = layers.map((row) => (row.length > 1 ? `{${row.join(', ')}}` : row[0])).join(' ← ')
/** Folders without side effects. They import kinds, lib, one another, and types of service only. */
const pure = [
  ...['model', 'plan', 'lint', 'report'].map((folder) => `src/reconcile/${folder}/`),
  'src/service/policy-evaluation/',
]
const isPure = (path: string) => path === 'node:crypto' || pure.some((folder) => path.startsWith(folder))

type Rule = [rule: string, forbids: (from: string, to: string, isTypeOnly: boolean) => boolean]

// `from` and `to` are paths, or `to` is the name of a package. The first rule that forbids an import names the violation.
const rules: Rule[] = [
  [
    'only store imports it, and service its types',
    (from, to, isTypeOnly) =>
      isPackage(to, 'kysely', 'pg', '@electric-sql/pglite') &&
      !(isInLayer(from, 'store') || (isTypeOnly && isInLayer(from, 'service'))),
  ],
  [
    'the console imports its own files and packages only',
    (from, to) => from.startsWith(CONSOLE) && !to.startsWith(CONSOLE) && !isPackage(to, ...consolePackages),
  ],
  ['only the console imports it', (from, to) => isPackage(to, 'preact', '@preact') && !from.startsWith(CONSOLE)],
  ['only lib imports it', (from, to) => isPackage(to, 'ldapts') && !isInLayer(from, 'lib')],
  ['only service imports it', (from, to) => isPackage(to, 'nodemailer') && !isInLayer(from, 'service')],
  ['only http imports it', (from, to) => isPackage(to, 'fastify', '@fastify') && !isInLayer(from, 'http')],
  ['only operator imports it', (from, to) => isPackage(to, '@kubernetes') && !isInLayer(from, 'operator')],
  [
    'reconcile/{model,plan,lint,report} and service/policy-evaluation import kinds, lib, one another, and types of service only',
    (from, to, isTypeOnly) =>
      isPure(from) && !isInLayer(to, 'kinds', 'lib') && !isPure(to) && !(isTypeOnly && isInLayer(to, 'service')),
  ],
  ['only cli and main import config', (from, to) => isInLayer(to, 'config') && !isInLayer(from, 'cli', 'main')],
  [
    'not a layer of src',
    (from, to) => !from.startsWith(CONSOLE) && (getHeight(from) < 0 || (isFile(to) && getHeight(to) < 0)),
  ],
  [
    'nothing above service imports store',
    (from, to) => isInLayer(to, 'store') && getHeight(from) > getHeight('src/service/'),
  ],
  [
    'oidc and reconcile do not import each other, nor do store and config',
    (from, to) => isFile(to) && getHeight(from) === getHeight(to) && getLayer(from) !== getLayer(to),
  ],
  [layerRule, (from, to) => getHeight(to) > getHeight(from)],
  ...Object.entries(subfolders).map(([parent, folders]): Rule => {
    const getFolderHeight = (path: string) => folders.indexOf(path.slice(parent.length).split('/')[0]!)
    return [
      `${parent}: ${folders.join(' ← ')}`,
      (from, to) =>
        from.startsWith(parent) &&
        to.startsWith(parent) &&
        (getFolderHeight(from) < 0 || getFolderHeight(to) > getFolderHeight(from)),
    ]
  }),
]

/** Returns a line for each import that violates a rule. */
export function checkImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ file, imports }) =>
    imports.flatMap(({ specifier, isTypeOnly }) => {
      const to = resolveImport(file, specifier)
      const violated = rules.find(([, forbids]) => forbids(file, to, isTypeOnly))
      return violated ? [`${file} imports ${to}: ${violated[0]}`] : []
    }),
  )
}

/** Returns a line for each import cycle, with its files in order. Imports of types count. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(
    files.map(({ file, imports }) => [file, imports.map(({ specifier }) => resolveImport(file, specifier))]),
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
export function resolveImport(file: string, specifier: string): string {
  return specifier.startsWith('.') ? `./${join(dirname(file), specifier)}`.replace('./src/', 'src/') : specifier
}

/** Returns the imports in a file's text. An import of types and values is not type-only. */
export function readImports(source: string): Import[] {
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const from =
    /^(?:import|export)\s+(type\s+)?(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?\s*from\s*['"]([^'"]+)/gm
  const bareOrDynamic = /(?:^import\s*|\bimport\(\s*)['"]([^'"]+)/gm
  return [
    ...[...code.matchAll(from)].map((match) => ({ specifier: match[2]!, isTypeOnly: match[1] !== undefined })),
    ...[...code.matchAll(bareOrDynamic)].map((match) => ({ specifier: match[1]!, isTypeOnly: false })),
  ]
}

/** Reads the files of src in the current directory. */
export function readSources(): SourceFile[] {
  return globSync('src/**/*.{ts,tsx}').map((file) => ({ file, imports: readImports(readFileSync(file, 'utf8')) }))
}

function isPackage(to: string, ...names: string[]): boolean {
  return names.some((name) => to === name || to.startsWith(`${name}/`))
}

function isFile(to: string): boolean {
  return to.startsWith('src/') || to.startsWith('./')
}

function getLayer(path: string): string | undefined {
  return /^src\/([^/.]+)(\/|\.ts$)/.exec(path)?.[1]
}

function isInLayer(path: string, ...names: string[]): boolean {
  return names.includes(getLayer(path) ?? '')
}

function getHeight(path: string): number {
  return layers.findIndex((row) => row.includes(getLayer(path) ?? ''))
}

if (import.meta.main) {
  const sources = readSources()
  const violations = [...checkImports(sources), ...findCycles(sources).map((cycle) => `import cycle: ${cycle}`)]
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length > 0 ? 1 : 0
}

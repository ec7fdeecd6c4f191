// Counts in src what makes code hard to read. structure.json holds the bound of each figure, which only shrinks:
// --list shows the places, --lower lowers the bounds to the figures, --check only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import {
  type AsExpression,
  type FunctionLikeDeclaration,
  isAsExpression,
  isFunctionLikeDeclaration,
  isIdentifier,
  isParenthesizedExpression,
  isTypeReferenceNode,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { readImports, targetOf } from './check-imports.ts'

const LONGEST_FUNCTION = 60
const MOST_PARAMETERS = 3
const MOST_FILES = 25
const SMALL_FILE = 50

/** Folders with one file per entry of a table, and no machinery. */
const tableFolders = ['src/cli/commands', 'src/http/admin', 'src/kinds', 'src/store/migrations']
/** Files that list entries, each of which is a file of its own. */
const tables = [
  'src/cli/commands.ts',
  'src/http/admin/index.ts',
  'src/kinds/index.ts',
  'src/oidc/client-authentication/authenticate-client.ts',
  'src/oidc/login/actions/index.ts',
  'src/oidc/login/authenticators/index.ts',
  'src/oidc/endpoints/token-endpoint.ts',
  'src/realm-file/convert-formats.ts',
  'src/service/kinds/index.ts',
  'src/store/database/migrate.ts',
]

/** What is counted: each place as a line of text. */
export interface Structure {
  /** Functions of more lines than 60. Tables are no functions; functions in them count. */
  readonly longFunctions: string[]
  /** Functions with a body and more positional parameters than 3. */
  readonly manyParameters: string[]
  /** `as`, except for `as const`. */
  readonly casts: string[]
  /** `as unknown as`. */
  readonly doubleCasts: string[]
  /** Folders of more files than 25, those of tables excepted. */
  readonly crowdedFolders: string[]
  /** Files of fewer lines than 50 that one other file imports, entries of tables excepted. */
  readonly smallFiles: string[]
}

/** A file of TypeScript: its path from the root of the repository, and its syntax tree. */
interface ParsedFile {
  readonly file: string
  readonly tree: SourceFile
}

/** Returns what is counted in the files of src of a project, whose root holds tsconfig.json. */
export function measure(root: string): Structure {
  const api = new API()
  const project = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()[0]!
  const files = project.rootFiles
    .map((path) => ({ file: relative(root, path), path }))
    .filter(({ file }) => file.startsWith('src/'))
    .map(({ file, path }) => ({ file, tree: project.program.getSourceFile(path)! }))
  const structure = { ...measureCode(files), crowdedFolders: crowdedFolders(files), smallFiles: smallFiles(files) }
  api.close()
  return structure
}

function measureCode(files: readonly ParsedFile[]) {
  const code = {
    longFunctions: [] as string[],
    manyParameters: [] as string[],
    casts: [] as string[],
    doubleCasts: [] as string[],
  }
  for (const { file, tree } of files) {
    const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1
    const visit = (node: Node): void => {
      const start = lineOf(node.getStart(tree))
      const place = `${file}:${start}`
      if (isFunctionLikeDeclaration(node) && node.body) {
        const name = nameOf(node)
        const lines = lineOf(node.end) - start + 1
        if (lines > LONGEST_FUNCTION) code.longFunctions.push(`${place} ${name}: ${lines} lines`)
        if (node.parameters.length > MOST_PARAMETERS)
          code.manyParameters.push(`${place} ${name}: ${node.parameters.length} parameters`)
      }
      if (isAsExpression(node) && !isConst(node)) {
        code.casts.push(place)
        if (isCastToUnknown(node.expression)) code.doubleCasts.push(place)
      }
      node.forEachChild(visit)
    }
    visit(tree)
  }
  return code
}

/** Returns the name of a function, or of what it is given to. */
function nameOf(node: FunctionLikeDeclaration): string {
  const { name } = node as { readonly name?: Node }
  const { name: givenTo } = node.parent as { readonly name?: Node }
  return name?.getText() ?? givenTo?.getText() ?? 'function'
}

function isConst({ type }: AsExpression): boolean {
  return isTypeReferenceNode(type) && isIdentifier(type.typeName) && type.typeName.text === 'const'
}

function isCastToUnknown(node: Node): boolean {
  if (isParenthesizedExpression(node)) return isCastToUnknown(node.expression)
  return isAsExpression(node) && node.type.kind === SyntaxKind.UnknownKeyword
}

function crowdedFolders(files: readonly ParsedFile[]): string[] {
  const folders = Map.groupBy(files, ({ file }) => dirname(file))
  return [...folders]
    .filter(([folder, { length }]) => length > MOST_FILES && !tableFolders.includes(folder))
    .map(([folder, { length }]) => `${folder}: ${length} files`)
}

function smallFiles(files: readonly ParsedFile[]): string[] {
  const imports = files.flatMap(({ file, tree }) =>
    readImports(tree.text).map(({ specifier }) => ({ from: file, to: targetOf(file, specifier) })),
  )
  const importers = new Map(
    [...Map.groupBy(imports, ({ to }) => to)].map(([to, all]) => [to, new Set(all.map(({ from }) => from))]),
  )
  return files.flatMap(({ file, tree }) => {
    const [importer, ...rest] = importers.get(file) ?? []
    const lines = tree.text.split('\n').length - 1
    const isCounted = lines < SMALL_FILE && importer !== undefined && !rest.length && !tables.includes(importer)
    return isCounted ? [`${file}: ${lines} lines, for ${importer}`] : []
  })
}

/** Returns the figures above their bounds, one line each. */
export function aboveBounds(structure: Structure, bounds: Readonly<Record<string, number>>): string[] {
  return Object.entries(structure)
    .filter(([name, { length }]) => length > bounds[name]!)
    .map(([name, { length }]) => `${name}: ${length}, and the bound is ${bounds[name]}`)
}

if (import.meta.main) {
  const path = join(import.meta.dirname, 'structure.json')
  const bounds = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>
  const structure = measure(process.cwd())
  const [mode] = process.argv.slice(2)
  if (mode !== '--check') {
    for (const [name, places] of Object.entries(structure)) {
      if (mode === '--list') for (const place of places) console.log(`${name}: ${place}`)
      else console.log(`${name}: ${places.length}, bound ${bounds[name]}`)
    }
  }
  if (mode === '--lower') {
    const lowered = Object.entries(structure).map(([name, { length }]) => [name, Math.min(length, bounds[name]!)])
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`)
  }
  const problems = aboveBounds(structure, bounds)
  for (const problem of problems) console.error(`${problem}. npm run structure -- --list shows the places.`)
  if (problems.length) process.exitCode = 1
}

// Counts in src what makes code hard to read. structure.json contains the allowed number for each count, which is only ever lowered.
// --list lists the positions, --lower lowers the allowed numbers to the current ones, --check prints only counts that are too high.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
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
import { readImports, resolveImport } from './check-imports.ts'

const LONGEST_FUNCTION = 60
const MOST_PARAMETERS = 3
const MOST_FILES = 25
const SMALL_FILE = 50

/** Folders with one file per entry of a table, such as one per command. */
const tableFolders = ['src/cli/commands', 'src/http/admin', 'src/kinds', 'src/store/migrations']
/** Files that list entries from files of their own. */
const tables = [
  'src/cli/commands.ts',
  'src/http/admin/index.ts',
  'src/kinds/index.ts',
  'src/oidc/client-authentication/authenticate-client.ts',
  'src/oidc/login/actions/index.ts',
  'src/oidc/login/authenticators/index.ts',
  'src/oidc/endpoints/token-endpoint.ts',
  'src/realm-file/convert-formats.ts',
  'src/realm-file/versions/version-steps.ts',
  'src/service/kinds/index.ts',
  'src/store/database/migrate.ts',
]

/** The counted problems, each as a line with its position. */
export interface Structure {
  /** Functions with more than 60 lines. */
  readonly longFunctions: string[]
  /** Functions with more than 3 positional parameters. */
  readonly manyParameters: string[]
  /** Casts by `as`, except `as const`. */
  readonly casts: string[]
  /** Casts by `as unknown as`. */
  readonly doubleCasts: string[]
  /** Folders with more than 25 files, except those of tables. */
  readonly crowdedFolders: string[]
  /** Files with fewer than 50 lines and a single importer, except entries of tables. */
  readonly smallFiles: string[]
}

/** A TypeScript file, as a path from the root of the repository, with its syntax tree. */
interface ParsedFile {
  readonly file: string
  readonly tree: SourceFile
}

/** Measures the files of src of the project with this root, which contains tsconfig.json. */
export function measure(root: string): Structure {
  const api = new API()
  const openProjects = ['.', 'src/console'].map((folder) => join(root, folder, 'tsconfig.json')).filter(existsSync)
  const files = api
    .updateSnapshot({ openProjects })
    .getProjects()
    .flatMap(({ rootFiles, program }) =>
      rootFiles.map((path) => ({ file: relative(root, path), tree: program.getSourceFile(path)! })),
    )
    .filter(({ file }) => file.startsWith('src/'))
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

/** Returns the name of a function, or of the variable or property that it is assigned to. */
function nameOf(node: FunctionLikeDeclaration): string {
  const { name } = node as { readonly name?: Node }
  const { name: assignedTo } = node.parent as { readonly name?: Node }
  return name?.getText() ?? assignedTo?.getText() ?? 'function'
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
    readImports(tree.text).map(({ specifier }) => ({ from: file, to: resolveImport(file, specifier) })),
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

/** Returns a line for each count above its bound. */
export function aboveBounds(structure: Structure, bounds: Readonly<Record<string, number>>): string[] {
  return Object.entries(structure)
    .filter(([name, { length }]) => length > bounds[name]!)
    .map(([name, { length }]) => `${name}: ${length}, limit ${bounds[name]}`)
}

if (import.meta.main) {
  const path = join(import.meta.dirname, 'structure.json')
  const bounds = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>
  const structure = measure(process.cwd())
  const [mode] = process.argv.slice(2)
  if (mode !== '--check') {
    for (const [name, places] of Object.entries(structure)) {
      if (mode === '--list') for (const place of places) console.log(`${name}: ${place}`)
      else console.log(`${name}: ${places.length}, limit ${bounds[name]}`)
    }
  }
  if (mode === '--lower') {
    const lowered = Object.entries(structure).map(([name, { length }]) => [name, Math.min(length, bounds[name]!)])
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`)
  }
  const problems = aboveBounds(structure, bounds)
  for (const problem of problems) console.error(`${problem}. List them with: npm run structure -- --list`)
  if (problems.length) process.exitCode = 1
}

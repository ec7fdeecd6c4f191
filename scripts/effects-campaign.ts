// Disables the code that reads random enforced values of the table of effects, and shows that the test that each of them names fails.
//
// A value is disabled in a copy of the tree, which should not change meanwhile. The ways are tried until one makes the test fail:
// - Where it is read, its name is replaced by another, so that readers find it absent. A second way replaces only reads.
// - A number of a realm is replaced by that of a new realm instead, since calculations with an absent number fail everywhere.
// - A name that many files use, such as `enabled`, is replaced only where it is read from an object named after the kind, such as `client.enabled`, or
//   after the map that contains it, such as `config.included`.
// - A name that is composed, such as `user.attribute.${part}`, is replaced up to its last dot.
// - A relation is read from an empty table.
// - A provider is removed from the tables of providers.
// The files that serve the admin API count as readers only if no others are, and the definition of a field only if nothing else reads it. Both
// count for values that only the admin API uses. Conversions of realm files are the last resort.
//
// A test that fails because nothing works any more shows little. So the output says if the first test of the file fails, and CONTROL too.
// Other keys of maps, such as `attributes.*`, are left out: they are stored for applications, and nothing reads them.
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { effects } from '../src/kinds/effects/index.ts'
import { kinds } from '../src/kinds/index.ts'
import type { KindName } from '../src/kinds/kind-name.ts'
import { tables } from '../src/store/tables.ts'

/** A test that uses the admin API and logs in, and depends on few settings. */
const CONTROL = 'test/oidc/discovery.test.ts'
/** A name in more files than this is common. */
const MAX_FILES = 20

const USAGE = `Usage: npm run campaign:effects -- [--rows N] [--seed N] [ROW...]
ROW: kind.field, such as client.attributes.jwks.url, or kind.field:provider`

/** An enforced value. */
interface EnforcedRow {
  readonly title: string
  readonly kind: KindName
  /** The map or list that contains the value. */
  readonly container: string | undefined
  /** The field, or the key of a map. */
  readonly name: string
  readonly isProvider: boolean
  readonly isApiData: boolean
  readonly test: string
}

/** A replacement of the text that reads a value. */
interface Replacement {
  readonly pattern: RegExp
  readonly text: string
}

/** A way to disable a value: replacements in some of the files. */
interface Variant {
  readonly files: readonly SourceFile[]
  readonly replacements: readonly Replacement[]
}

interface SourceFile {
  readonly file: string
  readonly text: string
}

/** Lists the enforced values, without other keys of maps. */
function listEnforced(): EnforcedRow[] {
  return Object.entries(effects).flatMap(([kind, kindEffects]) =>
    Object.entries(kindEffects).flatMap(([path, effect]): EnforcedRow[] => {
      const row = { kind: kind as KindName, title: `${kind}.${path}` }
      if (effect.effect === 'provider')
        return Object.entries(effect.providers).flatMap(([name, provider]) =>
          provider.effect === 'enforced'
            ? [
                {
                  ...row,
                  title: `${row.title}:${name}`,
                  container: undefined,
                  name,
                  isProvider: true,
                  isApiData: provider.isApiData === true,
                  test: provider.test,
                },
              ]
            : [],
        )
      if (effect.effect !== 'enforced' || path.endsWith('.*')) return []
      const place = locateName(kind as KindName, path)
      return [{ ...row, ...place, isProvider: false, isApiData: effect.isApiData === true, test: effect.test }]
    }),
  )
}

/** Returns the name of a value, and the map or list that contains it. */
function locateName(kind: KindName, path: string): Pick<EnforcedRow, 'container' | 'name'> {
  const [field, ...rest] = path.split('.') as [string, ...string[]]
  if (rest.length && kinds[kind].fields[field]?.type === 'map') return { container: field, name: rest.join('.') }
  const [name, container] = [field, ...rest].toReversed() as [string, ...string[]]
  return { container, name }
}

/** Returns rows in an order that depends on their titles and the seed, so that other rows can be added and removed. */
function shuffle(rows: readonly EnforcedRow[], seed: string): EnforcedRow[] {
  const rank = ({ title }: EnforcedRow) => hash('sha256', `${seed} ${title}`)
  return rows.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

const escapeName = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const SOURCES = 'src/{oidc,service,store,http,lib,kinds,realm-file}/**/*.ts'
/** Files that serve the admin API, or list the columns of tables. */
const API_FILES = /^src\/(service\/admin-api|http\/(?!server\/)|store\/(tables\.ts|migrations\/))/
/** Files that define fields and providers. */
const DEFINITIONS = /^src\/kinds\//
/** Files that convert realm files of other formats and versions. */
const FORMATS = /^src\/realm-file\//
const TEXTS = /^src\/oidc\/pages\/texts\//

/** Returns the replacements that disable a provider. */
function listProviderReplacements(name: string): Replacement[] {
  const word = escapeName(name)
  const literal = { pattern: new RegExp(`(?<=['"\`])${word}(?=['"\`])`, 'g'), text: `${name}-disabled` }
  const disabled = `'${name}-disabled'`
  const key = { pattern: new RegExp(`(?<=^\\s*|\\{ (?:[^{}()]*, )?)${word}(?=:)`, 'g'), text: disabled }
  const shorthand = new RegExp(`(?<!^import .*)(?<=\\{ (?:\\w+, )*)${word}(?=,| \\})|(?<=^\\s*)${word}(?=,$)`, 'g')
  return /^\w+$/.test(name) ? [literal, key, { pattern: shorthand, text: `${disabled}: ${name}` }] : [literal]
}

/** Returns lists of replacements, each of which disables a field or a key of a map. */
function listFieldReplacements({ kind, container, name }: EnforcedRow, isCommon: boolean): Replacement[][] {
  const word = escapeName(name)
  const disabled = `${name}${/^\w+$/.test(name) ? 'Disabled' : '-disabled'}`
  const literal = { pattern: new RegExp(`(?<=['"\`])${word}(?=['"\`])`, 'g'), text: disabled }
  if (isCommon) {
    const isSetting = container ? kinds[kind].fields[container]?.type === 'map' : kind === 'realm'
    const owner = `${toOwner(container ?? kind)}${isSetting ? '|settings' : ''}`
    const receiver = `(?:${owner})(?:\\(\\w*\\))?\\)*(?:[?!]?\\.(?:fields|body|representation))?[?!]?\\.`
    return [
      [
        { pattern: new RegExp(`(?<=${receiver})${word}\\b`, 'g'), text: disabled },
        {
          pattern: new RegExp(`(?<=\\{[^{}]*)\\b${word}\\b(?=[^{}:]*\\}(?: = .*|: \\w*)(?:${owner}))`, 'g'),
          text: `${disabled}: ${name}`,
        },
      ],
    ]
  }
  const value = kind === 'realm' ? kinds.realm.defaults({})[name] : undefined
  if (typeof value === 'number' && value !== 0)
    return [
      [{ pattern: new RegExp(`[\\w$]+\\('${word}'\\)`, 'g'), text: String(value) }],
      [{ pattern: new RegExp(`[\\w$]+(?:[?!]?\\.[\\w$]+)*[?!]?\\.${word}\\b`, 'g'), text: String(value) }],
      [literal],
    ]
  const composed = escapeName(name.slice(0, name.lastIndexOf('.') + 1))
  return [
    [{ pattern: new RegExp(`(?<![\\w./-])${word}(?![\\w-])|(?<=\\.)${word}(?![\\w-])`, 'g'), text: disabled }],
    ...(composed ? [[{ pattern: new RegExp(`(?<=\`)${composed}(?=\\$)`, 'g'), text: 'disabled.' }]] : []),
    // Reads only, since a value is still found if it is written under the same name.
    ...(/^\w+$/.test(name)
      ? [
          [
            { pattern: new RegExp(`(?<=[\\w)\\]?!]\\.)${word}\\b`, 'g'), text: disabled },
            {
              pattern: new RegExp(`(?<=\\{[^{}]*)\\b${word}\\b(?=[^{}:]*\\}(?: = |: [A-Z]|[^()]*\\) =>))`, 'g'),
              text: `${disabled}: ${name}`,
            },
          ],
        ]
      : []),
  ]
}

/** Returns a pattern for the names of objects of a kind, or of maps, or of elements of lists, such as `user` and `storedUser`. */
function toOwner(name: string): string {
  const singular = name.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
  return [...new Set([name, singular])].join('|').replace(/\b\w/g, toEitherCase)
}

const toEitherCase = (letter: string) => `[${letter}${letter.toUpperCase()}]`

/** Returns the replacement that reads a relation from an empty table; undefined for other fields. */
function findRelationReplacement({ kind, container, name, isProvider }: EnforcedRow): Replacement | undefined {
  const relation = isProvider || container ? undefined : tables[kind].relations[name]
  if (!relation) return undefined
  const unaffected = relation.optional === undefined ? 'false' : `optional <> ${relation.optional}`
  return {
    pattern: new RegExp(`(?<=(?<!delete )\\b(?:from|join) )${relation.name}(?= \\w)`, 'g'),
    text: `(select * from ${relation.name} where ${unaffected})`,
  }
}

/** Returns the ways to disable a value. They change the tables that store it, the files that read it, or else its definition. */
function listVariants(tree: string, row: EnforcedRow): Variant[] {
  const word = new RegExp(`(?<![\\w-])${escapeName(row.name)}(?![\\w-])`)
  const sources = globSync(SOURCES, { cwd: tree, exclude: ['src/kinds/effects/**'] })
    .filter((file) => !TEXTS.test(file))
    .map((file) => ({ file, text: readFileSync(join(tree, file), 'utf8') }))
  const definitions = sources.filter(({ file }) => DEFINITIONS.test(file))
  const ownDefinition = `src/kinds/${row.kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`
  const list = new RegExp(`^export const ${row.title.split('.')[1]}\\b`, 'm')
  const ofList = row.container ? definitions.filter(({ text }) => list.test(text)) : []
  const ownDefinitions = ofList.length > 0 ? ofList : definitions.filter(({ file }) => file === ownDefinition)
  const apiFiles = sources.filter(({ file }) => API_FILES.test(file))
  const formats = sources.filter(({ file }) => FORMATS.test(file))
  const readers = sources.filter((source) => ![definitions, apiFiles, formats].some((files) => files.includes(source)))
  if (row.isProvider) {
    const replacements = listProviderReplacements(row.name)
    return keepChanging([{ files: [...readers, ...definitions], replacements }]) ?? [{ files: apiFiles, replacements }]
  }
  const isCommon = [...readers, ...apiFiles].filter(({ text }) => word.test(text)).length > MAX_FILES
  const inFiles = (files: readonly SourceFile[]) =>
    listFieldReplacements(row, isCommon).map((replacements) => ({ files, replacements }))
  const field = {
    pattern: new RegExp(`(?<=^\\s*)${escapeName(row.name)}(?=: \\w+\\(|: \\{$|,$)`, 'g'),
    text: `${row.name}Disabled`,
  }
  const inDefinition = [[field], ...listFieldReplacements(row, false)].map((replacements) => ({
    files: ownDefinitions,
    replacements,
  }))
  if (row.isApiData) return [...inFiles(apiFiles), ...inFiles(readers), ...inDefinition]
  if (row.name === kinds[row.kind].naturalKey && !row.container) return [...inFiles(readers), ...inDefinition]
  const relation = findRelationReplacement(row)
  const ofRelation = relation
    ? [/^src\/store\/login\//, /^src\/store\//].map((folder) => ({
        files: readers.filter(({ file }) => folder.test(file)),
        replacements: [relation],
      }))
    : []
  return (
    keepChanging([...ofRelation, ...inFiles(readers)]) ??
    keepChanging(inFiles(apiFiles)) ??
    keepChanging(inDefinition) ??
    inFiles(formats)
  )
}

/** Returns the variants if one of them changes a file. */
function keepChanging(variants: readonly Variant[]): Variant[] | undefined {
  return variants.some((variant) => listChanges(variant).length > 0) ? [...variants] : undefined
}

/** Returns the files that a variant changes, with their new texts. */
function listChanges({ files, replacements }: Variant): SourceFile[] {
  return files.flatMap(({ file, text }) => {
    const changed = replacements.reduce((before, { pattern, text: to }) => replaceCode(before, pattern, to), text)
    return changed === text ? [] : [{ file, text: changed }]
  })
}

/** Replaces text outside of comments, and of imports from the kinds, whose names do not change. */
function replaceCode(source: string, pattern: RegExp, text: string): string {
  return source
    .split('\n')
    .map((line) =>
      /^\s*(\/\/|\/?\*)|^(import|\}) .*from '(\.\.\/)+kinds\//.test(line) ? line : line.replace(pattern, () => text),
    )
    .join('\n')
}

/** Runs a file of tests in a tree up to its first failure. Returns the numbers of its passed and failed tests. */
function runTest(tree: string, file: string): { passed: number; failed: number } {
  const output = join(tree, 'campaign.json')
  rmSync(output, { force: true })
  const vitest = join(tree, 'node_modules', 'vitest', 'vitest.mjs')
  const options = [
    '--bail=1',
    '--reporter=json',
    `--outputFile=${output}`,
    '--testTimeout=60000',
    '--hookTimeout=60000',
  ]
  spawnSync(process.execPath, [vitest, 'run', file, ...options], { cwd: tree, stdio: 'ignore', timeout: 600_000 })
  if (!existsSync(output)) return { passed: 0, failed: 1 }
  const report = JSON.parse(readFileSync(output, 'utf8')) as {
    numPassedTests: number
    numFailedTests: number
    numFailedTestSuites: number
  }
  return { passed: report.numPassedTests, failed: report.numFailedTests || report.numFailedTestSuites }
}

const root = join(import.meta.dirname, '..')

/** Copies the tree without its packages into a new folder. Returns the folder. */
function copyTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'regent-effects-'))
  const tree = join(folder, 'main')
  cpSync(root, tree, { recursive: true, filter: (path) => !['node_modules', '.git', '.venv'].includes(basename(path)) })
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  const shared = join(root, '..', 'shared')
  if (existsSync(shared)) symlinkSync(shared, join(folder, 'shared'))
  return folder
}

/** Disables a value in a copy of the tree in each way until its test fails, and restores the copy. */
function tryRow(tree: string, row: EnforcedRow): { readonly result: string; readonly detail: string } {
  const changedFiles: string[] = []
  for (const variant of listVariants(tree, row)) {
    const changes = listChanges(variant)
    if (changes.length === 0) continue
    const files = changes.map(({ file }) => file)
    changedFiles.push(...files)
    for (const { file, text } of changes) writeFileSync(join(tree, file), text)
    try {
      const { passed, failed } = runTest(tree, row.test)
      const detail = `a test fails after ${passed} passed; ${files.join(', ')}`
      if (failed > 0 && passed === 0 && runTest(tree, CONTROL).passed === 0)
        return { result: 'noticed, as everything depends on it', detail }
      if (failed > 0) return { result: 'noticed', detail }
    } finally {
      for (const file of files) cpSync(join(root, file), join(tree, file))
    }
  }
  const isRead = changedFiles.length > 0
  return isRead
    ? { result: 'NOT noticed', detail: [...new Set(changedFiles)].join(', ') }
    : { result: 'could not be disabled', detail: 'no reader' }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '30' }, seed: { type: 'string', default: String(Date.now() % 1e6) } },
})
const rows = listEnforced()
const unknown = positionals.filter((title) => !rows.some((row) => row.title === title))
if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: no enforced row has this name.\n${USAGE}`)
const selected =
  positionals.length > 0
    ? positionals.map((title) => rows.find((row) => row.title === title)!)
    : shuffle(rows, values.seed).slice(0, Number(values.rows))
if (positionals.length === 0) console.log(`${selected.length} of ${rows.length} rows, seed ${values.seed}`)
const folder = copyTree()
try {
  for (const row of selected) {
    const { result, detail } = tryRow(join(folder, 'main'), row)
    console.log(`${row.title} | ${row.test} | ${result} | ${detail}`)
    if (!result.startsWith('noticed')) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

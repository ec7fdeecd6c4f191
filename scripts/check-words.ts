// Checks the words of STYLE.md in code, texts, documentation and names of files. words.json contains the refused words with their replacements,
// names that say nothing, and exceptions with their reasons.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  isBindingElement,
  isClassDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
  isTemplateHead,
  isTemplateMiddle,
  isTemplateTail,
  isTypeAliasDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

const LONGEST_SENTENCE = 35
const LONGEST_LINE = 160

/** Pages that are generated from texts in the code, where sentences and lines are not checked. */
const generatedPages = /^docs\/(?:cli|configuration|lint|security)\.md$/
/** Recorded data of Keycloak and texts by others. */
const foreignTexts = /^(?:src\/kinds\/built-in\/.*\.json|docs\/openapi\.json|docs\/operations\.txt)$/

/** The content of words.json. */
export interface WordRules {
  /** Words that are refused in names, comments, texts, pages and paths, with their replacements. */
  readonly words: Readonly<Record<string, string>>
  /** Phrases that are refused in comments, texts and pages: case-insensitive patterns with their replacements. */
  readonly phrases: Readonly<Record<string, string>>
  /** Names that are refused as a whole. */
  readonly names: readonly string[]
  /** Uses of a refused word or name that are correct: within this text, in files whose path has this prefix. */
  readonly exceptions: readonly {
    readonly word: string
    readonly within: string
    readonly file: string
    readonly reason: string
  }[]
}

/** The kind of a problem: `types` are type names that exist twice, `docstrings` are openings such as "What". */
export type Violation = 'words' | 'names' | 'types' | 'docstrings' | 'sentences' | 'lines'

/** A problem at one position. */
export interface WordProblem {
  readonly violation: Violation
  readonly file: string
  readonly line: number
  readonly text: string
}

/** A name, a comment, a string or a paragraph, with the line of its start. */
interface Text {
  readonly line: number
  readonly text: string
}

/** Returns the problems of a TypeScript file. */
export function checkCode(file: string, tree: SourceFile, rules: WordRules): WordProblem[] {
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1
  const names: Text[] = []
  const texts: Text[] = []
  let code = tree.text
  const visit = (node: Node): void => {
    if (isIdentifier(node) && isDeclared(node)) names.push({ line: lineOf(node.getStart(tree)), text: node.text })
    if (isText(node)) {
      const start = node.getStart(tree)
      const text = tree.text.slice(start, node.end)
      if (node.parent.kind !== SyntaxKind.ImportDeclaration && node.parent.kind !== SyntaxKind.ExportDeclaration)
        texts.push({ line: lineOf(start), text })
      code = code.slice(0, start) + text.replace(/[^\n]/g, ' ') + code.slice(node.end)
    } else if (node.kind === SyntaxKind.RegularExpressionLiteral) {
      const start = node.getStart(tree)
      code = code.slice(0, start) + ' '.repeat(node.end - start) + code.slice(node.end)
    }
    node.forEachChild(visit)
  }
  visit(tree)
  const comments = [...code.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)].map(({ 0: text, index }) => ({
    line: lineOf(index),
    text,
  }))
  return [
    ...names.flatMap((name) => checkName(file, name, rules)),
    ...[...texts, ...comments].flatMap((text) => checkText(file, text, rules)),
    ...comments.flatMap(({ line, text }): WordProblem[] => {
      const opening = /^\/\*\*[\s*]*((?:What|How|Who|Whom|Whose|Where|Why|Those)\b[^\n]*)/.exec(text)?.[1]
      return opening ? [{ violation: 'docstrings', file, line, text: opening }] : []
    }),
  ]
}

/** Whether the node is the name of a declaration. */
function isDeclared(node: Node): boolean {
  const { parent } = node
  if (isPropertyAccessExpression(parent)) return false
  if (isBindingElement(parent)) return parent.name === node
  return (parent as { readonly name?: Node }).name === node
}

function isText(node: Node): boolean {
  return (
    isStringLiteral(node) ||
    isNoSubstitutionTemplateLiteral(node) ||
    isTemplateHead(node) ||
    isTemplateMiddle(node) ||
    isTemplateTail(node)
  )
}

function checkName(file: string, { line, text }: Text, rules: WordRules): WordProblem[] {
  if (rules.names.includes(text) && !isExcepted(file, text, text, rules))
    return [{ violation: 'names', file, line, text }]
  const words = text.split(/(?<=[a-z])(?=[A-Z])|_|(?=[A-Z][a-z])/).map((word) => word.toLowerCase())
  const refused = words.find((word) => Object.hasOwn(rules.words, word))
  if (!refused || isExcepted(file, refused, text, rules)) return []
  return [{ violation: 'words', file, line, text: `${text}: ${refused} → ${rules.words[refused]}` }]
}

function checkText(file: string, { line, text }: Text, rules: WordRules): WordProblem[] {
  const problem = (index: number, word: string, instead: string): WordProblem[] => {
    const before = text.slice(0, index)
    const start = before.lastIndexOf('\n') + 1
    const end = text.indexOf('\n', index)
    const context = text.slice(start, end < 0 ? undefined : end).trim()
    if (isExcepted(file, word, context, rules)) return []
    return [
      {
        violation: 'words',
        file,
        line: line + before.split('\n').length - 1,
        text: `${word} → ${instead}: ${context}`,
      },
    ]
  }
  const words = [...text.matchAll(/[A-Za-z]+/g)].flatMap(({ 0: word, index }) => {
    const instead = Object.hasOwn(rules.words, word.toLowerCase()) ? rules.words[word.toLowerCase()] : undefined
    return instead ? problem(index, word.toLowerCase(), instead) : []
  })
  const phrases = Object.entries(rules.phrases).flatMap(([phrase, instead]) =>
    [...text.matchAll(new RegExp(phrase, 'gi'))].flatMap(({ 0: match, index }) => problem(index, match, instead)),
  )
  return [...words, ...phrases]
}

/** Returns the refused words in the names of a file and its folders. */
export function checkPath(file: string, rules: WordRules): WordProblem[] {
  const words = file.split(/[-/.]/).map((word) => word.toLowerCase())
  return words
    .filter((word) => Object.hasOwn(rules.words, word) && !isExcepted(file, word, file, rules))
    .map((word) => ({ violation: 'words', file, line: 1, text: `name of the file: ${word} → ${rules.words[word]}` }))
}

function isExcepted(file: string, word: string, text: string, rules: WordRules): boolean {
  return rules.exceptions.some(
    (exception) => exception.word === word && file.startsWith(exception.file) && text.includes(exception.within),
  )
}

/** Returns the problems of a Markdown page. In generated pages only words are checked. */
export function checkPage(file: string, page: string, rules: WordRules): WordProblem[] {
  const blank = (text: string) => text.replace(/[^\n]/g, ' ')
  const prose = page
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, blank)
    .replace(/^(?: {4}|\t).*$/gm, blank)
    .replace(/`[^`\n]*`/g, (code) => `x${blank(code.slice(1))}`)
  const problems = checkText(file, { line: 1, text: prose.replace(/\]\([^)]*\)/g, blank) }, rules)
  if (generatedPages.test(file)) return problems
  return [...problems, ...longSentences(file, prose), ...longLines(file, prose)]
}

function longSentences(file: string, prose: string): WordProblem[] {
  const paragraphs: Text[] = []
  let current: { line: number; text: string } | undefined
  for (const [index, text] of prose.split('\n').entries()) {
    const isNew = !text.trim() || /^\s*(?:[-*+>]|\d+\.|#+)\s/.test(text)
    if (isNew) current = undefined
    if (!text.trim() || text.trim().startsWith('|')) continue
    if (current) current.text += ` ${text.trim()}`
    else {
      current = { line: index + 1, text: text.trim() }
      paragraphs.push(current)
    }
  }
  return paragraphs.flatMap(({ line, text }) =>
    sentencesAbove(text).map((sentence) => ({ violation: 'sentences', file, line, text: sentence })),
  )
}

/** Returns the sentences that have too many words. Of links, only the text counts. */
export function sentencesAbove(text: string, most = LONGEST_SENTENCE): string[] {
  const sentences = text.replace(/\]\([^)]*\)/g, ']').split(/(?<=[.!?:])\s+(?=["'(]?[A-Z`x[])/)
  return sentences
    .map((sentence) => ({ sentence, words: sentence.split(/\s+/).filter((word) => /\w/.test(word)).length }))
    .filter(({ words }) => words > most)
    .map(({ sentence, words }) => `${words} words: ${sentence.slice(0, 80)}…`)
}

function longLines(file: string, prose: string): WordProblem[] {
  return prose.split('\n').flatMap((line, index): WordProblem[] => {
    const length = line.replace(/\]\([^)]*\)/g, ']').trimEnd().length
    if (length <= LONGEST_LINE || line.trim().startsWith('|')) return []
    return [{ violation: 'lines', file, line: index + 1, text: `${length} characters` }]
  })
}

/** Returns the too long sentences in the summaries and descriptions of an OpenAPI document. */
export function checkDescriptions(file: string, document: unknown, path = ''): WordProblem[] {
  if (typeof document !== 'object' || document === null) return []
  return Object.entries(document).flatMap(([key, value]): WordProblem[] => {
    if ((key === 'summary' || key === 'description') && typeof value === 'string')
      return sentencesAbove(value).map((text) => ({ violation: 'sentences', file, line: 1, text: `${path}: ${text}` }))
    return checkDescriptions(file, value, `${path}/${key}`)
  })
}

/** Returns the names of types that exist in more than one file of src. */
export function checkTypes(trees: readonly { readonly file: string; readonly tree: SourceFile }[]): WordProblem[] {
  const types = trees
    .filter(({ file }) => file.startsWith('src/'))
    .flatMap(({ file, tree }) =>
      tree.statements.flatMap((statement) => {
        const isType =
          isInterfaceDeclaration(statement) || isTypeAliasDeclaration(statement) || isClassDeclaration(statement)
        if (!isType || !statement.name) return []
        return [
          {
            file,
            line: tree.getLineAndCharacterOfPosition(statement.getStart(tree)).line + 1,
            name: statement.name.text,
          },
        ]
      }),
    )
  return [...Map.groupBy(types, ({ name }) => name).values()]
    .filter((places) => new Set(places.map(({ file }) => file)).size > 1)
    .flatMap((places) =>
      places.map(({ file, line, name }): WordProblem => {
        const all = places.map((place) => `${place.file}:${place.line}`).join(', ')
        return { violation: 'types', file, line, text: `${name} exists ${places.length} times: ${all}` }
      }),
    )
}

/** Returns the problems of the repository with this root. */
export function checkRepository(root: string, rules: WordRules): WordProblem[] {
  const api = new API()
  const openProjects = ['.', 'src/console'].map((folder) => join(root, folder, 'tsconfig.json')).filter(existsSync)
  const trees = api
    .updateSnapshot({ openProjects })
    .getProjects()
    .flatMap(({ rootFiles, program }) =>
      rootFiles.map((path) => ({ file: relative(root, path), tree: program.getSourceFile(path)! })),
    )
  const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'charts/**/*.md'], { cwd: root })
  const texts = globSync(
    ['crds/**/*.yaml', 'examples/**/*.{yaml,json}', 'charts/**/*.{yaml,tpl,txt}', 'test/**/*.{yaml,txt}'],
    {
      cwd: root,
    },
  )
  const paths = globSync('{src,test,bench,scripts,docs}/**', { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const problems = [
    ...paths.flatMap((file) => checkPath(file, rules)),
    ...trees.flatMap(({ file, tree }) => checkCode(file, tree, rules)),
    ...checkTypes(trees),
    ...pages.flatMap((file) => checkPage(file, read(file), rules)),
    ...texts
      .filter((file) => !foreignTexts.test(file))
      .flatMap((file) => checkText(file, { line: 1, text: read(file) }, rules)),
    ...checkDescriptions('docs/openapi.json', JSON.parse(read('docs/openapi.json'))),
  ]
  api.close()
  return problems
}

if (import.meta.main) {
  const rules = JSON.parse(readFileSync(join(import.meta.dirname, 'words.json'), 'utf8')) as WordRules
  const problems = checkRepository(process.cwd(), rules)
  for (const { violation, file, line, text } of problems) console.error(`${file}:${line} ${violation}: ${text}`)
  if (problems.length) process.exitCode = 1
}

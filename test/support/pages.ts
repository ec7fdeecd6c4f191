// Reads the documentation: pages, their code blocks, and the commands and outputs that these show.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** Returns the README and the pages of docs, as paths from the root of the repository. */
export function listPages(...patterns: readonly string[]): string[] {
  return globSync(['README.md', 'docs/*.md', 'docs/kubernetes/*.md', ...patterns], { cwd: root }).sort()
}

/** Returns the text of a file, given by its path from the root of the repository. */
export function readPage(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** A fenced code block, without the indentation of its list. */
export interface CodeBlock {
  readonly line: number
  /** The word behind the fence, or ''. */
  readonly language: string
  readonly text: string
  /** The last heading before the block, such as `## Roll back`. */
  readonly heading: string
  /** Whether only blank lines separate it from the block before. */
  readonly followsBlock: boolean
}

/** Returns the fenced code blocks of a page, in order. */
export function readCodeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let [heading, end] = ['', 0]
  for (const match of page.matchAll(/^(#+ .*)$|^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)) {
    const [block, title, indent = '', language = '', text = ''] = match
    if (title !== undefined) heading = title
    else {
      blocks.push({
        line: page.slice(0, match.index).split('\n').length,
        language,
        text: text.replace(new RegExp(`^ {0,${indent.length}}`, 'gm'), '').trimEnd(),
        heading,
        followsBlock: end > 0 && page.slice(end, match.index).trim() === '',
      })
      end = match.index + block.length
    }
  }
  return blocks
}

/** A step of a page: commands with the output that the page shows for them, or an output that the text describes. */
export interface PageStep {
  readonly page: string
  readonly line: number
  readonly heading: string
  readonly commands: readonly string[]
  readonly output?: string
}

/** Returns the commands and outputs of a page, in order. */
export function readSteps(path: string): PageStep[] {
  const steps: PageStep[] = []
  for (const { line, language, text, heading, followsBlock } of readCodeBlocks(readPage(path))) {
    const last = steps.at(-1)
    if (language === 'sh') steps.push({ page: path, line, heading, commands: splitCommands(text) })
    else if (language === 'console') steps.push({ page: path, line, heading, ...splitConsole(text) })
    else if (language === '' && followsBlock && last?.commands.length && last.output === undefined)
      steps[steps.length - 1] = { ...last, output: text }
    else if (language === '') steps.push({ page: path, line, heading, commands: [], output: text })
  }
  return steps
}

/** Splits a script into commands. An indented line continues the command before it. */
function splitCommands(script: string): string[] {
  return script
    .split(/\n(?! )/)
    .map((command) => command.replace(/ +# .*$/gm, '').trim())
    .filter((command) => command !== '')
}

/** Splits the content of a terminal: commands follow `$ `, everything else is output. */
function splitConsole(text: string): { commands: string[]; output: string } {
  const lines = text.split('\n')
  return {
    commands: lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)),
    output: lines.filter((line) => !line.startsWith('$ ')).join('\n'),
  }
}

/** Values of an output that differ from run to run. */
const variableValues: readonly [pattern: RegExp, replacement: string][] = [
  [/…/g, '[\\s\\S]*?'],
  [/\d{4}-\d\d-\d\dT[\d:.]+(?:\\\.\d+)?Z/g, '\\S+Z'],
  [/\b\d+:\d\d:\d\d(?:\s[AP]M)?/g, '\\d+:\\d\\d:\\d\\d(?:\\s[AP]M)?'],
  [/\b(?=[a-f]*\d)[0-9a-f]{8,}\b/g, '[0-9a-f]{8,}'],
  [/\b[a-z]{4}-[a-z]{4}-[a-z]{4}\b/g, '[a-z]{4}-[a-z]{4}-[a-z]{4}'],
  [/\b\d+ realms? with \d+ users?/g, '\\d+ realms? with \\d+ users?'],
  [/postgres:\/\/\S+/g, 'postgres://\\S+'],
  [/\b\d+(?:\\\.\d+)? (?:s|kB)\b/g, '\\d+(?:\\.\\d+)? (?:s|kB)'],
]

/** Returns a pattern for an output that a page shows. Times, ids, digests, durations and sizes may differ, and `…` is any text. */
export function toOutputPattern(output: string): RegExp {
  let pattern = normalizeSpaces(output).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  for (const [from, to] of variableValues) pattern = pattern.replace(from, () => to)
  return new RegExp(`^${pattern}$`, 'm')
}

/** Makes columns and lines of tables as narrow as possible, since their widths depend on values. */
export function normalizeSpaces(text: string): string {
  return text.replace(/(?<=\S) {2,}/g, '  ').replace(/ +$/gm, '')
}

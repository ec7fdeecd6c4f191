// Renders docs/cli.md, the commands and their options.
import type { Argument, Option } from 'commander'
import type { CommandEntry } from '../src/cli/command-entry.ts'
import { PRECEDENCE } from '../src/cli/commands/context.ts'
import { commands } from '../src/cli/commands.ts'
import { EXIT_CODE_MEANINGS, EXIT_CODES } from '../src/cli/exit-codes.ts'
import { sourceSettingsOptions } from '../src/cli/inputs/source-settings-options.ts'
import { describeValue, documentOptions, ownStoreOptions, storeOptions } from '../src/cli/options.ts'
import { outputFormats } from '../src/cli/output-formats.ts'

/** Options that several commands share, with the title of their section. The first group that a command has counts. */
const groups: readonly { readonly title: string; readonly text: string; readonly options: readonly Option[] }[] = [
  {
    title: 'Options of the store',
    text: 'They select the server or the store, and the administrator.',
    options: storeOptions,
  },
  {
    title: 'Options of a store without a server',
    text: 'They select a store that no server has open.',
    options: ownStoreOptions,
  },
  {
    title: 'Options of documents',
    text: '[Use variables and secrets](variables-and-secrets.md) explains `--variables`.',
    options: documentOptions,
  },
  {
    title: 'Options of a source',
    text: '[Follow a git repository](gitops.md#choose-what-happens-to-drift-and-deletions) explains them.',
    options: sourceSettingsOptions,
  },
]

const HEAD = `# Which commands and options does \`regent\` have?

This page is generated from the table of commands by \`npm run generate\`. \`regent <command> --help\` shows the same.
In this repository, the command is \`npx regent\`. After \`npm link\`, it is \`regent\` in every folder.

## Server, store and credentials

A command that needs the store finds it in this order:

${PRECEDENCE.map((line, at) => `${at + 1}. ${line}`).join('\n')}

\`--server\` names a running server, and \`--context\` one at which you have [logged in](log-in.md). \`--database\` names a PostgreSQL database, which
the command opens itself with \`--key-file\`. \`--data\` names the folder of an embedded store, or of the server that has it open.

A server requires one of these, in this order: options with credentials, variables with credentials, a context of that server. Credentials are \`--token\`,
\`--client-id\` with a key or a token, or \`--user\` and \`--password\`. For a context that you name or that is in use, variables do not count.
If a server in development mode has the data folder open, the default is admin / admin.
An option takes precedence over its variable. An empty variable counts as absent. Other users of the machine can see options, so use variables for secrets.

## Output

Results go to the standard output, hints and errors to the standard error output. \`--quiet\` suppresses hints.
Colors are used on terminals only, and \`NO_COLOR\` disables them. Tables are columns that \`awk\` and \`grep\` can read.

\`--output markdown\` is for comments on pull requests, and \`--output json\` for programs; an error is then JSON on the standard error output.
Each JSON format has a member \`formatVersion\`, and \`regent schema FORMAT\` prints its schema:

| Format | Output of |
|---|---|
${Object.entries(outputFormats)
  .map(([name, { description = '' }]) => `| \`${name}\` | ${description.replace(/^Output of |\.$/g, '')} |`)
  .join('\n')}

## Confirmations

A command that loses something asks before: \`rollback\`, \`erase\`, \`source forget\`, \`secret rotate\`, \`replace-key\`. \`--yes\` confirms it without a question.
Without a terminal, these commands require \`--yes\`. On a terminal, \`apply\` asks if its plan deletes objects or affects users.
[Guards](gitops.md#choose-what-happens-to-drift-and-deletions) block plans that lose much.

## Completion

\`source <(regent completion bash)\` completes commands, options and their values. \`zsh\` does the same with its name; for \`fish\`, run \`regent completion fish | source\`.

## Progress and cancellation

A command that takes longer than two seconds shows its progress on the standard error output: the step, the number of items, the rate and the remaining time.
On a terminal, this is one line, which is erased at the end. Without a terminal, it is a line every ten seconds.

Ctrl-C or SIGTERM cancels a command. A plan, an apply, an import or a restore is rolled back, also on a server, and the message reports what was changed before.
Once the changes of a realm are being committed, they are not cancelled: if you press Ctrl-C in that moment, \`regent history\` shows what a server applied.
A second Ctrl-C ends the command at once, without waiting for the rollback.

If the reader of a pipe ends first, such as \`head\`, the command continues without output. Its exit code is that of its work.

## Exit codes

| Code | Meaning |
|---|---|
${Object.entries(EXIT_CODE_MEANINGS)
  .map(([code, meaning]) => `| ${code} | ${meaning} |`)
  .join('\n')}

Each command exits with 0, 1, 130 or 143; its section lists other codes. If several apply, the highest is used.
`

/** Returns the page. */
export function renderCommands(): string {
  const all = commands.flatMap((entry) => listCommands('regent', entry))
  return [
    HEAD,
    '## Commands',
    '',
    ...table(
      ['Command', 'Does'],
      all.map(({ path, entry }) => [`[\`${path}\`](#${path.replaceAll(' ', '-')})`, entry.summary]),
    ),
    ...groups.flatMap(({ title, text, options }) => ['', `## ${title}`, '', text, '', ...renderOptions(options)]),
    ...all.flatMap(({ path, entry }) => ['', ...renderCommand(path, entry)]),
    '',
  ].join('\n')
}

function listCommands(parent: string, entry: CommandEntry): { path: string; entry: CommandEntry }[] {
  const path = `${parent} ${entry.name}`
  return [
    ...(entry.run ? [{ path, entry }] : []),
    ...(entry.commands ?? []).flatMap((child) => listCommands(path, child)),
  ]
}

function renderCommand(path: string, entry: CommandEntry): string[] {
  const { summary, arguments: args = [], options = [], exitCodes = [], examples = [] } = entry
  const shared: (typeof groups)[number][] = []
  let remaining = options
  for (const group of groups) {
    if (!group.options.every((option) => remaining.includes(option))) continue
    shared.push(group)
    remaining = remaining.filter((option) => !group.options.includes(option))
  }
  const links = shared.map(({ title }) => `[${title.toLowerCase()}](#${title.toLowerCase().replaceAll(' ', '-')})`)
  const usage = [path, ...args.map(renderArgument), ...(options.length ? ['[options]'] : [])].join(' ')
  return [
    `## \`${path}\``,
    '',
    `${summary}: \`${usage}\``,
    ...(examples.length ? ['', ...examples.map(([command, purpose]) => `- \`${command}\`: ${purpose}`)] : []),
    ...(args.some(({ description }) => description) ? ['', ...renderArguments(args)] : []),
    ...(remaining.length ? ['', ...renderOptions(remaining)] : []),
    ...(links.length ? ['', `It also has the ${joinWords(links)}.`] : []),
    ...(exitCodes.length ? ['', `Other exit codes: ${exitCodes.map((name) => EXIT_CODES[name]).join(', ')}.`] : []),
  ]
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and the ${words.at(-1)}`
}

function renderArgument(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

function renderArguments(args: readonly Argument[]): string[] {
  const rows = args.map((argument) => {
    const { description, defaultValue } = argument
    return [`\`${renderArgument(argument)}\``, defaultValue === undefined ? '' : `\`${defaultValue}\``, description]
  })
  return table(['Argument', 'Default', 'Meaning'], rows)
}

function renderOptions(options: readonly Option[]): string[] {
  const rows = options.map((option) => {
    const { choices, fallback = '', variable } = describeValue(option)
    const summary = choices ? `${option.description}: ${choices}` : option.description
    const required = option.mandatory ? ' (required)' : ''
    return [`\`${option.flags}\``, variable ? `\`${variable}\`` : '', fallback, summary + required]
  })
  return table(['Option', 'Variable', 'Default', 'Meaning'], rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)]
}

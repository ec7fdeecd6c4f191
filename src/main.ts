// The command line. The table of commands is in cli/commands.ts.
import { Command, type Option } from 'commander'
import type { CommandEntry } from './cli/command-entry.ts'
import { commands } from './cli/commands.ts'
import { setExitCode } from './cli/exit-codes.ts'
import { optionGroups, renderOptionHelp } from './cli/options.ts'
import { setQuiet } from './cli/terminal/hint.ts'
import { handleSignals, Interrupted } from './cli/terminal/interruption.ts'
import { version } from './lib/version.ts'

/** Whether the command prints JSON, errors included. */
const isJsonRequested = () => / --output[ =]json( |$)/.test(` ${process.argv.slice(2).join(' ')}`)

/** Adds a command and its subcommands to the parser. */
function add(parent: Command, path: string, entry: CommandEntry): void {
  const command = parent
    .command(entry.name)
    .description(entry.summary)
    .showHelpAfterError(!isJsonRequested() && `"${path} --help" shows how to use it.`)
  for (const argument of entry.arguments ?? []) command.addArgument(argument)
  for (const option of orderOptions(entry.options ?? [])) command.addOption(option)
  for (const child of entry.commands ?? []) add(command, `${path} ${child.name}`, child)
  if (entry.examples) command.addHelpText('after', renderExamples(entry.examples))
  const { run, arguments: { length } = [] } = entry
  if (!run) return
  command.option('-q, --quiet', 'Print results and errors only')
  command.action((...values) => {
    const { quiet, ...flags } = values[length]
    if (quiet) setQuiet()
    return run(values.slice(0, length), flags)
  })
}

/** Returns the options of a command before those that many commands share, which the help lists in groups. */
function orderOptions(options: readonly Option[]): Option[] {
  for (const { title, options: members } of optionGroups) for (const option of members) option.helpGroup(`${title}:`)
  return options.toSorted((a, b) => Number(a.helpGroupHeading !== undefined) - Number(b.helpGroupHeading !== undefined))
}

function renderExamples(examples: NonNullable<CommandEntry['examples']>): string {
  const lines = examples.flatMap(([command, purpose]) => [`  # ${purpose}`, `  ${command}`])
  return ['', 'Examples:', ...lines].join('\n')
}

const program = new Command('regent')
  .description('An identity administration server whose realms are declared.')
  .version(version, '-V, --version', 'Print the version')
  .helpOption('-h, --help', 'Show the help of the command')
  .helpCommand('help [command]', 'Show the help of a command')
  .showHelpAfterError(!isJsonRequested() && '"regent --help" lists the commands.')
  .configureOutput({ outputError: (message, write) => write(rephrase(message)) })
  // Of 80 columns, what is beside the longest flag must do.
  .configureHelp({ sortSubcommands: false, minWidthToWrap: 25, optionDescription: renderOptionHelp })
/** Returns a message of the parser in the words of other messages, or as JSON. */
function rephrase(message: string): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/^command-argument value '(.*)' is invalid for argument '(.*)'\./, 'The argument <$2> cannot be $1.')
    .replace(/^option '(-\S+).*' argument '(.*)' is invalid\./, '$1: $2 is not valid.')
    .replace(/^missing required argument '(.*)'/, 'The argument <$1> is missing.')
    .replace(/^[a-z]/, (letter) => letter.toUpperCase())
  return isJsonRequested() && message.startsWith('error: ')
    ? `${JSON.stringify({ formatVersion: 1, error: { message: text.trim(), problems: [] } }, null, 2)}\n`
    : text
}

for (const entry of commands) {
  if (entry.group) program.commandsGroup(entry.group)
  add(program, `regent ${entry.name}`, entry)
}

// The reader of a pipe may end before the output, such as `head`. That is no error: the work goes on, and decides the exit code.
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
handleSignals()

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof Interrupted) {
    console.error(error.describe())
    process.exit(error.exitCode)
  }
  setExitCode('error')
  // Loaded on demand: help starts faster without it.
  const { renderError, toErrorJson } = await import('./cli/render-error.ts')
  console.error(isJsonRequested() ? JSON.stringify(toErrorJson(error), null, 2) : renderError(error))
}

// The command line. The table of commands is in cli/commands.ts.
import { Command } from 'commander'
import { type CommandEntry, commands } from './cli/commands.ts'
import { setExitCode } from './cli/exit-codes.ts'
import { renderOptionHelp } from './cli/options.ts'
import { handleSignals, Interrupted } from './cli/terminal/interruption.ts'
import { version } from './lib/version.ts'

/** Adds a command and its subcommands to the parser. */
function add(parent: Command, path: string, entry: CommandEntry): void {
  const command = parent.command(entry.name).description(entry.summary).showHelpAfterError(`(see ${path} --help)`)
  for (const argument of entry.arguments ?? []) command.addArgument(argument)
  for (const option of entry.options ?? []) command.addOption(option)
  for (const child of entry.commands ?? []) add(command, `${path} ${child.name}`, child)
  const { run, arguments: { length } = [] } = entry
  if (run) command.action((...values) => run(values.slice(0, length), values[length]))
}

const program = new Command('regent')
  .description('An identity administration server whose realms are declared.')
  .version(version, '-V, --version', 'Print the version')
  .helpOption('-h, --help', 'Show the help of the command')
  .helpCommand('help [command]', 'Show the help of a command')
  .showHelpAfterError('(regent --help lists the commands)')
  // Of 80 columns, what is beside the longest flag must do.
  .configureHelp({ sortSubcommands: false, minWidthToWrap: 25, optionDescription: renderOptionHelp })
for (const entry of commands) add(program, `regent ${entry.name}`, entry)

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
  const { renderError } = await import('./cli/render-error.ts')
  console.error(renderError(error))
}

// Prints the script with which a shell completes commands, options and their values. It contains the whole table of commands, so that
// completing starts no process.
import type { Option } from 'commander'
import type { CommandEntry } from '../command-entry.ts'

/** The shells that have a script. */
export type Shell = 'bash' | 'zsh' | 'fish'

/** A command with everything that can follow it. */
interface CompletedCommand {
  /** The words after `regent`: `source list`. */
  readonly path: string
  readonly summary: string
  readonly subcommands: readonly CommandEntry[]
  readonly options: readonly Option[]
}

/** `regent completion`: prints the script of a shell. `commands`: the table of commands. */
export function completion(shell: Shell, commands: readonly CommandEntry[]): void {
  const all = commands.flatMap((entry) => listCompletedCommands(entry, ''))
  const root: CompletedCommand = { path: '', summary: '', subcommands: commands, options: [] }
  console.log({ bash: renderBash, zsh: renderZsh, fish: renderFish }[shell]([root, ...all]))
}

function listCompletedCommands(entry: CommandEntry, parent: string): CompletedCommand[] {
  const path = parent ? `${parent} ${entry.name}` : entry.name
  const { summary, commands: subcommands = [], options = [] } = entry
  return [
    { path, summary, subcommands, options },
    ...subcommands.flatMap((child) => listCompletedCommands(child, path)),
  ]
}

/** Returns the words that can follow a command. */
const listWords = ({ subcommands, options }: CompletedCommand): string[] => [
  ...subcommands.map(({ name }) => name),
  ...options.map(({ long }) => long!),
  '--help',
]

/** Returns the options with fixed values, and these values. */
const listChoices = (commands: readonly CompletedCommand[]) =>
  commands.flatMap(({ path, options }) =>
    options.flatMap(({ long, argChoices }) => (argChoices ? [{ path, option: long!, choices: argChoices }] : [])),
  )

function renderBash(commands: readonly CompletedCommand[]): string {
  const words = commands.map((command) => `    "${command.path}") words="${listWords(command).join(' ')}" ;;`)
  const choices = listChoices(commands).map(
    ({ path, option, choices }) => `    "${path} ${option}") words="${choices.join(' ')}" ;;`,
  )
  return `# Completion of regent for bash. Load it with: source <(regent completion bash)
_regent() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    case "\${path:+$path }$word" in
${renderPathCase(commands)}
      *) break ;;
    esac
  done
  case "$path $previous" in
${choices.join('\n')}
    *) case "$path" in
${words.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _regent regent`
}

/** Renders the branch that recognizes the words of a command. */
function renderPathCase(commands: readonly CompletedCommand[]): string {
  const paths = commands.flatMap(({ path }) => (path ? [`"${path}"`] : []))
  return `      ${paths.join('|')}) path="\${path:+$path }$word" ;;`
}

function renderZsh(commands: readonly CompletedCommand[]): string {
  const describe = (name: string, text: string) => `'${name}:${text.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`
  const words = commands.map((command) => {
    const described = [
      ...command.subcommands.map(({ name, summary }) => describe(name, summary)),
      ...command.options.map(({ long, description }) => describe(long!, description)),
      describe('--help', 'Show the help of the command'),
    ]
    return `    "${command.path}") words=(${described.join(' ')}) ;;`
  })
  const choices = listChoices(commands).map(
    ({ path, option, choices }) => `    "${path} ${option}") words=(${choices.join(' ')}) ;;`,
  )
  return `#compdef regent
# Completion of regent for zsh. Load it with: source <(regent completion zsh)
_regent() {
  local command_path="" word
  local -a words_before words
  words_before=("\${(@)words[2,CURRENT-1]}")
  local previous="\${words_before[-1]}"
  for word in $words_before; do
    case "$word" in -*) break ;; esac
    case "\${command_path:+$command_path }$word" in
${renderPathCase(commands).replaceAll('path', 'command_path')}
      *) break ;;
    esac
  done
  words=()
  case "$command_path $previous" in
${choices.join('\n')}
    *) case "$command_path" in
${words.join('\n')}
    esac ;;
  esac
  _describe 'regent' words
  _files
}
compdef _regent regent`
}

function renderFish(commands: readonly CompletedCommand[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = commands.flatMap(({ path, subcommands, options }) => {
    const condition = path
      ? `-n ${quote(
          path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and '),
        )}`
      : '-n __fish_use_subcommand'
    return [
      ...subcommands.map(({ name, summary }) => `complete -c regent ${condition} -f -a ${name} -d ${quote(summary)}`),
      ...options.map(({ long, short, description, argChoices, required }) =>
        [
          `complete -c regent ${condition} -l ${long!.replace(/^--/, '')}`,
          ...(short ? [`-s ${short.replace(/^-/, '')}`] : []),
          ...(argChoices ? [`-x -a ${quote(argChoices.join(' '))}`] : required ? ['-r'] : []),
          `-d ${quote(description)}`,
        ].join(' '),
      ),
    ]
  })
  return ['# Completion of regent for fish. Load it with: regent completion fish | source', ...lines].join('\n')
}

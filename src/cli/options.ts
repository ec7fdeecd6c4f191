// Options that several commands take.
import { InvalidArgumentError, Option } from 'commander'
import { type Setting, variables as variableList } from '../config.ts'

/** Returns an option whose value is used as it is. */
export function option(flags: string, description: string): Option {
  return new Option(flags, description)
}

/** Returns an option whose value is one of a few. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values)
}

/** Returns an option that may be given several times, each time with one value. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, earlier: string[] = []) => [...earlier, value])
}

/** Returns an option whose value is a whole number from 1 on. */
export function count(flags: string, description: string, byDefault: number): Option {
  return new Option(flags, description).argParser(wholeNumber).default(byDefault)
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 on.')
  return Number(text)
}

/** Returns the option for the form of the output: text, JSON, and any more. */
export function output(...more: string[]): Option {
  return choice('--output <format>', 'form of the output', ['text', 'json', ...more]).default('text')
}

/** Returns the option for YAML or JSON. */
export function fileFormat(description: string): Option {
  return choice('--output <format>', description, ['yaml', 'json']).default('yaml')
}

/** Returns the option for a setting of the server. */
export function settingOption({ flag, placeholder, description, variable }: Setting): Option {
  const flags = placeholder === undefined ? flag : `${flag} <${placeholder}>`
  return (flag === '--source' ? repeatable : option)(flags, `${description} (${variable})`)
}

/** Options of a command that needs the store: of a server, of a database, or of a folder. */
export const storeOptions: readonly Option[] = [
  option('--server <URL>', 'talk to the running server at this address (REGENT_SERVER)'),
  option('--database <URL>', 'open this PostgreSQL database (REGENT_DATABASE)'),
  option('--data <folder>', 'open the embedded store in this folder (REGENT_DATA; default: data)'),
  option('--key-file <file>', 'file with the key of the secrets at rest (REGENT_KEY_FILE)'),
  option('--token <token>', 'access token for the server (REGENT_TOKEN)'),
  option('--user <name>', 'administrator to log in as (REGENT_USER)'),
  option('--password <password>', 'password of the administrator (REGENT_PASSWORD)'),
]

/** Options of a command on a whole store, where no server runs. */
export const ownStoreOptions: readonly Option[] = [
  option('--database <URL>', 'the PostgreSQL database (REGENT_DATABASE)'),
  option('--data <folder>', 'the folder of the embedded store (REGENT_DATA; default: data)'),
  option('--key-file <file>', 'file with the key of the secrets at rest (REGENT_KEY_FILE)'),
]

/** Options of a command that reads documents. */
export const documentOptions: readonly Option[] = [
  fromVariable(
    choice('--unknown-fields <mode>', 'treat unknown fields as an error or a warning', ['error', 'warn']).default(
      'error',
    ),
    'REGENT_UNKNOWN_FIELDS',
  ),
  fromVariable(
    option(
      '--variables <list>',
      'variables and folders that documents may use, such as env:ACME_*,file:secrets (REGENT_VARIABLES; default: none)',
    ).argParser(parseVariables),
    'REGENT_VARIABLES',
  ),
]

/** The option for the name of a source. */
export const sourceNameOption = option('--name <name>', 'name of the source (default: its path or URL)')

/** The option that permits a plan after which nobody could administer every realm. */
export const allowLockOut = option('--allow-lock-out', 'permit removing the last administrator of every realm')

/** Lets the environment variable give the option's value. An empty variable counts as absent. */
function fromVariable(option: Option, variable: string): Option {
  return process.env[variable] ? option.env(variable) : option
}

function parseVariables(text: string): readonly string[] | undefined {
  const { success, data, error } = variableList.safeParse(text)
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`)
  return data
}

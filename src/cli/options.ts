// Options that several commands take. Help texts are imperative, have at most 60 characters, and end without a full stop.
import { InvalidArgumentError, Option } from 'commander'
import { type Setting, variables as variableList } from '../config.ts'

/** An option whose value may come from an environment variable, which the command reads, if the flag is absent. */
export class CommandOption extends Option {
  /** The name of the environment variable. */
  readonly variable: string | undefined
  /** The value that the command uses if both are absent, in words. */
  readonly fallback: string | undefined

  constructor(flags: string, description: string, { variable, fallback }: ValueOrigins = {}) {
    super(flags, description)
    this.variable = variable
    this.fallback = fallback
  }
}

/** The environment variable and the default of an option. */
interface ValueOrigins {
  readonly variable?: string | undefined
  readonly fallback?: string | undefined
}

/** Returns an option whose value is used as it is. */
export function option(flags: string, description: string, origins?: ValueOrigins): CommandOption {
  return new CommandOption(flags, description, origins)
}

/** Returns the choices, the default and the environment variable of an option as texts. */
export function describeValue(option: Option): { choices?: string; fallback?: string; variable?: string } {
  const { variable, fallback = formatDefault(option) } = option as Partial<CommandOption> & Option
  return {
    ...(option.argChoices && { choices: option.argChoices.join(', ') }),
    ...(fallback !== undefined && { fallback }),
    ...((variable ?? option.envVar) && { variable: variable ?? option.envVar }),
  }
}

function formatDefault({ defaultValue, negate }: Option): string | undefined {
  return defaultValue === undefined || negate ? undefined : String(defaultValue)
}

/** Returns the help text of an option: its description, and the origins of its value in parentheses. */
export function renderOptionHelp(option: Option): string {
  const { choices, fallback, variable } = describeValue(option)
  const details = [choices && `choices: ${choices}`, fallback && `default: ${fallback}`, variable]
    .filter((detail) => detail !== undefined)
    .join('; ')
  return details ? `${option.description} (${details})` : option.description
}

/** Returns an option whose value is one of a few. */
export function choice(
  flags: string,
  description: string,
  { values, ...origins }: ValueOrigins & { readonly values: readonly string[] },
): Option {
  return option(flags, description, origins).choices(values)
}

/** Returns an option that may be given several times, each time with one value. */
export function repeatable(flags: string, description: string, origins?: ValueOrigins): Option {
  return option(flags, description, origins).argParser((value: string, earlier: string[] = []) => [...earlier, value])
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
  return choice('--output <format>', 'Choose the form of the output', { values: ['text', 'json', ...more] }).default(
    'text',
  )
}

/** Returns the option `--output` with the values yaml and json. */
export function fileFormatOption(description: string): Option {
  return choice('--output <format>', description, { values: ['yaml', 'json'] }).default('yaml')
}

/** Returns the option for a setting of the server. */
export function settingOption(setting: Setting): Option {
  const { flag, placeholder, summary, variable } = setting
  const flags = placeholder === undefined ? flag : `${flag} <${placeholder}>`
  const origins = { variable, fallback: formatSettingDefault(setting) }
  return flag === '--source' ? repeatable(flags, summary, origins) : option(flags, summary, origins)
}

function formatSettingDefault(setting: Setting): string | undefined {
  if (setting.development !== undefined) return `${setting.development} in development mode`
  return setting.default === undefined || setting.default === false ? undefined : String(setting.default)
}

/** The option that refuses what is not enforced. */
export const strict: Option = option('--strict', 'Refuse declared values that are not enforced')

/** Options of a command on a store that no server has open. */
export const ownStoreOptions: readonly Option[] = [
  option('--database <URL>', 'Open this PostgreSQL database', { variable: 'REGENT_DATABASE' }),
  option('--data <folder>', 'Open the embedded store in this folder', { variable: 'REGENT_DATA', fallback: 'data' }),
  option('--key-file <file>', 'Read the key of the store from this file', {
    variable: 'REGENT_KEY_FILE',
    fallback: 'key in the data folder',
  }),
]

const realmOfLogin = { variable: 'REGENT_LOGIN_REALM', fallback: 'master' }

/** Options of a client with a service account that logs in. */
export const clientLoginOptions: readonly Option[] = [
  option('--client-id <id>', 'Log in as this client', { variable: 'REGENT_CLIENT_ID' }),
  option('--oidc-token <origin>', 'Send a token of github, gitlab, kubernetes or a file', {
    variable: 'REGENT_OIDC_TOKEN',
  }),
  option('--private-key-file <file>', 'Sign with this key of the client', { variable: 'REGENT_PRIVATE_KEY_FILE' }),
  option('--client-secret-file <file>', 'Send the client secret in this file', {
    variable: 'REGENT_CLIENT_SECRET_FILE',
  }),
]

const loginOptions: readonly Option[] = [
  option('--token <token>', 'Use this access token for the server', { variable: 'REGENT_TOKEN' }),
  option('--user <name>', 'Log in as this administrator', { variable: 'REGENT_USER' }),
  option('--password <password>', 'Log in with this password', { variable: 'REGENT_PASSWORD' }),
  option('--login-realm <realm>', 'Log in at this realm', realmOfLogin),
  ...clientLoginOptions,
]

/** Options of a command that needs the store: of a server, of a database, or of a folder. */
export const storeOptions: readonly Option[] = [
  option('--server <URL>', 'Use the running server at this URL', { variable: 'REGENT_SERVER' }),
  option('--context <name>', 'Use the server of this context', { variable: 'REGENT_CONTEXT', fallback: 'that in use' }),
  ...ownStoreOptions,
  ...loginOptions,
]

/** Options for the credentials at a Keycloak server that a command reads. */
export const otherServerOptions: readonly Option[] = [
  option('--from-user <name>', 'Log in as this administrator of that server', { variable: 'REGENT_FROM_USER' }),
  option('--from-password <password>', 'Log in with this password', { variable: 'REGENT_FROM_PASSWORD' }),
  option('--from-token <token>', 'Use this access token for that server', { variable: 'REGENT_FROM_TOKEN' }),
  option('--from-client <client>', 'Log in with this client').default('admin-cli'),
  option('--from-client-secret <secret>', 'Authenticate the client with this secret', {
    variable: 'REGENT_FROM_CLIENT_SECRET',
  }),
  option('--from-realm <realm>', 'Log in at this realm').default('master'),
]

/** Options of a command that uses a server only if `--server` names one. */
export const serverOptions: readonly Option[] = [
  option('--server <URL>', 'Check against the realms of this server', { fallback: 'none' }),
  ...loginOptions,
]

/** Options of `regent version`, which select the server whose version it prints. */
export const serverVersionOptions: readonly Option[] = [
  option('--server <URL>', 'Print the version of this server too', { variable: 'REGENT_SERVER' }),
  ...loginOptions,
]

/** Options of a command that reads documents. */
export const documentOptions: readonly Option[] = [
  fromVariable(
    choice('--unknown-fields <mode>', 'Choose the severity of unknown fields', {
      values: ['error', 'warn'],
      variable: 'REGENT_UNKNOWN_FIELDS',
    }).default('error'),
    'REGENT_UNKNOWN_FIELDS',
  ),
  fromVariable(
    option('--variables <list>', 'Allow documents these variables: env:A_*,file:folder', {
      variable: 'REGENT_VARIABLES',
      fallback: 'none',
    }).argParser(parseVariables),
    'REGENT_VARIABLES',
  ),
  option('--replace-variables', 'Replace ${NAME} too, as an import of Keycloak does'),
  option('--age-key-file <file>', 'Decrypt documents with the age keys in this file', {
    variable: 'REGENT_AGE_KEY_FILE',
    fallback: 'SOPS_AGE_KEY and SOPS_AGE_KEY_FILE',
  }),
]

/** The option that confirms without a question. */
export const yesOption: Option = option('--yes', 'Confirm without asking, as is needed without a terminal')

/** Options for the extent of a printed plan or outcome. */
export const outcomeOptions: readonly Option[] = [
  option('--summary', 'Show only numbers of objects by kind'),
  option('--full', 'Show each object and each value in full').conflicts('summary'),
  option('--target <path>', 'Show only this part: REALM/clients/NAME'),
  option('--verbose', 'Show positions of fields, and lint findings'),
]

/** The option for the environment whose variables and overlays apply. */
export const environmentOption: Option = option('--environment <name>', 'Use this environment of regent.yaml', {
  variable: 'REGENT_ENVIRONMENT',
})

/** The options for the identity of a source. */
export const identityOptions: readonly Option[] = [
  option('--name <name>', 'Name the source', { fallback: 'name in regent.yaml, or git URL and folder' }),
  environmentOption,
]

/** Options that many commands share, by the title under which the help lists them. */
export const optionGroups: readonly { readonly title: string; readonly options: readonly Option[] }[] = [
  { title: 'Options of documents', options: [...identityOptions, ...documentOptions] },
  { title: 'Options of the server or store', options: [...storeOptions, ...serverOptions, ...serverVersionOptions] },
]

/** The option that permits a plan after which nobody could administer every realm. */
export const allowLockOut = option('--allow-lock-out', 'Permit removing the last administrator')

/** Lets the environment variable give the option's value. An empty variable counts as absent. */
function fromVariable(option: Option, variable: string): Option {
  return process.env[variable] ? option.env(variable) : option
}

function parseVariables(text: string): readonly string[] | undefined {
  const { success, data, error } = variableList.safeParse(text)
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`)
  return data
}

// Runs git as a child process: its configuration and environment, its credentials, and the reasons of its failures.
import { type ExecFileException, execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { SourceError } from './file-source.ts'
import type { GitAddress, GitCredentials } from './git-address.ts'

/** A request to the server of a repository that failed. A later attempt may succeed. */
export class RemoteError extends SourceError {}

/** Runs git and returns its standard output. Throws the error that `toError` creates from the reason of a failure. */
export type RunGit = (
  args: readonly string[],
  toError: (reason: string) => Error,
  settings?: GitCommandSettings,
) => Promise<string>

/** Settings of one git command. */
export interface GitCommandSettings {
  /** Further environment variables. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Credentials for the host of the address. Default: those of the address. */
  readonly credentials?: GitCredentials | undefined
}

/** Seconds after which a command is killed. */
const DEFAULT_TIMEOUT = 5 * 60

// Symbolic links are not followed, hooks are not run, and files are read as they were committed.
const SAFE_CONFIG = {
  'core.symlinks': 'false',
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'core.autocrlf': 'false',
  'gc.autoDetach': 'false',
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '30',
}

/**
 * The `GIT_…` variables that git inherits. Others are removed: in a git hook, for instance, they point to another repository.
 */
const INHERITED_VARIABLES = /^GIT_(SSH|SSL|CONFIG|ASKPASS|PROXY|HTTP)/
/** The `GIT_…` variables that git inherits where the source has its own keys: no credentials of the server's account. */
const INHERITED_VARIABLES_WITH_KEYS = /^GIT_(SSL|PROXY|HTTP)/

/** Options of the git processes for a source. */
export interface GitOptions {
  readonly signal?: AbortSignal | undefined
  /** Seconds after which a command is killed. Default: 300. */
  readonly timeout?: number | undefined
  /** Default: git uses the credentials of the server's account. */
  readonly keyFiles?: KeyFiles | undefined
  /** The file with the CA certificates that git accepts. Default: git's own, or those of its environment. */
  readonly authoritiesFile?: string | undefined
}

/** Files with the keys of a source. With them, git uses no credentials of the server's account. */
export interface KeyFiles {
  /** Files with the private key and the known hosts. */
  readonly ssh?: { readonly identity: string; readonly knownHosts: string } | undefined
}

/** Returns a function that runs git in the repository folder, with the credentials of the address. */
export function createGit(
  folder: string,
  address: GitAddress,
  { signal, timeout = DEFAULT_TIMEOUT, keyFiles, authoritiesFile }: GitOptions,
): RunGit {
  const config = toConfigOptions(SAFE_CONFIG)
  const baseEnv: NodeJS.ProcessEnv = {
    ...(keyFiles ? createIsolatedEnv(folder) : inheritEnv(INHERITED_VARIABLES)),
    ...(authoritiesFile !== undefined && { GIT_SSL_CAINFO: authoritiesFile }),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: address.protocol,
    // Git runs this in a shell: REGENT_GIT_SSH adds the options of one connection.
    GIT_SSH_COMMAND: `${renderSshCommand(keyFiles)} -o BatchMode=yes -o ConnectTimeout=20 $REGENT_GIT_SSH`,
    REGENT_GIT_SSH: '',
  }
  return async (args, toError, { env, credentials = address.credentials } = {}) => {
    try {
      const run = promisify(execFile)('git', [`--git-dir=${folder}`, ...config, ...args], {
        env: { ...baseEnv, ...createCredentialEnv(address.url, credentials, baseEnv), ...env },
        timeout: timeout * 1000,
        maxBuffer: 64 * 1024 * 1024,
        ...(signal && { signal }),
      })
      return (await run).stdout
    } catch (error) {
      const { code, killed, stderr = '' }: Partial<ExecFileException> = error instanceof Error ? error : {}
      if (code === 'ENOENT') throw new SourceError('git sources need the command git, which was not found. Install it.')
      if (code === 'ABORT_ERR') throw toError('git was interrupted')
      // The folder's name is random, and the reason must be the same each time.
      throw toError(killed ? `git timed out after ${timeout} s` : parseReason(stderr.replaceAll(dirname(folder), '')))
    }
  }
}

/** Returns `-c` options of git for the configuration. */
export function toConfigOptions(config: Readonly<Record<string, string>>): string[] {
  return Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Returns the environment of this process, of the `GIT_…` variables only those that match. */
function inheritEnv(gitVariables: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || gitVariables.test(name)),
  )
}

/** Returns an environment without the keys, passwords, credential helpers and agents of the server's account. */
function createIsolatedEnv(home: string): NodeJS.ProcessEnv {
  const { SSH_AUTH_SOCK: _, SSH_ASKPASS: __, ...env } = inheritEnv(INHERITED_VARIABLES_WITH_KEYS)
  return { ...env, HOME: home, XDG_CONFIG_HOME: home, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull }
}

function renderSshCommand(keyFiles: KeyFiles | undefined): string {
  if (!keyFiles) return process.env.GIT_SSH_COMMAND ?? 'ssh'
  const { identity = devNull, knownHosts = devNull } = keyFiles.ssh ?? {}
  const options = [
    ...['IdentitiesOnly=yes', 'IdentityAgent=none', 'StrictHostKeyChecking=yes', 'UpdateHostKeys=no'],
    ...[`UserKnownHostsFile=${knownHosts}`, `GlobalKnownHostsFile=${devNull}`],
  ]
  return ['ssh', '-F', 'none', '-i', identity, ...options.flatMap((option) => ['-o', option])].map(quote).join(' ')
}

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

/**
 * Returns variables that configure a credential helper for the host of the address. On the command line, other users of the
 * machine would see the password; in the URL, error messages would contain it. Other helpers, which might store it, are disabled.
 */
function createCredentialEnv(
  url: string,
  credentials: GitCredentials | undefined,
  { GIT_CONFIG_COUNT = '0' }: NodeJS.ProcessEnv,
) {
  if (!credentials) return {}
  const index = Number(GIT_CONFIG_COUNT)
  const name = `credential.${new URL(url).origin}.helper`
  const print = `printf 'username=%s\\npassword=%s\\n' "$REGENT_GIT_USER" "$REGENT_GIT_PASSWORD"`
  return {
    GIT_CONFIG_COUNT: String(index + 2),
    [`GIT_CONFIG_KEY_${index}`]: name,
    [`GIT_CONFIG_VALUE_${index}`]: '',
    [`GIT_CONFIG_KEY_${index + 1}`]: name,
    [`GIT_CONFIG_VALUE_${index + 1}`]: `!f() { test "$1" = get && ${print}; }; f`,
    REGENT_GIT_USER: credentials.user,
    REGENT_GIT_PASSWORD: credentials.password,
  }
}

/** Returns the error messages of git in one line, without the parts that vary between attempts. */
function parseReason(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) =>
      line
        .replace(/^(fatal|error|remote): /, '')
        .replace(/ after \d+ ms/, '')
        .replace(/\p{Cc}/gu, '')
        .trim(),
    )
    .filter((line) => line !== '' && !/^(hint:|Please make sure you have|and the repository exists)/.test(line))
  return lines.join('; ').slice(0, 500) || 'git gave no reason'
}

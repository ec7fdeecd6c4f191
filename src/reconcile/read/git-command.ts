// Git as a process of its own: what it may do, whom it may ask, and what its failures mean.
import { execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { SourceError } from './file.ts'
import type { GitAddress } from './git-address.ts'

/** The server of a repository did not give what it was asked for: perhaps it does later. */
export class RemoteError extends SourceError {}

/** Runs git; gives what it prints. Throws what `refused` makes of its complaints. */
export type Git = (
  args: readonly string[],
  refused: (reason: string) => Error,
  env?: NodeJS.ProcessEnv,
) => Promise<string>

/** Seconds that one command may take. */
const PATIENCE = 5 * 60

// No link of a repository leads out of it, nothing in it is run, and its texts are as they were committed.
const CAREFUL = {
  'core.symlinks': 'false',
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'core.autocrlf': 'false',
  'gc.autoDetach': 'false',
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '30',
}

/** What a repository of its own may not be told by whoever started this process: a hook of another one, for instance. */
const KEPT = /^GIT_(SSH|SSL|CONFIG|ASKPASS|PROXY|HTTP)/
/** What remains of that where it logs in with nothing but what it brings: who may be asked, and by what way. */
const KEPT_APART = /^GIT_(SSL|PROXY|HTTP)/

/** How git is run for a source. */
export interface GitRun {
  readonly signal?: AbortSignal | undefined
  /** Seconds that one command may take. */
  readonly timeout?: number | undefined
  /** Absent: git may log in with all that whoever runs the server has set up. */
  readonly apart?: Apart | undefined
}

/** What a source brings itself: it logs in with nothing else. */
export interface Apart {
  /** For ssh: files with the private key, and with the hosts that are known. */
  readonly ssh?: { readonly identity: string; readonly knownHosts: string } | undefined
}

/** Git on the repository in the folder, for one address. */
export function gitIn(folder: string, address: GitAddress, { signal, timeout = PATIENCE, apart }: GitRun): Git {
  const settings = Object.entries(CAREFUL).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const usual: NodeJS.ProcessEnv = {
    ...(apart ? environmentApart(folder) : environment(KEPT)),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: address.protocol,
    // Git has a shell run it: a connection may have options of its own.
    GIT_SSH_COMMAND: `${sshCommand(apart)} -o BatchMode=yes -o ConnectTimeout=20 $REGENT_GIT_SSH`,
    REGENT_GIT_SSH: '',
  }
  Object.assign(usual, credentialsOf(address, usual))
  return async (args, refused, env) => {
    try {
      const run = promisify(execFile)('git', [`--git-dir=${folder}`, ...settings, ...args], {
        env: { ...usual, ...env },
        timeout: timeout * 1000,
        maxBuffer: 64 * 1024 * 1024,
        ...(signal && { signal }),
      })
      return (await run).stdout
    } catch (error) {
      const { code, killed, stderr = '' } = error as { code?: unknown; killed?: boolean; stderr?: string }
      if (code === 'ENOENT')
        throw new SourceError('a source in git needs the command git, which is not there: install it')
      if (code === 'ABORT_ERR') throw refused('it was interrupted')
      // Folders are called otherwise each time.
      throw refused(killed ? `git did not end within ${timeout} s` : reasonIn(stderr.replaceAll(dirname(folder), '')))
    }
  }
}

function environment(kept: RegExp): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || kept.test(name))
  return Object.fromEntries(own)
}

/** Where whoever runs the server is at home are keys, passwords and helpers, and an agent may have more. */
function environmentApart(home: string): NodeJS.ProcessEnv {
  const { SSH_AUTH_SOCK: _, SSH_ASKPASS: __, ...own } = environment(KEPT_APART)
  return { ...own, HOME: home, XDG_CONFIG_HOME: home, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull }
}

function sshCommand(apart: Apart | undefined): string {
  if (!apart) return process.env.GIT_SSH_COMMAND ?? 'ssh'
  const { identity = devNull, knownHosts = devNull } = apart.ssh ?? {}
  const options = [
    ...['IdentitiesOnly=yes', 'IdentityAgent=none', 'StrictHostKeyChecking=yes', 'UpdateHostKeys=no'],
    ...[`UserKnownHostsFile=${knownHosts}`, `GlobalKnownHostsFile=${devNull}`],
  ]
  return ['ssh', '-F', 'none', '-i', identity, ...options.flatMap((one) => ['-o', one])].map(quoted).join(' ')
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

/**
 * Git asks for them by a helper, and for this host only: on a command line others would see them, and in a URL messages
 * would hold them. It asks no other helper, which might keep them.
 */
function credentialsOf({ url, credentials }: GitAddress, { GIT_CONFIG_COUNT = '0' }: NodeJS.ProcessEnv) {
  if (!credentials) return {}
  const at = Number(GIT_CONFIG_COUNT)
  const name = `credential.${new URL(url).origin}.helper`
  const tell = `printf 'username=%s\\npassword=%s\\n' "$REGENT_GIT_USER" "$REGENT_GIT_PASSWORD"`
  return {
    GIT_CONFIG_COUNT: String(at + 2),
    [`GIT_CONFIG_KEY_${at}`]: name,
    [`GIT_CONFIG_VALUE_${at}`]: '',
    [`GIT_CONFIG_KEY_${at + 1}`]: name,
    [`GIT_CONFIG_VALUE_${at + 1}`]: `!f() { test "$1" = get && ${tell}; }; f`,
    REGENT_GIT_USER: credentials.user,
    REGENT_GIT_PASSWORD: credentials.password,
  }
}

/** What git complains about, in one line that is the same each time. */
function reasonIn(stderr: string): string {
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
  return lines.join('; ').slice(0, 500) || 'git gives no reason'
}

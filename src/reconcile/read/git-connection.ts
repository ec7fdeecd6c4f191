// Connections of git to repositories whose addresses others declare: only to the IP address that was checked, even if DNS changes.
import { isIP, isIPv6 } from 'node:net'
import type { Outbound } from '../../lib/http/outbound.ts'
import type { GitAddress } from './git-address.ts'
import type { RunGit } from './git-command.ts'
import type { GithubApp } from './github-app.ts'

/** Options and environment variables of git for one connection. */
export interface PinnedConnection {
  readonly options: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Options of git commands that connect to the repository's server. */
export interface RemoteGitOptions {
  /** Restricts the addresses of the server. Default: any address. */
  readonly outbound?: Outbound | undefined
  /** Authenticates at the server. Default: the credentials of the address. */
  readonly githubApp?: GithubApp | undefined
}

/** Returns a function that runs git commands which connect to the repository's server. */
export function createRemoteGit(git: RunGit, address: GitAddress, { outbound, githubApp }: RemoteGitOptions): RunGit {
  return async (args, toError) => {
    const explain = (error: Error) => {
      throw toError(error.message)
    }
    const pinned = outbound && (await pinConnection(address, outbound).catch(explain))
    const credentials = githubApp && { user: INSTALLATION_USER, password: await githubApp.getToken().catch(explain) }
    try {
      return await git([...(pinned?.options ?? []), ...args], toError, { env: pinned?.env, credentials })
    } catch (error) {
      // The token may have been revoked.
      githubApp?.forgetToken()
      throw error
    }
  }
}

/** The user name that GitHub expects with an installation token. */
const INSTALLATION_USER = 'x-access-token'

/**
 * Resolves the host of the repository, and returns what makes git connect to that IP address, without redirects. Throws where
 * `outbound` does not allow the host.
 */
export async function pinConnection({ url, protocol }: GitAddress, outbound: Outbound): Promise<PinnedConnection> {
  const { host, port } = parseHost(url)
  const address = await outbound.resolve(host)
  if (protocol === 'ssh') {
    // Host keys are known by host name, not by IP address.
    const alias = port === '' || port === '22' ? host : `[${host}]:${port}`
    return { options: [], env: { REGENT_GIT_SSH: `-o HostName=${address} -o HostKeyAlias=${alias}` } }
  }
  const resolved = `${host}:${port || '443'}:${isIPv6(address) ? `[${address}]` : address}`
  const config = ['http.followRedirects=false', ...(isIP(host) ? [] : [`http.curloptResolve=${resolved}`])]
  return { options: config.flatMap((setting) => ['-c', setting]), env: {} }
}

function parseHost(url: string): { host: string; port: string } {
  const { hostname, port } = URL.parse(url) ?? { hostname: /^[^@]*@([^:]+):/.exec(url)?.[1] ?? '', port: '' }
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  // The host becomes part of a shell command.
  if (!/^[\w.:-]+$/.test(host)) throw new Error(`${host} is not a valid host name`)
  return { host, port }
}

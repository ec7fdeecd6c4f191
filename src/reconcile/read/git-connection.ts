// To which address git connects for a repository that others have named: the one that was checked, also where its name means another one by then.
import { isIP, isIPv6 } from 'node:net'
import type { Outbound } from '../../lib/http/outbound.ts'
import type { GitAddress } from './git-address.ts'

/** Settings and variables of git for one connection. */
export interface Pinned {
  readonly settings: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Resolves the host of the repository, and has git connect to that address, without redirects. Throws what refuses it. */
export async function pinnedTo({ url, protocol }: GitAddress, outbound: Outbound): Promise<Pinned> {
  const { host, port } = hostOf(url)
  const address = await outbound.resolve(host)
  if (protocol === 'ssh') {
    // Keys of hosts are known by their names.
    const alias = port === '' || port === '22' ? host : `[${host}]:${port}`
    return { settings: [], env: { REGENT_GIT_SSH: `-o HostName=${address} -o HostKeyAlias=${alias}` } }
  }
  const resolved = `${host}:${port || '443'}:${isIPv6(address) ? `[${address}]` : address}`
  const settings = ['http.followRedirects=false', ...(isIP(host) ? [] : [`http.curloptResolve=${resolved}`])]
  return { settings: settings.flatMap((setting) => ['-c', setting]), env: {} }
}

function hostOf(url: string): { host: string; port: string } {
  const { hostname, port } = URL.parse(url) ?? { hostname: /^[^@]*@([^:]+):/.exec(url)?.[1] ?? '', port: '' }
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  // It becomes part of a command of ssh.
  if (!/^[\w.:-]+$/.test(host)) throw new Error(`${host} is no name of a host`)
  return { host, port }
}

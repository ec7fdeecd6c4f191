// Where the server may connect to for realms, documents and callers: the address that was checked is the one that is connected to.
import { type LookupAddress, lookup } from 'node:dns'
import { lookup as resolve } from 'node:dns/promises'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'

/** Which addresses a connection may have. */
export interface Outbound {
  /** Throws OutboundRefused unless the address may be connected to. `named`: how messages call it. */
  check(address: string, named?: string): void
  /** Resolves a host for a socket, to addresses that may be connected to only. */
  readonly lookup: LookupFunction
  /** An address of a host that may be connected to. Throws OutboundRefused, or what keeps it from being resolved. */
  resolve(host: string): Promise<string>
}

/** The address is not one that the server connects to. */
export class OutboundRefused extends Error {}

/** Options of `outboundGuard`. */
export interface OutboundOptions {
  /** Whether addresses of this machine and of private networks may be connected to. */
  readonly development?: boolean
  /** Networks such as `10.1.0.0/16` that may be connected to although they are private. */
  readonly allow?: readonly string[]
}

/** Link-local addresses and those by which clouds tell machines their credentials, and addresses that are no single host's. */
const NEVER = [
  ...['0.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  ...['::/128', 'fe80::/10', 'ff00::/8', 'fd00:ec2::/32', 'fd20:ce::254/128'],
]

/** Loopback, private and shared networks; of IPv6 also those whose addresses hold one of IPv4 that cannot be seen. */
const PRIVATE = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '192.0.0.0/24', '198.18.0.0/15'],
  ...['::1/128', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48', '2001::/32'],
]

/** Returns the guard of connections whose destination a realm, a document or a caller names. */
export function outboundGuard({ development = false, allow = [] }: OutboundOptions): Outbound {
  const [never, near, allowed] = [NEVER, PRIVATE, allow].map(networks) as [BlockList, BlockList, BlockList]
  return guard((address, named) => {
    const version = isIP(address)
    const family = version === 4 ? 'ipv4' : 'ipv6'
    if (version === 0 || never.check(address, family))
      throw new OutboundRefused(`${named} is a link-local or metadata address, which Regent never connects to`)
    if (development || !near.check(address, family) || allowed.check(address, family)) return
    throw new OutboundRefused(`${named} is in a private network: name the network in --outbound-allow to connect to it`)
  })
}

/** For destinations that the command line or the server's own settings name. */
export const ANYWHERE: Outbound = guard(() => {})

function guard(demand: (address: string, named: string) => void): Outbound {
  const check: Outbound['check'] = (address, named = address) => demand(address, named)
  /** Throws where none may be connected to. */
  const permitted = (host: string, addresses: readonly LookupAddress[]) => {
    const refusals: unknown[] = []
    const left = addresses.filter(({ address }) => {
      try {
        check(address, host)
        return true
      } catch (error) {
        refusals.push(error)
        return false
      }
    })
    if (!left.length) throw refusals[0] ?? new Error(`${host} has no address`)
    return left
  }
  return {
    check,
    lookup(host, options, callback) {
      lookup(host, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, [])
        try {
          const left = permitted(host, addresses)
          if (options.all) callback(null, left)
          else callback(null, left[0]!.address, left[0]!.family)
        } catch (refusal) {
          callback(refusal as Error, [])
        }
      })
    },
    async resolve(host) {
      return permitted(host, await resolve(host, { all: true }))[0]!.address
    },
  }
}

/** The networks, and the addresses of IPv6 by which those of IPv4 are reached: mapped, translated (NAT64, SIIT) and 6to4. */
function networks(all: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of all) {
    const [address = '', bits = isIPv4(address) ? '32' : '128'] = network.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
    if (!isIPv4(address)) continue
    for (const prefix of ['::ffff:0:', '64:ff9b::']) list.addSubnet(`${prefix}${address}`, 96 + Number(bits), 'ipv6')
    const [a, b, c, d] = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
    list.addSubnet(`2002:${a}${b}:${c}${d}::`, 16 + Number(bits), 'ipv6')
  }
  return list
}

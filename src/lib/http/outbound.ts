// Guards outbound connections for realms, documents and callers: the resolved address is checked, and the socket connects to that
// address.
import { type LookupAddress, lookup } from 'node:dns'
import { lookup as resolve } from 'node:dns/promises'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'

/** A filter that refuses outbound connections to private networks that are not allowed. */
export interface Outbound {
  /** Throws OutboundRefused unless the IP address is allowed. `label` names the address in messages. */
  check(address: string, label?: string): void
  /** Resolves a host for a socket, to allowed addresses only. */
  readonly lookup: LookupFunction
  /** Returns an allowed address of a host. Throws OutboundRefused, or the error of the lookup. */
  resolve(host: string): Promise<string>
}

/** Thrown if the server must not connect to an address. */
export class OutboundRefused extends Error {}

/** Options of `createOutbound`. */
export interface OutboundOptions {
  /** Whether loopback addresses and private networks are allowed. */
  readonly development?: boolean
  /** Private networks that are allowed, such as `10.1.0.0/16`. */
  readonly allow?: readonly string[]
}

/** Link-local, multicast and reserved addresses, and the metadata addresses of clouds, which serve credentials. */
const FORBIDDEN = [
  ...['0.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  ...['::/128', 'fe80::/10', 'ff00::/8', 'fd00:ec2::/32', 'fd20:ce::254/128'],
]

/** Loopback, private and shared networks, and IPv6 networks whose addresses embed an IPv4 address that is not looked at. */
const PRIVATE = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '192.0.0.0/24', '198.18.0.0/15'],
  ...['::/96', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48', '2001::/32'],
]

/** Creates the guard of connections to destinations that a realm, a document or a caller names. */
export function createOutbound({ development = false, allow = [] }: OutboundOptions): Outbound {
  const forbidden = toBlockList(FORBIDDEN)
  const privateNetworks = toBlockList(PRIVATE)
  const allowed = toBlockList(allow)
  return createGuard((address, label) => {
    const version = isIP(address)
    const family = version === 4 ? 'ipv4' : 'ipv6'
    if (version === 0 || forbidden.check(address, family))
      throw new OutboundRefused(`${label} is a link-local or metadata address, which Regent never connects to`)
    if (development || allowed.check(address, family)) return
    if (!privateNetworks.check(address, family) && !listOwnAddresses().check(address, family)) return
    throw new OutboundRefused(`${label} is in a private network: name the network in --outbound-allow to connect to it`)
  })
}

/** Returns the addresses of this machine: services that are not meant for the internet may listen on a public one, too. */
function listOwnAddresses(): BlockList {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
  return toBlockList(interfaces.map(({ address }) => address))
}

/** Allows all destinations: for those that the command line or the server's settings name. */
export const UNRESTRICTED: Outbound = createGuard(() => {})

function createGuard(checkAddress: (address: string, label: string) => void): Outbound {
  const check: Outbound['check'] = (address, label = address) => checkAddress(address, label)
  /** Returns the allowed addresses; throws if there is none. */
  const filterAllowed = (host: string, addresses: readonly LookupAddress[]) => {
    const refusals: unknown[] = []
    const allowed = addresses.filter(({ address }) => {
      try {
        check(address, host)
        return true
      } catch (error) {
        refusals.push(error)
        return false
      }
    })
    if (!allowed.length) throw refusals[0] ?? new Error(`${host} has no address`)
    return allowed
  }
  return {
    check,
    lookup(host, options, callback) {
      lookup(host, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, [])
        try {
          const allowed = filterAllowed(host, addresses)
          if (options.all) callback(null, allowed)
          else callback(null, allowed[0]!.address, allowed[0]!.family)
        } catch (refusal) {
          callback(refusal instanceof Error ? refusal : new Error(String(refusal)), [])
        }
      })
    },
    async resolve(host) {
      return filterAllowed(host, await resolve(host, { all: true }))[0]!.address
    },
  }
}

/** Returns the networks, and the IPv6 networks through which the IPv4 ones are reached: mapped, translated (NAT64, SIIT), 6to4. */
function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = isIPv4(address) ? '32' : '128'] = network.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
    if (!isIPv4(address)) continue
    for (const prefix of ['::ffff:0:', '64:ff9b::']) list.addSubnet(`${prefix}${address}`, 96 + Number(bits), 'ipv6')
    const [a, b, c, d] = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
    list.addSubnet(`2002:${a}${b}:${c}${d}::`, 16 + Number(bits), 'ipv6')
  }
  return list
}

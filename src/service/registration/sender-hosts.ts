// Finds out which trusted hosts and domains the sender of a request belongs to.
import { lookup, reverse } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isDomain, matchesHost } from './trusted-hosts.ts'

/** Milliseconds after which a name that was not resolved counts as unknown. */
const TIMEOUT_MS = 2_000

/**
 * Returns those of the trusted hosts and domains that a network address belongs to. A host is an address or a name, which is resolved. To
 * a domain belong the addresses whose own name, which must resolve to the address, is in the domain.
 */
export async function findSenderHosts(address: string, trusted: readonly string[]): Promise<string[]> {
  const sender = toPlainAddress(address)
  const names = trusted.some(isDomain) ? await listNames(sender) : []
  const matches = await Promise.all(
    trusted.map(async (entry) => {
      if (isDomain(entry)) return names.some((name) => matchesHost(entry, name))
      return isIP(entry) ? toPlainAddress(entry) === sender : hasAddress(entry, sender)
    }),
  )
  return trusted.filter((_, at) => matches[at])
}

/** Returns the names of an address that resolve to it: its owner can choose any name. */
async function listNames(address: string): Promise<string[]> {
  const names = await within(reverse(address), [])
  const confirmed = await Promise.all(names.map((name) => hasAddress(name, address)))
  return names.filter((_, at) => confirmed[at])
}

async function hasAddress(name: string, address: string): Promise<boolean> {
  const addresses = await within(lookup(name, { all: true }), [])
  return addresses.some((candidate) => toPlainAddress(candidate.address) === address)
}

/** Returns an address in lower case; an IPv4 address that is mapped to IPv6 as itself. */
const toPlainAddress = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')

/** Returns the result of a lookup; `unknown` if it fails or takes too long. */
async function within<T>(looking: Promise<T>, unknown: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<T>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, unknown)
  })
  return Promise.race([looking.catch(() => unknown), timeout]).finally(() => clearTimeout(timer))
}

import { isIPv4 } from 'node:net'

/** Whether the host, as it stands in a setting or in a URL, is this machine's own and can be no other. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}

import { isIPv4 } from 'node:net'

/** Whether the host of a setting or URL is certainly this machine: `localhost`, or a loopback address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}

import { BlockList, isIP } from 'node:net'

const privateNetworks = new BlockList()
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv4')
privateNetworks.addAddress('::1', 'ipv6')
for (const [network, bits] of [
  ['fe80::', 10],
  ['fc00::', 7],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv6')

/** Whether the text is an IP address of this machine or of a private network. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address)
  return version !== 0 && privateNetworks.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

import { BlockList, isIP } from 'node:net'

const near = new BlockList()
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  near.addSubnet(network, bits, 'ipv4')
near.addAddress('::1', 'ipv6')
for (const [network, bits] of [
  ['fe80::', 10],
  ['fc00::', 7],
] as const)
  near.addSubnet(network, bits, 'ipv6')

/** Whether the network address is this machine's own or one of a private network. What is no address is not. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address)
  return version !== 0 && near.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

// How requests come, and whether a realm lets them come so.
import type { Representation } from '../../kinds/json.ts'
import { isPrivateAddress } from '../../lib/http/private-address.ts'

/** How a request came: from which network address, and whether nobody could read it on its way. */
export interface Transport {
  readonly address?: string | undefined
  readonly secure?: boolean
}

/** Whether a request came by HTTPS, or as a realm with these settings lets it come without. */
export function isSafe({ sslRequired }: Representation, { secure, address = '' }: Transport): boolean {
  return secure === true || sslRequired === 'none' || (sslRequired !== 'all' && isPrivateAddress(address))
}

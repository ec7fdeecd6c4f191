// How a request arrived, and whether the realm accepts that.
import type { Representation } from '../../kinds/json.ts'
import { isPrivateAddress } from '../../lib/http/private-address.ts'

/** The network address from which a request came, and whether it was encrypted. */
export interface Transport {
  readonly address?: string | undefined
  readonly secure?: boolean
}

/** Whether a request meets `sslRequired` of the realm: it came by HTTPS, or the setting does not require that of its address. */
export function meetsSslRequirement({ sslRequired }: Representation, { secure, address = '' }: Transport): boolean {
  return secure === true || sslRequired === 'none' || (sslRequired !== 'all' && isPrivateAddress(address))
}

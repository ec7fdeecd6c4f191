// Client scopes: what may be their name.
import type { Representation } from '../../kinds/json.ts'
import { failure } from '../context/errors.ts'
import { plain } from '../objects/objects.ts'
import type { Writers } from '../objects/writers.ts'

const writers = plain('clientScope')

/** Keycloak: the log-in protocols that it has. */
const PROTOCOLS = ['openid-connect', 'saml']

/** The writers of client scopes. */
export const clientScopes: Writers = {
  ...writers,
  async create(context, objects) {
    for (const { representation } of objects) {
      checkName(representation)
      if (!PROTOCOLS.includes(String(representation.protocol))) throw failure('invalid', 'Unexpected protocol')
    }
    return writers.create(context, objects)
  },
  async update(context, updates) {
    // Keycloak: an update does not look at the protocol.
    for (const { set } of updates) if ('name' in set) checkName(set)
    return writers.update(context, updates)
  },
}

/** RFC 6749, section 3.3: a scope is one word of printable ASCII without quote and backslash. */
function checkName({ name }: Readonly<Representation>): void {
  if (!/^[\x21\x23-\x5B\x5D-\x7E]+$/.test(String(name ?? '')))
    throw failure('invalid', `Unexpected name "${name ?? ''}" for ClientScope`)
}

// The writers of client scopes, which check names and protocols.
import type { Representation } from '../../kinds/json.ts'
import { isLoginProtocol } from '../../kinds/login-protocols.ts'
import { failure } from '../context/errors.ts'
import { createPlainWriters } from '../objects/plain-writers.ts'
import type { Writers } from '../objects/writers.ts'

const writers = createPlainWriters('clientScope')

/** The writers of client scopes. */
export const clientScopes: Writers = {
  ...writers,
  async create(context, objects) {
    for (const { representation } of objects) {
      checkName(representation)
      if (!isLoginProtocol(representation.protocol))
        throw failure('invalid', 'Unexpected protocol', { field: 'protocol' })
    }
    return writers.create(context, objects)
  },
  async update(context, updates) {
    // Keycloak: an update does not check the protocol.
    for (const { set } of updates) if ('name' in set) checkName(set)
    return writers.update(context, updates)
  },
}

/** Throws invalid where a name is not one word of printable ASCII without quote and backslash. RFC 6749, section 3.3. */
function checkName({ name }: Readonly<Representation>): void {
  if (!/^[\x21\x23-\x5B\x5D-\x7E]+$/.test(String(name ?? '')))
    throw failure('invalid', `Unexpected name "${name ?? ''}" for ClientScope`, { field: 'name' })
}

// Client scopes of clients: documents may assign scopes of another protocol.
import { ANY_REALM, builtInObjects } from '../../kinds/built-in/index.ts'
import { isList, isObject, type Json, readObjects } from '../../kinds/json.ts'
import type { FormatConverter } from './format-converter.ts'

/** Ignores client scopes of another protocol. Keycloak: imports ignore them, and early versions exported them for each client. */
export const assignedScopes: FormatConverter = {
  read(realm, { warn }) {
    const { clients, clientScopes } = realm
    if (!isList(clients)) return realm
    const declared = readObjects(clientScopes).map(({ name, protocol }) => [name, protocol] as const)
    const protocols = new Map([...builtInProtocols, ...declared])
    const warned = new Set<Json>()
    const converted = clients.map((client, at) => {
      if (!isObject(client)) return client
      const { protocol = 'openid-connect' } = client
      const hasProtocol = (name: Json) => (protocols.get(name) ?? protocol) === protocol
      const changed = lists.flatMap((list): [string, Json][] => {
        const names = client[list]
        if (!isList(names) || names.every(hasProtocol)) return []
        for (const name of names.filter((scope) => !hasProtocol(scope) && !warned.has(scope))) {
          warned.add(name)
          warn(['clients', at, list], `client scope ${name} is ignored for clients of another protocol`)
        }
        return [[list, names.filter(hasProtocol)]]
      })
      return changed.length ? { ...client, ...Object.fromEntries(changed) } : client
    })
    return { ...realm, clients: converted }
  },
  write: (realm) => realm,
}

const lists = ['defaultClientScopes', 'optionalClientScopes']

/** The protocols of the client scopes of a new realm, by name. */
const builtInProtocols: readonly (readonly [Json | undefined, Json | undefined])[] = builtInObjects(ANY_REALM)
  .filter(({ kind }) => kind === 'clientScope')
  .map(({ key, representation }) => [key[0], representation.protocol])

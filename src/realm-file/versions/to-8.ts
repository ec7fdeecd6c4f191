import { isDeepStrictEqual } from 'node:util'
import { builtInObjects } from '../../kinds/built-in/index.ts'
import { isList, isObject, type Representation } from '../../kinds/json.ts'
import type { VersionStep } from './version-step.ts'

/** The fields that are replaced, by client. */
const replacedFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['account', ['rootUrl', 'baseUrl', 'redirectUris']],
  ['security-admin-console', ['rootUrl', 'baseUrl', 'redirectUris', 'webOrigins']],
])

/** Replaces the URLs of the consoles, which contained the path of the server. Keycloak: MigrateTo8_0_0. */
export const toVersion8: VersionStep = {
  version: '8.0.0',
  migrate(realm, { warn }) {
    const { clients } = realm
    if (!isList(clients)) return realm
    const builtIn = new Map<unknown, Representation>(
      builtInObjects(String(realm.realm))
        .filter(({ kind }) => kind === 'client')
        .map(({ key, representation }) => [key[0], representation]),
    )
    const migrated = clients.map((client, at) => {
      if (!isObject(client)) return client
      const names = replacedFields.get(client.clientId) ?? []
      const fields = names.map((name) => [name, builtIn.get(client.clientId)![name]!])
      const changed = fields.filter(([name, value]) => !isDeepStrictEqual(client[String(name)] ?? value, value))
      if (!changed.length) return client
      warn(['clients', at], `client ${client.clientId}: ${changed.map(([name]) => name).join(', ')} are replaced`)
      return { ...client, ...Object.fromEntries(changed) }
    })
    return { ...realm, clients: migrated }
  },
}

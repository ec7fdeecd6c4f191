// Looks up what installation documents are made of.
import { type Representation, readTextMap } from '../../../../kinds/json.ts'
import type { Context } from '../../../context/context.ts'
import { writers } from '../../../kinds/index.ts'
import { findLiveRealm } from '../../../objects/live-objects.ts'
import { clients } from '../clients.ts'
import type { InstalledClient } from './installed-client.ts'

/** Returns a client as the caller may see it, with its surroundings. Throws forbidden, not_found. */
export async function loadInstalledClient(
  context: Context,
  id: string,
  { base, certificates }: Pick<InstalledClient, 'base' | 'certificates'>,
): Promise<InstalledClient> {
  return describeInstalledClient(context, await clients.get(context, { id }), { base, certificates })
}

/** Returns the surroundings of a client, which the caller may see as it is. */
export async function describeInstalledClient(
  context: Context,
  client: Representation,
  { base, certificates }: Pick<InstalledClient, 'base' | 'certificates'>,
): Promise<InstalledClient> {
  const roles = await writers.role.list(context, { parents: { kind: 'client', ids: [String(client.id)] } })
  const realm = await findLiveRealm(context)
  return {
    client,
    attributes: readTextMap(client.attributes),
    roles: roles.map(({ key }) => key.at(-1)!),
    realm: context.realm.name,
    sslRequired: String(realm?.representation.sslRequired ?? 'external').toLowerCase(),
    base,
    certificates,
  }
}

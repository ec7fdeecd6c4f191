// What a partial export holds: a realm less its people and what can be asked for by itself, with ids, secrets masked.

import type { Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import { creationOrder } from '../../kinds/order.ts'
import { accountsOf } from '../../service/clients/service-accounts.ts'
import type { Context } from '../../service/context/context.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { demand } from '../../service/permissions/administrators.ts'
import { realmOf } from './render.ts'

/** What an export may leave out. */
export interface ExportedParts {
  /** Clients, with their roles and accounts. */
  readonly clients: boolean
  readonly groupsAndRoles: boolean
}

/** Keycloak: no partial export holds them. Their own operations list them. */
const apart: ReadonlySet<KindName> = new Set(['organization', 'workflow'])

/** The realm in the form of an export, as far as it is asked for. A constant number of statements. */
export async function partialExport(context: Context, parts: ExportedParts): Promise<Representation> {
  demand(context, 'manage-realm')
  if (parts.groupsAndRoles) demand(context, 'list-groups')
  if (parts.clients) demand(context, 'view-clients')
  const objects: LiveObject[] = []
  for (const kind of creationOrder.filter((one) => isAsked(one, parts))) {
    const clients = objects.filter((one) => one.kind === 'client')
    objects.push(...(await (kind === 'user' ? accountsOf(context, clients) : writers[kind].list(context, {}))))
  }
  // What belongs to an object that is left out goes with it; roles stand beside their clients.
  const shown = parts.clients ? objects : objects.filter(({ kind, parent }) => kind !== 'role' || !parent)
  return realmOf(context, shown, { full: true, ids: true })
}

function isAsked(kind: KindName, { clients, groupsAndRoles }: ExportedParts): boolean {
  if (kind === 'client') return clients
  if (kind === 'role' || kind === 'group') return groupsAndRoles
  return !apart.has(kind)
}

// The REST operations on the consents of a user.

import { type Representation, readObjects } from '../../../kinds/json.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { endClientSessions } from '../../login/sessions.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { readOfflineClients } from './sessions.ts'
import { getCompleteUser } from './users.ts'

/** Lists the consents of a user, by client. An offline session with a client counts as one. */
export async function listConsents(context: Context, user: string): Promise<Representation[]> {
  const live = await getCompleteUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'view', objects: [live] })
  const offlineClients = await readOfflineClients(context, user)
  const consents = readConsents(live)
  const consented = new Set(consents.map(({ clientId }) => clientId))
  const listGrants = (consentedId: unknown) =>
    Object.entries(offlineClients).flatMap(([client, clientId]) =>
      clientId === consentedId ? [{ client, key: 'Offline Token' }] : [],
    )
  const offlineOnly = Object.values(offlineClients)
    .filter((clientId) => !consented.has(clientId))
    .map((clientId): Representation => ({ clientId, grantedClientScopes: [] }))
  return [...consents, ...offlineOnly].map((consent) => ({
    ...consent,
    additionalGrants: listGrants(consent.clientId),
  }))
}

/** Revokes the consent of a user for a client, and ends its sessions with it; without a consent, only offline sessions. Throws not_found if there is neither. */
export async function revokeConsent(context: WriteContext, user: string, clientId: string): Promise<void> {
  const live = await getCompleteUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [live] })
  const [client] = await writers.client.list(context, { keys: [[clientId]] })
  if (!client) throw failure('not_found', 'Client not found')
  const consents = readConsents(live)
  const remaining = consents.filter((consent) => consent.clientId !== clientId)
  const hasConsent = remaining.length < consents.length
  const endedSessions = await endClientSessions(context, client.id, { user, ...(!hasConsent && { offline: true }) })
  if (hasConsent) await writers.user.update(context, [{ live, set: { clientConsents: remaining } }])
  else if (!endedSessions) throw failure('not_found', 'Consent nor offline token not found')
}

function readConsents({ representation }: LiveObject): readonly Representation[] {
  return readObjects(representation.clientConsents)
}

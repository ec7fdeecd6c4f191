// What a user lets clients learn.
import type { Representation } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { endOfflineAt, offlineClients } from './sessions.ts'
import { findWholeUser } from './users.ts'

/** What a user agreed to, by client; offline sessions with a client count as such. */
export async function listConsents(context: Context, user: string): Promise<Representation[]> {
  const live = await findWholeUser(context, user)
  requirePermissions(context, 'view-users')
  const offline = await offlineClients(context, user)
  const consents = consentsOf(live)
  const consented = new Set(consents.map(({ clientId }) => clientId))
  const grantsOf = (name: unknown) =>
    Object.entries(offline).flatMap(([client, clientId]) =>
      clientId === name ? [{ client, key: 'Offline Token' }] : [],
    )
  const others = Object.values(offline).filter((clientId) => !consented.has(clientId))
  return [...consents, ...others.map((clientId): Representation => ({ clientId, grantedClientScopes: [] }))].map(
    (consent) => ({ ...consent, additionalGrants: grantsOf(consent.clientId) }),
  )
}

/** Takes back what a user agreed to with the client of that name, and its offline sessions. Throws not_found where there is neither. */
export async function revokeConsent(context: WriteContext, user: string, clientId: string): Promise<void> {
  const live = await findWholeUser(context, user)
  requirePermissions(context, 'manage-users')
  const [client] = await writers.client.list(context, { keys: [[clientId]] })
  if (!client) throw failure('not_found', 'Client not found')
  const ended = await endOfflineAt(context, user, client)
  const left = consentsOf(live).filter((consent) => consent.clientId !== clientId)
  if (left.length < consentsOf(live).length) {
    await writers.user.update(context, [{ live, set: { clientConsents: left } }])
  } else if (!ended) throw failure('not_found', 'Consent nor offline token not found')
}

function consentsOf({ representation }: LiveObject): Representation[] {
  return (representation.clientConsents ?? []) as Representation[]
}

// What a user lets clients learn.
import type { Representation } from '../../kinds/kind.ts'
import { demand } from '../administrators.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import type { LiveObject } from '../live.ts'
import { findUser } from './users.ts'

/** What a user agreed to, by client. */
export async function listConsents(context: Context, user: string): Promise<Representation[]> {
  const live = await findUser(context, user)
  demand(context, 'view-users')
  return consentsOf(live).map((consent) => ({ ...consent, additionalGrants: [] }))
}

/** Takes back what a user agreed to with the client of that name. Throws not_found where there is nothing. */
export async function revokeConsent(context: WriteContext, user: string, clientId: string): Promise<void> {
  const live = await findUser(context, user)
  demand(context, 'manage-users')
  const [client] = await writers.client.list(context, { keys: [[clientId]] })
  if (!client) throw failure('not_found', 'Client not found')
  const left = consentsOf(live).filter((consent) => consent.clientId !== clientId)
  if (left.length === consentsOf(live).length) throw failure('not_found', 'Consent nor offline token not found')
  await writers.user.update(context, [{ live, set: { clientConsents: left } }])
}

function consentsOf({ representation }: LiveObject): Representation[] {
  return (representation.clientConsents ?? []) as Representation[]
}

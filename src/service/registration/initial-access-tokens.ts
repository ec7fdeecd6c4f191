// Initial access tokens, with which applications register clients. Keycloak: ClientInitialAccessResource.
import { randomUUID } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import {
  deleteInitialToken,
  findInitialToken,
  type InitialAccessToken,
  insertInitialToken,
  selectInitialTokens,
  useInitialToken,
} from '../../store/registration-tokens.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { omitAdminEvent } from '../journal/admin-events.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'
import { createTokenError } from './registration-errors.ts'

/** The settings of a new token. */
export interface InitialTokenSettings {
  /** The number of clients; default: 1. */
  readonly count?: number | null | undefined
  /** Seconds; 0, the default: it does not expire. */
  readonly expiration?: number | null | undefined
}

/** Lists the tokens, the oldest first. */
export async function listInitialTokens(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'view-clients')
  return (await selectInitialTokens(context.tx, context.realm.number)).map(toRepresentation)
}

/** Creates a token. Throws invalid. */
export async function createInitialToken(
  context: WriteContext,
  { count, expiration }: InitialTokenSettings,
): Promise<Representation & { readonly id: string; readonly expiration: number }> {
  requirePermissions(context, 'manage-clients')
  const { tx, realm, now } = context
  const token = { id: randomUUID(), createdAt: now, lifespan: expiration ?? 0, count: count ?? 1 }
  if (token.lifespan < 0) throw createValueError('expiration', 'The expiration time interval cannot be less than 0')
  if (token.count < 0) throw createValueError('count', 'The count cannot be less than 0')
  await insertInitialToken(tx, realm.number, token)
  return { ...toRepresentation({ ...token, remaining: token.count }), id: token.id, expiration: token.lifespan }
}

const createValueError = (field: string, message: string) =>
  failure('invalid', message, { form: { error: `Invalid value for ${field}` } })

/** Deletes a token. Keycloak: one that does not exist, too. */
export async function deleteInitialAccess(context: WriteContext, id: string): Promise<void> {
  requirePermissions(context, 'manage-clients')
  if (!(await deleteInitialToken(context.tx, context.realm.number, id))) omitAdminEvent(context)
}

/** Uses a token for one client, in the transaction that creates it. Throws unauthorized. Two statements. */
export async function spendInitialToken({ tx, realm, now }: WriteContext, id: string): Promise<void> {
  const token = await findInitialToken(tx, realm.number, id)
  if (!token) throw createTokenError('Initial Access Token not found')
  const { createdAt, lifespan } = token
  if (lifespan > 0 && now.getTime() >= createdAt.getTime() + lifespan * 1000)
    throw createTokenError('Expired initial access token')
  if (!(await useInitialToken(tx, realm.number, id)))
    throw createTokenError('No remaining count on initial access token')
}

const toRepresentation = ({ id, createdAt, lifespan, count, remaining }: InitialAccessToken): Representation => ({
  id,
  timestamp: toEpochSeconds(createdAt),
  expiration: lifespan,
  count,
  remainingCount: remaining,
})

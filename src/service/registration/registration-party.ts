// The sender of a request for client registration, and what it may do.
import type { Representation } from '../../kinds/json.ts'
import { findRegistrationToken } from '../../store/registration-tokens.ts'
import type { UpdateSource } from '../client-policies/policy-event.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { isPermitted, type Permission } from '../permissions/require-permissions.ts'
import { spendInitialToken } from './initial-access-tokens.ts'
import { createForbiddenError, createTokenError } from './registration-errors.ts'
import type { RegistrationType } from './registration-policies.ts'

/** The authorization of a request. */
export type RegistrationCredential =
  /** An access token of an administrator. */
  | { readonly kind: 'administrator' }
  /** An initial access token, by its id. */
  | { readonly kind: 'initial access token'; readonly id: string }
  /** A registration access token, by its id. `type`: the way in which its client was registered. */
  | { readonly kind: 'registration access token'; readonly id: string; readonly type: RegistrationType }
  /** The client itself, by its secret or the like, or without one if it is public. It may only be read. */
  | { readonly kind: 'client'; readonly id: string }
  | { readonly kind: 'none' }

/** The sender of a request. */
export interface RegistrationParty {
  readonly credential: RegistrationCredential
  /** The trusted hosts and domains of the policies that the sender belongs to. */
  readonly senderHosts: readonly string[]
}

/** Returns the type of policies that apply to the registration of a client. */
export const getCreationType = ({ kind }: RegistrationCredential): RegistrationType =>
  kind === 'administrator' || kind === 'initial access token' ? 'authenticated' : 'anonymous'

/** Returns the type of policies that apply to requests for a client that exists. */
export const getAccessType = (credential: RegistrationCredential): RegistrationType =>
  credential.kind === 'registration access token' ? credential.type : 'authenticated'

const updateSources: Readonly<Record<RegistrationCredential['kind'], UpdateSource>> = {
  administrator: 'ByAuthenticatedUser',
  'initial access token': 'ByInitialAccessToken',
  'registration access token': 'ByRegistrationAccessToken',
  client: 'ByAnonymous',
  none: 'ByAnonymous',
}

/** Returns the kind of the sender, as client policies name it. */
export const getUpdateSource = ({ kind }: RegistrationCredential): UpdateSource => updateSources[kind]

/** Throws unless the sender may register a client. Uses its initial access token, if it has one. Two statements, or none. */
export async function requireCreation(context: WriteContext, { credential }: RegistrationParty): Promise<void> {
  if (credential.kind === 'administrator') requirePermission(context, 'register-clients')
  if (credential.kind === 'initial access token') await spendInitialToken(context, credential.id)
}

/** Returns a client if the sender may read it. `live`: undefined if there is none. Throws unauthorized, forbidden, not_found. One statement, or none. */
export async function requireView(
  context: Context,
  { credential }: RegistrationParty,
  live: LiveObject | undefined,
): Promise<LiveObject> {
  if (credential.kind === 'initial access token') throw createTokenError('Not initial access token allowed')
  if (credential.kind === 'client' && credential.id === live?.id) return live
  return requireClient(context, credential, {
    live,
    permission: 'view-clients',
    refusal: 'Not authorized to view client. Not valid token or client credentials provided.',
  })
}

/** Returns a client if the sender may change and delete it. Throws unauthorized, forbidden, not_found. One statement, or none. */
export function requireChange(
  context: Context,
  { credential }: RegistrationParty,
  live: LiveObject | undefined,
): Promise<LiveObject> {
  return requireClient(context, credential, {
    live,
    permission: 'manage-clients',
    refusal: 'Not authorized to update client. Maybe missing token or bad token type.',
  })
}

async function requireClient(
  context: Context,
  credential: RegistrationCredential,
  {
    live,
    permission,
    refusal,
  }: { readonly live: LiveObject | undefined; readonly permission: Permission; readonly refusal: string },
): Promise<LiveObject> {
  if (credential.kind === 'administrator') {
    requirePermission(context, permission)
    if (!live) throw failure('not_found', 'Client not found', { form: { error: 'invalid_request' } })
    return live
  }
  if (live && credential.kind === 'registration access token' && (await isTokenOf(context, live, credential.id)))
    return live
  throw createTokenError(refusal)
}

/** Whether a registration access token is the current one of an enabled client. One statement. */
async function isTokenOf({ tx, realm }: Context, { id, representation }: LiveObject, token: string): Promise<boolean> {
  return isEnabled(representation) && (await findRegistrationToken(tx, realm.number, id)) === token
}

const isEnabled = ({ enabled }: Representation): boolean => enabled === true

function requirePermission(context: Context, permission: Permission): void {
  if (!isPermitted(context, permission)) throw createForbiddenError()
}

// Links of invitations to organizations. An existing user confirms to become a member; a new user registers. Keycloak: InviteOrgActionTokenHandler.
import { decodeJwt } from 'jose'
import { readTexts } from '../../../kinds/json.ts'
import type { Context } from '../../../service/context/context.ts'
import { type Caller, type Service, SYSTEM } from '../../../service/context/service.ts'
import { writers } from '../../../service/kinds/index.ts'
import { INVITATION_TOKEN, type InvitationToken } from '../../../service/messages/action-tokens.ts'
import type { LiveObject } from '../../../service/objects/live-objects.ts'
import { hasExpired } from '../../action-tokens.ts'
import { confirmMembershipPage } from '../../pages/actions.ts'
import { infoPage } from '../../pages/messages.ts'
import { verifyInvitationToken } from '../../tokens/tokens.ts'
import { viewUser } from '../../views.ts'
import { advanceLogin } from '../advance-login.ts'
import { requireBrowserClient } from '../authorization-request.ts'
import { createLogin } from '../create-login.ts'
import { LoginError } from '../login-error.ts'
import { redirectTo, renderPage } from '../page-response.ts'
import { type BrowserCall, findClient, handleBrowserCall } from '../session/browser-call.ts'
import type { BrowserRequest, BrowserResponse } from '../session/browser-request.ts'
import { createStaleError, getOpenInvitation, getOpenOrganization, useInvitation } from './open-invitation.ts'

/** Whether a token claims to be that of an invitation. The signature is not verified. */
export function isInvitationToken(token: string): boolean {
  try {
    return decodeJwt(token).typ === INVITATION_TOKEN
  } catch {
    return false
  }
}

/** Handles the link of an invitation to a new user: shows the registration form, also in a realm without registration. */
export function registerByInvitation(service: Service, request: BrowserRequest): Promise<BrowserResponse> {
  return handleBrowserCall(service, request, async (call) => {
    const token = await readToken(call, request.query.get('token') ?? '')
    if (token.sub !== undefined) throw createStaleError('invalid_token')
    const { organization } = await call.service.read(SYSTEM, call.realm, (context) => getOpenInvitation(context, token))
    const client = await findClient(call, token.azp)
    requireBrowserClient(client)
    const { login, saved, cookies } = createLogin(call, client, {
      binding: 'registration',
      parameters: { redirectUri: token.reduri ?? '', responseMode: 'query', scope: '', prompt: [] },
      notes: { invitation: { id: token.jti, organization: String(organization.representation.name) } },
    })
    return advanceLogin(login, saved, cookies)
  })
}

/** Handles the link of an invitation to an existing user, who must confirm it. */
export async function confirmInvitation(call: BrowserCall, key: string): Promise<BrowserResponse> {
  const { service, realm, request } = call
  const token = await readToken(call, key)
  const { sub } = token
  if (sub === undefined) throw createStaleError('invalid_token')
  call.client = token.azp
  call.eventType = 'INVITE_ORG'
  call.eventUser = sub
  const open = (context: Context) => openForUser(context, token, sub)
  const { organization, user } = await service.read(SYSTEM, realm, open)
  const name = String(organization.representation.name)
  if (!request.form) return renderPage(call, confirmMembershipPage(name), { action: `?${request.query}` })
  await service.write(createCaller(call, user), realm.name, async (context) => {
    const current = await open(context)
    await useInvitation(context, token.jti)
    const relations = { organizations: { add: [current.organization.key] } }
    await writers.user.update(context, [{ live: current.user, set: {}, relations }])
  })
  const event = { client: token.azp, user: sub, address: request.address }
  const details = { ...call.eventDetails, username: user.key[0], redirect_uri: token.reduri }
  await service.recordUserEvents(realm, [{ type: 'INVITE_ORG', ...event, details }])
  return token.reduri === undefined
    ? renderPage(call, infoPage('organizationJoinedMessage', { params: [name] }))
    : redirectTo(new URL(token.reduri).href)
}

/** Returns the user and the organization of an invitation. Throws LoginError unless the user can become a member now. */
async function openForUser(
  context: Context,
  token: InvitationToken,
  sub: string,
): Promise<{ readonly organization: LiveObject; readonly user: LiveObject }> {
  const [user] = await writers.user.list(context, { ids: [sub] })
  if (!user) throw createStaleError('user_not_found')
  const { enabled, email } = viewUser(user)
  if (enabled !== true) throw new LoginError('accountDisabledMessage', 'user_disabled')
  if (email !== token.eml) throw createStaleError('invalid_email')
  const organization = await getOpenOrganization(context, token.org_id)
  if (readTexts(user.representation.organizations).includes(organization.key[0]!)) {
    const params = [user.key[0]!, String(organization.representation.name)]
    throw new LoginError('orgMemberAlready', 'user_org_member_already', { params })
  }
  await getOpenInvitation(context, token)
  return { organization, user }
}

/** Returns the token of a link, and sets the details of its events. Throws LoginError for a token that is not one of the realm. */
async function readToken(call: BrowserCall, key: string): Promise<InvitationToken> {
  call.eventType = 'EXECUTE_ACTION_TOKEN'
  const verified = await verifyInvitationToken(call.service, key)
  if (!verified && hasExpired(key, call.service.clock()))
    throw new LoginError('expiredActionTokenNoSessionMessage', 'expired_code')
  if (verified?.realm.number !== call.realm.number) throw createStaleError('invalid_token')
  const { token } = verified
  call.eventDetails = { token_id: token.jti, org_id: token.org_id, action: INVITATION_TOKEN, email: token.eml }
  return token
}

function createCaller({ realm, request }: BrowserCall, { id, key }: LiveObject): Caller {
  return { actor: { kind: 'user', realm: realm.name, userId: id, user: key[0]!, address: request.address } }
}

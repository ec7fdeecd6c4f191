// The endpoint of links in emails. A link continues its login, or only carries out its action token without logging in.
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { updateOwnAccount } from '../../service/login/own-account.ts'
import type { ActionToken } from '../../service/messages/action-tokens.ts'
import { type ActionTokenRejection, readActionToken, redeemActionToken } from '../action-tokens.ts'
import { confirmLinkPage } from '../pages/actions.ts'
import { infoPage } from '../pages/messages.ts'
import { advanceLogin } from './advance-login.ts'
import { requireBrowserClient } from './authorization-request.ts'
import { createLogin, type NewLogin, requirePasswordResetAllowed } from './create-login.ts'
import { confirmInvitation, isInvitationToken } from './invitations/organization-invitation.ts'
import { setLoginUser } from './login.ts'
import { LoginError } from './login-error.ts'
import { renderPage } from './page-response.ts'
import { type BrowserCall, findClient, handleBrowserCall } from './session/browser-call.ts'
import type { BrowserRequest, BrowserResponse } from './session/browser-request.ts'
import { createLoginState, type FlowBinding, type LoginState, type SavedLogin } from './session/login-state.ts'
import { findSavedLogin, openSavedLogin } from './session/saved-login.ts'

/** The error codes of the user events of rejected action tokens. */
const rejectionErrors: Readonly<Record<ActionTokenRejection, string>> = {
  expired: 'expired_code',
  used: 'expired_code',
  invalid: 'invalid_token',
}

/** The texts that ask the user to confirm an action token. */
const questions: Readonly<Record<ActionToken['typ'], string>> = {
  'verify-email': 'confirmEmailAddressVerification',
  'execute-actions': 'requiredActionsMessage',
  'reset-credentials': 'confirmResetCredentials',
}

/** Handles the link of an email. In a browser without its login the user must confirm it first. */
export function followLink(service: Service, request: BrowserRequest): Promise<BrowserResponse> {
  return handleBrowserCall(service, request, async (call) => {
    call.eventType = 'EXECUTE_ACTION_TOKEN'
    const key = request.query.get('key') ?? ''
    if (isInvitationToken(key)) return confirmInvitation(call, key)
    const token = await readActionToken(service, request.realm, key)
    if (typeof token === 'string') throw createRejectionError(token)
    call.client = token.azp
    const saved = await findSavedLogin(call)
    const tokenLogin = saved && isLoginOfToken(saved, token) ? saved : undefined
    if (!tokenLogin && !request.form) {
      const page = confirmLinkPage(questions[token.typ], { params: [token.eml], actions: token.rqac ?? [] })
      return renderPage(call, page, { action: `?${request.query}` })
    }
    return token.typ === 'verify-email' ? verifyEmail(call, token, tokenLogin) : executeToken(call, token, tokenLogin)
  })
}

/** Whether the email with an action token was sent for a login. */
function isLoginOfToken({ state: { user, notes } }: SavedLogin, { typ, sub, jti }: ActionToken): boolean {
  if (typ === 'reset-credentials') return notes.resetTokenId === jti
  return typ === 'verify-email' && user === sub && notes.verificationSentTo !== undefined
}

async function verifyEmail(
  call: BrowserCall,
  token: ActionToken,
  saved: SavedLogin | undefined,
): Promise<BrowserResponse> {
  const { service, realm, request } = call
  await service.write(SYSTEM, realm.name, async (context) => {
    checkRedeemed(await redeemActionToken(context, token))
    const completed = { set: { emailVerified: true }, completedActions: ['VERIFY_EMAIL'] }
    await updateOwnAccount(context, token.sub, completed)
  })
  const details = { email: token.eml }
  const event = { client: token.azp, user: token.sub, address: request.address, details }
  await service.recordUserEvents(realm, [{ type: 'VERIFY_EMAIL', ...event }])
  if (saved) return advanceLogin(await openSavedLogin(call, saved), saved)
  return renderPage(call, infoPage('emailVerifiedMessage', { applicationUrl: token.reduri }))
}

/** Continues the login of an action token; without one, carries out the token in a login that ends with a message. */
async function executeToken(
  call: BrowserCall,
  token: ActionToken,
  saved: SavedLogin | undefined,
): Promise<BrowserResponse> {
  const { service, realm, request } = call
  const isReset = token.typ === 'reset-credentials'
  if (isReset) requirePasswordResetAllowed(realm)
  await service.writeRuntime(SYSTEM, realm, async (context) => checkRedeemed(await redeemActionToken(context, token)))
  const execution = request.query.get('execution')
  const state: ActionTokenState = {
    binding: isReset ? 'resetCredentials' : 'browser',
    stepResults: isReset && execution !== null ? { [execution]: 'success' } : {},
    requiredActions: [...(token.rqac ?? [])],
    notes: saved ? {} : { isActionTokenOnly: true },
    ...(!isReset && { isAuthenticated: true }),
  }
  const {
    login,
    saved: tokenLogin,
    cookies,
  } = saved ? await resumeLogin(call, saved, state) : await createTokenLogin(call, token, state)
  await setLoginUser(login, token.sub)
  return advanceLogin(login, tokenLogin, cookies)
}

/** The state of a login after its action token. */
type ActionTokenState = Partial<LoginState> & { readonly binding: FlowBinding }

async function resumeLogin(call: BrowserCall, saved: SavedLogin, state: ActionTokenState): Promise<NewLogin> {
  const resumed = { ...createLoginState(state.binding, saved.state), ...state }
  return { login: await openSavedLogin(call, { ...saved, state: resumed }), saved, cookies: [] }
}

async function createTokenLogin(
  call: BrowserCall,
  { azp, reduri }: ActionToken,
  state: ActionTokenState,
): Promise<NewLogin> {
  const client = await findClient(call, azp)
  requireBrowserClient(client)
  const parameters = { redirectUri: reduri ?? '', responseMode: 'query' as const, scope: '', prompt: [] }
  return createLogin(call, client, { ...state, parameters })
}

function checkRedeemed(rejection: ActionTokenRejection | undefined): void {
  if (rejection !== undefined) throw createRejectionError(rejection)
}

const createRejectionError = (rejection: ActionTokenRejection) =>
  new LoginError('expiredActionTokenNoSessionMessage', rejectionErrors[rejection])

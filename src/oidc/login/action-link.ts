// The way back of a link from a mail: with the log-in that it belongs to, or as an errand of its own, which logs nobody in.

import { type Service, SYSTEM } from '../../service/context/service.ts'
import { changeOwnAccount } from '../../service/login/own-account.ts'
import type { ActionToken } from '../../service/messages/action-tokens.ts'
import { readActionToken, takeActionToken, type VoidLink } from '../action-tokens.ts'
import { confirmLinkPage } from '../pages/actions.ts'
import { infoPage } from '../pages/messages.ts'
import { bodyOf, goOn, type Kept, stateOf } from './go-on.ts'
import { identify } from './login.ts'
import { LoginError } from './login-error.ts'
import { demandBrowserClient } from './parameters.ts'
import { show } from './respond.ts'
import type { BrowserAnswer, BrowserRequest } from './session/browser.ts'
import { freshState, type LoginState } from './session/state.ts'
import { findTab, openTab } from './session/tab.ts'
import { type Visit, visit } from './session/visit.ts'
import { demandReset, findClient, newTab } from './start.ts'

const words: Readonly<Record<VoidLink, readonly [key: string, error: string]>> = {
  expired: ['expiredActionTokenNoSessionMessage', 'expired_code'],
  used: ['expiredActionTokenNoSessionMessage', 'expired_code'],
  invalid: ['expiredActionTokenNoSessionMessage', 'invalid_token'],
}

/** What the page asks before a link counts. */
const questions: Readonly<Record<ActionToken['typ'], string>> = {
  'verify-email': 'confirmEmailAddressVerification',
  'execute-actions': 'requiredActionsMessage',
  'reset-credentials': 'confirmResetCredentials',
}

/** Follows a link. In another browser than that of its log-in it counts when the person says so. */
export function followLink(service: Service, request: BrowserRequest): Promise<BrowserAnswer> {
  return visit(service, request, async (here) => {
    here.type = 'EXECUTE_ACTION_TOKEN'
    const token = await readActionToken(service, request.realm, request.query.get('key') ?? '')
    if (typeof token === 'string') throw new LoginError(...words[token])
    here.client = token.azp
    const kept = await findTab(here)
    const own = kept && belongs(kept, token) ? kept : undefined
    if (!own && !request.form) {
      const page = confirmLinkPage(questions[token.typ], [token.eml], token.rqac ?? [])
      return show(here, page, { action: `?${request.query}` })
    }
    return token.typ === 'verify-email' ? verifyEmail(here, token, own) : goOnWith(here, token, own)
  })
}

/** Whether the log-in of the tab is the one that the mail was sent for. */
function belongs({ body: { user, notes } }: Kept, { typ, sub, jti }: ActionToken): boolean {
  const { verifying, mailed } = notes as LoginState['notes']
  if (typ === 'reset-credentials') return mailed === jti
  return typ === 'verify-email' && user === sub && verifying !== undefined
}

async function verifyEmail(here: Visit, token: ActionToken, kept: Kept | undefined): Promise<BrowserAnswer> {
  const { service, realm } = here
  await service.write(SYSTEM, realm.name, async (context) => {
    demandGood(await takeActionToken(context, token))
    await changeOwnAccount(context, token.sub, { emailVerified: true }, ['VERIFY_EMAIL'])
  })
  const details = { email: token.eml }
  const { address } = here.request
  await service.tell(realm, [{ type: 'VERIFY_EMAIL', client: token.azp, user: token.sub, address, details }])
  if (kept) return goOn(await openTab(here, kept), kept)
  return show(here, infoPage('emailVerifiedMessage', [], token.reduri))
}

/** Goes on with the log-in; in another browser begins one that ends with a message. */
async function goOnWith(here: Visit, token: ActionToken, kept: Kept | undefined): Promise<BrowserAnswer> {
  const { service, realm, request } = here
  const reset = token.typ === 'reset-credentials'
  if (reset) demandReset(here)
  await service.runtime(SYSTEM, realm, async (context) => demandGood(await takeActionToken(context, token)))
  const execution = request.query.get('execution')
  const done: LoginState['done'] = reset && execution !== null ? { [execution]: 'success' } : {}
  const next = {
    binding: reset ? ('resetCredentials' as const) : ('browser' as const),
    done,
    actions: [...(token.rqac ?? [])],
    notes: { ...(!kept && { errand: token.typ }), ...(!reset && { authenticated: 'true' }) },
  }
  const { login, tab, cookies } = kept ? await resume(here, kept, next) : await errand(here, token, next)
  await identify(login, token.sub)
  return goOn(login, tab, cookies)
}

async function errand(
  here: Visit,
  { azp, reduri }: ActionToken,
  next: Pick<LoginState, 'binding'> & Partial<LoginState>,
) {
  const client = await findClient(here, azp)
  demandBrowserClient(client)
  const parameters = { redirectUri: reduri ?? '', responseMode: 'query' as const, scope: '', prompt: [] }
  return newTab(here, client, { ...next, parameters })
}

async function resume(here: Visit, kept: Kept, next: Pick<LoginState, 'binding'> & Partial<LoginState>) {
  const body = bodyOf({ ...freshState(next.binding, stateOf(kept)), ...next })
  return { login: await openTab(here, { ...kept, body }), tab: kept, cookies: [] }
}

function demandGood(why: VoidLink | undefined): void {
  if (why !== undefined) throw new LoginError(...words[why])
}

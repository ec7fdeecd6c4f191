// The stored logins of a browser, one per tab.
import { type Service, SYSTEM } from '../../../service/context/service.ts'
import { findLogin, takeLoginCode } from '../../../service/login/authentication-sessions.ts'
import { listObjects } from '../../../service/objects/live-objects.ts'
import { viewClient } from '../../views.ts'
import { findLoginUser, type Login } from '../login.ts'
import { LoginError } from '../login-error.ts'
import type { BrowserCall } from './browser-call.ts'
import type { BrowserRequest } from './browser-request.ts'
import { AUTH_SESSION, generateSecret, hashSecret } from './cookies.ts'
import { readSavedLogin, type SavedLogin } from './login-state.ts'

/** Returns the login of the browser in the tab of the request. */
export async function findSavedLogin({ service, request }: BrowserCall): Promise<SavedLogin | undefined> {
  const secret = request.cookies.get(AUTH_SESSION)
  const tab = request.query.get('tab_id')
  if (!secret || !tab) return undefined
  const key = { id: hashSecret(secret), tab }
  return readSavedLogin(await service.read(SYSTEM, request.realm, (context) => findLogin(context, key)))
}

/** Redeems the code of a submitted form, which counts once; undefined where it is not the current code of the login. */
export async function redeemFormCode(
  service: Service,
  request: BrowserRequest,
  { id, tab }: SavedLogin,
): Promise<SavedLogin | undefined> {
  const code = request.query.get('session_code') ?? ''
  const session = await service.writeRuntime(SYSTEM, request.realm, (context) =>
    takeLoginCode(context, { id, tab }, { code, next: generateSecret() }),
  )
  return readSavedLogin(session)
}

/** Opens a stored login with its client and its user. Throws LoginError where the client was deleted or disabled. */
export async function openSavedLogin(call: BrowserCall, saved: SavedLogin): Promise<Login> {
  const { service, request, realm } = call
  const state = structuredClone(saved.state)
  const login = await service.read(SYSTEM, request.realm, async (context): Promise<Login> => {
    const [client] = await listObjects(context, 'client', { keys: [[state.client]] })
    if (!client || viewClient(client).enabled !== true) throw new LoginError('clientDisabledMessage', 'client_disabled')
    const user = state.user === undefined ? undefined : await findLoginUser(context, state.user)
    return { service, request, realm, client, state, tab: saved.tab, user }
  })
  call.login = login
  call.client = state.client
  return login
}

// Logins with a password, without a browser.
import { type TestResponse, testServer } from './server.ts'

/** Requests tokens with the password grant. */
export async function logInWithPassword(
  realm: string,
  { clientId = 'admin-cli', username, password }: { clientId?: string; username: string; password: string },
): Promise<TestResponse> {
  const { call } = await testServer()
  const form = new URLSearchParams({ grant_type: 'password', client_id: clientId, username, password })
  return call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  })
}

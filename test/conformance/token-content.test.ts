// The claims of tokens, compared with those of Keycloak: mappers of every type, roles, groups, scopes, organizations. They were
// recorded with scripts/record-tokens.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import {
  createTokenRealm,
  requestTokens,
  type TokenResponses,
  type TokenServer,
  tokenCases,
} from '../support/token-realm.ts'

const read = <T>(file: string) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as T
const recorded = read<Record<string, TokenResponses>>('token-content.json')

const { app, call } = await testServer()

const server: TokenServer = {
  async admin(method, path, body) {
    const response = await call(method, path, { body })
    if (response.status >= 300)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return { location: String(response.headers.location).split('/').at(-1), body: response.body }
  },
  async form(path, form) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return (await call('POST', path, { token: null, headers, body: new URLSearchParams(form).toString() })).body
  },
  async userInfo(path, token) {
    const response = await call('GET', path, { token })
    return response.body ?? { refused: response.status }
  },
  async logIn(address, fields) {
    const browser = testBrowser(app)
    // The username form comes first, then the password form.
    return (await browser.send(await browser.send(await browser.open(address), fields), fields)).response!
  },
}

const realm = newName('tokens')
await createTokenRealm(server, realm)

/** Keycloak refuses tokens whose `azp` or `sid` a mapper sets; Regent accepts them (decision 0071). */
const createAcceptedResponses = (clientId: string, mappedClaims: object): TokenResponses => {
  const sub = '10000000-0000-4000-8000-000000000001'
  const issued = { exp: '…', iat: '…', iss: '…', jti: '…', typ: 'Bearer', aud: clientId, azp: clientId, sid: '…' }
  const introspection = {
    active: true,
    username: 'ann',
    client_id: clientId,
    token_type: 'Bearer',
    scope: 'openid',
    sub,
  }
  return { introspection: { ...introspection, ...issued, ...mappedClaims }, userInfo: { sub } }
}
const differences: Readonly<Record<string, TokenResponses>> = {
  'claim-azp ann openid': createAcceptedResponses('claim-azp', { azp: 'hard' }),
  'claim-sid ann openid': createAcceptedResponses('claim-sid', { sid: 'hard' }),
}

test.each(tokenCases)('%s: tokens, introspection and user info have the same claims as in Keycloak', async (name) => {
  expect(await requestTokens(server, realm, name)).toEqual({ ...recorded[name], ...differences[name] })
})

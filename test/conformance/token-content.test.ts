// Tokens say what those of the reference server say: mappers of every type, roles, groups, scopes, organizations. What that
// says was recorded with scripts/record-tokens.ts.
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

const asked: TokenServer = {
  async admin(method, path, body) {
    const answer = await call(method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return { location: String(answer.headers.location).split('/').at(-1), body: answer.body }
  },
  async form(path, form) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return (await call('POST', path, { token: null, headers, body: new URLSearchParams(form).toString() })).body
  },
  async userInfo(path, token) {
    const answer = await call('GET', path, { token })
    return answer.body ?? { refused: answer.status }
  },
  async logIn(address, fields) {
    const browser = testBrowser(app)
    // The name is asked for first, and then the password.
    return (await browser.send(await browser.send(await browser.open(address), fields), fields)).response!
  },
}

const realm = newName('tokens')
await createTokenRealm(asked, realm)

/** Keycloak believes `azp` and `sid` of a mapper, and then refuses the token; Regent reads neither (decision 0071). */
const acceptedWith = (clientId: string, written: object): TokenResponses => {
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
  return { introspection: { ...introspection, ...issued, ...written }, userInfo: { sub } }
}
const differences: Readonly<Record<string, TokenResponses>> = {
  'claim-azp ann openid': acceptedWith('claim-azp', { azp: 'hard' }),
  'claim-sid ann openid': acceptedWith('claim-sid', { sid: 'hard' }),
}

test.each(tokenCases)('%s: tokens say what they say there', async (name) => {
  expect(await requestTokens(asked, realm, name)).toEqual({ ...recorded[name], ...differences[name] })
})

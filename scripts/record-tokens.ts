// Records the content of a server's tokens, for test/conformance/token-content.test.ts. It creates a realm and deletes it again.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createTokenRealm, requestTokens, type TokenServer, tokenCases } from '../test/support/token-realm.ts'

const usage = 'Usage: node scripts/record-tokens.ts --server URL --user NAME --password PASSWORD'

const { values } = parseArgs({
  options: { server: { type: 'string' }, user: { type: 'string' }, password: { type: 'string' } },
})
const { server, user, password } = values
if (!server || !user || !password) throw new Error(usage)

let token = { text: '', at: 0 }

const tokenServer: TokenServer = {
  async admin(method, path, body) {
    // An administrator's token is valid for a minute.
    if (Date.now() - token.at > 30_000) token = { text: await logIn(), at: Date.now() }
    const response = await fetch(server + path, {
      method,
      headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return { location: response.headers.get('location')?.split('/').at(-1), body: text && JSON.parse(text) }
  },
  form: async (path, form) =>
    parseResponse(await fetch(server + path, { method: 'POST', body: new URLSearchParams(form) })),
  userInfo: async (path, bearer) =>
    parseResponse(await fetch(server + path, { headers: { authorization: `Bearer ${bearer}` } })),
  async logIn(address, fields) {
    const cookies = new Map<string, string>()
    let response = await fetch(server + address)
    // A server may ask for the user name on a page of its own.
    for (let pages = 0; pages < 2 && !response.headers.has('location'); pages++) {
      for (const text of response.headers.getSetCookie()) cookies.set(text.split('=')[0]!, text.split(';')[0]!)
      const action = / action="([^"]*)"/.exec(await response.text())?.[1]?.replaceAll('&amp;', '&')
      if (!action) throw new Error(`${address} shows no form`)
      const headers = { cookie: [...cookies.values()].join('; ') }
      response = await fetch(action, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' })
    }
    return new URL(response.headers.get('location')!).searchParams
  },
}

async function parseResponse(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text()
  return text ? JSON.parse(text) : { refused: response.status }
}

async function logIn(): Promise<string> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username: user!, password: password! }
  return String((await tokenServer.form('/realms/master/protocol/openid-connect/token', form)).access_token)
}

const realm = `tokens-${randomUUID().slice(0, 8)}`
await createTokenRealm(tokenServer, realm)
try {
  const lines: string[] = []
  for (const name of tokenCases)
    lines.push(`  ${JSON.stringify(name)}: ${JSON.stringify(await requestTokens(tokenServer, realm, name))}`)
  const file = join(import.meta.dirname, '..', 'test', 'conformance', 'token-content.json')
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
  console.log(`${lines.length} cases recorded`)
} finally {
  await tokenServer.admin('DELETE', `/admin/realms/${realm}`)
}

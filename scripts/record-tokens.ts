// Records what a server says in tokens, for test/conformance/token-content.test.ts. It makes a realm and deletes it again.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createTokenRealm, requestTokens, type TokenServer, tokenCases } from '../test/support/token-realm.ts'

const usage = 'Usage: node scripts/record-tokens.ts --server URL --user NAME --password WORD'

const { values } = parseArgs({
  options: { server: { type: 'string' }, user: { type: 'string' }, password: { type: 'string' } },
})
const { server, user, password } = values
if (!server || !user || !password) throw new Error(usage)

let token = { text: '', at: 0 }

const asked: TokenServer = {
  async admin(method, path, body) {
    // An administrator's token is valid for a minute.
    if (Date.now() - token.at > 30_000) token = { text: await logIn(), at: Date.now() }
    const answer = await fetch(server + path, {
      method,
      headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return { location: answer.headers.get('location')?.split('/').at(-1), body: text && JSON.parse(text) }
  },
  form: async (path, form) => parsed(await fetch(server + path, { method: 'POST', body: new URLSearchParams(form) })),
  userInfo: async (path, bearer) =>
    parsed(await fetch(server + path, { headers: { authorization: `Bearer ${bearer}` } })),
  async logIn(address, fields) {
    const cookies = new Map<string, string>()
    let answer = await fetch(server + address)
    // A server may ask for the name first, and then for the password.
    for (let pages = 0; pages < 2 && !answer.headers.has('location'); pages++) {
      for (const text of answer.headers.getSetCookie()) cookies.set(text.split('=')[0]!, text.split(';')[0]!)
      const action = / action="([^"]*)"/.exec(await answer.text())?.[1]?.replaceAll('&amp;', '&')
      if (!action) throw new Error(`${address} shows no form`)
      const headers = { cookie: [...cookies.values()].join('; ') }
      answer = await fetch(action, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' })
    }
    return new URL(answer.headers.get('location')!).searchParams
  },
}

async function parsed(answer: Response): Promise<Record<string, unknown>> {
  const text = await answer.text()
  return text ? JSON.parse(text) : { refused: answer.status }
}

async function logIn(): Promise<string> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username: user!, password: password! }
  return String((await asked.form('/realms/master/protocol/openid-connect/token', form)).access_token)
}

const realm = `tokens-${randomUUID().slice(0, 8)}`
await createTokenRealm(asked, realm)
try {
  const said: string[] = []
  for (const name of tokenCases)
    said.push(`  ${JSON.stringify(name)}: ${JSON.stringify(await requestTokens(asked, realm, name))}`)
  const file = join(import.meta.dirname, '..', 'test', 'conformance', 'token-content.json')
  writeFileSync(file, `{\n${said.join(',\n')}\n}\n`)
  console.log(`${said.length} cases recorded`)
} finally {
  await asked.admin('DELETE', `/admin/realms/${realm}`)
}

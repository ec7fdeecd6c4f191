// Records a server's responses for a new realm and for realms that are imported from files, for
// test/conformance/imports.test.ts. It creates realms, reads them and deletes them again.
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { type RealmResponses, readRealm } from '../test/support/read-realm.ts'
import { readImport, realmImports } from '../test/support/realm-imports.ts'
import { compactResponses, renderResponses } from '../test/support/response-differences.ts'

const usage = `Usage: node scripts/record-imports.ts --server URL --user NAME --password PASSWORD --files FOLDER [IMPORT...]
IMPORT: ${Object.keys(realmImports).join(', ')}`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    user: { type: 'string' },
    password: { type: 'string' },
    files: { type: 'string' },
  },
})
const { server, user, password, files } = values
if (!server || !user || !password || !files) throw new Error(usage)

let token = { text: '', at: 0 }

async function call(method: string, address: string, body?: object) {
  // An administrator's token is valid for a minute.
  if (Date.now() - token.at > 30_000) token = { text: await logIn(), at: Date.now() }
  const response = await fetch(server + address, {
    method,
    headers: {
      authorization: `Bearer ${token.text}`,
      accept: 'application/json',
      'content-type': 'application/json',
    },
    body: body ? JSON.stringify(body) : null,
  })
  const text = await response.text()
  return { status: response.status, body: text && JSON.parse(text) }
}

async function logIn(): Promise<string> {
  const response = await fetch(`${server}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: user!,
      password: password!,
    }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

async function record(name: string): Promise<RealmResponses> {
  const realm = `import-${randomUUID().slice(0, 8)}`
  const content = readImport(name, realm, pathToFileURL(join(files!, '/')))
  if (!content) throw new Error(`${name}: no file in ${files}`)
  const creation = await call('POST', '/admin/realms', content)
  if (creation.status !== 201) throw new Error(`${name}: ${creation.status} ${JSON.stringify(creation.body)}`)
  try {
    return await readRealm(realm, (address) => call('GET', address))
  } finally {
    await call('DELETE', `/admin/realms/${realm}`)
  }
}

const folder = join(import.meta.dirname, '..', 'test', 'conformance', 'imports')
mkdirSync(folder, { recursive: true })
const newRealm = await record('new-realm')
for (const name of positionals.length ? positionals : Object.keys(realmImports)) {
  const responses = name === 'new-realm' ? newRealm : compactResponses(newRealm, await record(name))
  writeFileSync(join(folder, `${name}.json`), renderResponses(responses))
  console.log(`${name} recorded`)
}

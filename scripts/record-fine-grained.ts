// Records what administrators with fine-grained admin permissions may do in Keycloak, for test/conformance/fine-grained.test.ts.
// The server must have the feature admin-fine-grained-authz of the version, and is changed: use a disposable one.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compactMatrix, type MatrixCall, runMatrix, type Version } from '../test/support/fine-grained-matrix.ts'

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    user: { type: 'string' },
    password: { type: 'string' },
    version: { type: 'string' },
  },
})
const { server, user, password, version } = values
if (!server || !user || !password || (version !== '1' && version !== '2'))
  throw new Error(
    'Usage: node scripts/record-fine-grained.ts --server URL --user NAME --password PASSWORD --version 1|2',
  )

let administrator = ''
async function send(method: string, path: string, token: string | undefined, body: unknown) {
  const isForm = body instanceof URLSearchParams
  const response = await fetch(server + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, body: isJson ? JSON.parse(text) : text }
}

async function logIn(): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'password',
    client_id: 'admin-cli',
    username: user!,
    password: password!,
  })
  return (await send('POST', '/realms/master/protocol/openid-connect/token', undefined, body)).body.access_token
}

const call: MatrixCall = async (method, path, { body, token } = {}) => {
  if (token || path.startsWith('/realms/')) return send(method, path, token, body)
  const response = await send(method, path, administrator, body)
  if (response.status !== 401 && response.status !== 403) return response
  administrator = await logIn()
  return send(method, path, administrator, body)
}

const file = join(import.meta.dirname, '..', 'test', 'conformance', 'fine-grained.json')
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
const matrix = await runMatrix(call, { realm: `fine-grained-${process.pid}`, version: Number(version) as Version })
writeFileSync(file, `${JSON.stringify({ ...recorded, [version]: compactMatrix(matrix) }, null, 1)}\n`)
console.log(`Version ${version}: ${Object.keys(matrix).length} administrators recorded`)

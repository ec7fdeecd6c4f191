// Permissions and limits of the stream of drift events.
import { afterEach, expect, test, vi } from 'vitest'
import { createAdminTokens } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'

const { createRealm, listen, adminToken } = await testServer()
const address = await listen()
/** The open streams. Each keeps its response, since a stream ends when its response is garbage-collected. */
const streams: { readonly controller: AbortController; response?: Response }[] = []
const closeStreams = (count: number) => {
  for (const { controller } of streams.splice(0, count)) controller.abort()
}
afterEach(() => closeStreams(streams.length))

async function openStream(token: string, query = ''): Promise<number> {
  const stream: (typeof streams)[number] = { controller: new AbortController() }
  streams.push(stream)
  const headers = { authorization: `Bearer ${token}` }
  stream.response = await fetch(`${address}/regent/v1/drift/events${query}`, {
    headers,
    signal: stream.controller.signal,
  })
  return stream.response.status
}

test('a caller who does not administer the realm gets 403', async () => {
  const name = (await createRealm()).split('/').at(-1)!
  const roles = ['query-users', 'view-users', 'manage-users', 'view-realm']
  const tokens = await createAdminTokens(
    name,
    roles.map((role) => ({ clientRoles: { 'realm-management': [role] } })),
  )
  for (const token of tokens)
    for (const query of ['', `?realm=${name}`]) expect(await openStream(token, query)).toBe(403)
  const [queryToken, createToken] = await createAdminTokens('master', [
    { clientRoles: { [`${name}-realm`]: ['query-clients'] } },
    { realmRoles: ['create-realm'] },
  ])
  expect([await openStream(queryToken!), await openStream(createToken!)]).toEqual([403, 403])
})

test('an eleventh stream of one caller returns 503, and other callers are not affected', async () => {
  const name = (await createRealm()).split('/').at(-1)!
  const [token] = await createAdminTokens(name, [{ clientRoles: { 'realm-management': ['realm-admin'] } }])
  for (let times = 0; times < 10; times++) expect(await openStream(token!, times % 2 ? `?realm=${name}` : '')).toBe(200)
  expect(await openStream(token!)).toBe(503)
  expect(await openStream(token!, `?realm=${name}`)).toBe(503)
  expect(await openStream(await adminToken())).toBe(200)
  closeStreams(1)
  for (let tries = 0; tries < 20 && (await openStream(token!)) !== 200; tries++)
    await new Promise((r) => setTimeout(r, 50))
  expect(await openStream(token!)).toBe(503)
})

test('a stream beyond the 200th of a server returns 503', async () => {
  const name = (await createRealm()).split('/').at(-1)!
  const admin = { clientRoles: { 'realm-management': ['realm-admin'] } }
  const tokens = await createAdminTokens(
    name,
    Array.from({ length: 21 }, () => admin),
  )
  const lastToken = tokens.pop()!
  // A closed stream is counted for another moment.
  const openUntilAccepted = (token: string) =>
    vi.waitUntil(async () => (await openStream(token)) === 200, { timeout: 60_000 })
  for (const token of tokens) for (let times = 0; times < 10; times++) await openUntilAccepted(token)
  expect(await openStream(lastToken)).toBe(503)
  closeStreams(10)
  await openUntilAccepted(lastToken)
})

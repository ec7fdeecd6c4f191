// Who may listen to drift, and how often.
import { afterEach, expect, test, vi } from 'vitest'
import { createAdminTokens } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'

const { realm, listen, adminToken } = await testServer()
const address = await listen()
/** What listens. Answers are kept with it: those that nobody holds end by themselves. */
const open: { readonly ending: AbortController; answer?: Response }[] = []
const end = (count: number) => {
  for (const { ending } of open.splice(0, count)) ending.abort()
}
afterEach(() => end(open.length))

async function statusOf(token: string, query = ''): Promise<number> {
  const one: (typeof open)[number] = { ending: new AbortController() }
  open.push(one)
  const headers = { authorization: `Bearer ${token}` }
  one.answer = await fetch(`${address}/regent/v1/drift/events${query}`, { headers, signal: one.ending.signal })
  return one.answer.status
}

test('who administers no realm is refused, and takes nobody the place', async () => {
  const name = (await realm()).split('/').at(-1)!
  const held = ['query-users', 'view-users', 'manage-users', 'view-realm']
  const tokens = await createAdminTokens(
    name,
    held.map((role) => ({ clientRoles: { 'realm-management': [role] } })),
  )
  for (const token of tokens) for (const query of ['', `?realm=${name}`]) expect(await statusOf(token, query)).toBe(403)
  const [own, create] = await createAdminTokens('master', [
    { clientRoles: { [`${name}-realm`]: ['query-clients'] } },
    { realmRoles: ['create-realm'] },
  ])
  expect([await statusOf(own!), await statusOf(create!)]).toEqual([403, 403])
})

test('one caller listens ten times at most, by whichever tokens, and others still do', async () => {
  const name = (await realm()).split('/').at(-1)!
  const [token] = await createAdminTokens(name, [{ clientRoles: { 'realm-management': ['realm-admin'] } }])
  for (let times = 0; times < 10; times++) expect(await statusOf(token!, times % 2 ? `?realm=${name}` : '')).toBe(200)
  expect(await statusOf(token!)).toBe(503)
  expect(await statusOf(token!, `?realm=${name}`)).toBe(503)
  expect(await statusOf(await adminToken())).toBe(200)
  end(1)
  for (let tries = 0; tries < 20 && (await statusOf(token!)) !== 200; tries++)
    await new Promise((r) => setTimeout(r, 50))
  expect(await statusOf(token!)).toBe(503)
})

test('200 listen to a server at most, whoever they are', async () => {
  const name = (await realm()).split('/').at(-1)!
  const admin = { clientRoles: { 'realm-management': ['realm-admin'] } }
  const tokens = await createAdminTokens(
    name,
    Array.from({ length: 21 }, () => admin),
  )
  const last = tokens.pop()!
  // Streams that have ended leave their places a moment later.
  const listens = (token: string) => vi.waitUntil(async () => (await statusOf(token)) === 200, { timeout: 60_000 })
  for (const token of tokens) for (let times = 0; times < 10; times++) await listens(token)
  expect(await statusOf(last)).toBe(503)
  end(10)
  await listens(last)
})

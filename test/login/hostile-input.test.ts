// Hostile input to the login pages is bounded, is rendered as text, and never redirects to another site.
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { APPLICATION, testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app, call, create } = await testServer()
const { service } = await testService()

const logIn = { username: 'ann', password: 'pw' }
const problem = (text: string) => /class="problem"[^>]*>([^<]*)/.exec(text)?.[1]

/** Returns the number of logins in progress in a realm. */
async function countLogins(name: string): Promise<number> {
  const { rows } = await service.query((tx) =>
    sql<{ count: number }>`
      select count(*)::integer as count from authentication_session a join realm r on r.number = a.realm
      where r.name = ${name} /* test */`.execute(tx),
  )
  return rows[0]!.count
}

test('message keys in user input are shown unchanged', async () => {
  const { logInAddress } = await createLoginRealm({ registrationAllowed: true })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress({ prompt: 'create' }).address)
  const fields = { username: 'eve', firstName: '${doLogIn}', lastName: 'V', password: 'x', 'password-confirm': 'x' }
  const again = await browser.send(page, { ...fields, email: '${loginAccountTitle}' })
  expect(problem(again.text)).toBeDefined()
  expect(again.text).toContain('${loginAccountTitle}')
  const hint = await browser.open(logInAddress({ login_hint: '${loginAccountTitle}' }).address)
  expect(hint.text).toContain('value="${loginAccountTitle}"')
})

test('fields of almost 32 kB are refused and not stored', async () => {
  const { logInAddress, name } = await createLoginRealm({ registrationAllowed: true })
  const long = '${'.repeat(5000)
  const tooLong = 'This must have at most 4000 characters.'
  for (const [parameters, fields, message] of [
    [{ prompt: 'create' }, { email: long, username: 'eve', firstName: 'E', lastName: 'V' }, tooLong],
    [{}, { username: long, password: 'x' }, tooLong],
    [{}, { username: 'ann', password: '1'.repeat(30_000) }, tooLong],
    [
      {},
      Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`field${at}`, 'x'.repeat(3900)])),
      'Invalid username or password.',
    ],
  ] as const) {
    const browser = testBrowser(app)
    const page = await browser.open(logInAddress(parameters as Record<string, string>).address)
    const again = await browser.send(page, fields as Record<string, string>)
    expect([again.status, problem(again.text)]).toEqual([200, message])
  }
  const { rows } = await service.query((tx) =>
    sql<{ size: number }>`
      select max(length(a.body::text)) as size from authentication_session a join realm r on r.number = a.realm
      where r.name = ${name} /* test */`.execute(tx),
  )
  expect(rows[0]!.size).toBeLessThan(20_000)
})

test('a request of more than 8 kB starts no login, and a long login hint is ignored', async () => {
  const { logInAddress, name } = await createLoginRealm()
  const browser = testBrowser(app)
  const x = 'x'.repeat(3000)
  const refused = await browser.open(logInAddress({ state: x, nonce: x, acr_values: x }).address)
  expect(refused.response?.get('error')).toBe('invalid_request')
  const posted = await app.inject({
    method: 'POST',
    url: `/realms/${name}/protocol/openid-connect/auth`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `${logInAddress({ state: x, nonce: x, claims: x }).address.split('?')[1]}`,
  })
  expect(posted.headers.location).toContain('error=invalid_request')
  expect(await countLogins(name)).toBe(0)
  const page = await browser.open(logInAddress({ login_hint: 'h'.repeat(256) }).address)
  expect(page.text).not.toContain('hhh')
})

test('a browser has at most 300 logins in progress, and the latest can continue', async () => {
  const { logInAddress, name } = await createLoginRealm()
  const browser = testBrowser(app)
  let page = await browser.open(logInAddress().address)
  for (let at = 0; at < 310; at++) page = await browser.open(logInAddress().address)
  expect(await countLogins(name)).toBe(300)
  expect((await browser.send(page, logIn)).response?.has('code')).toBe(true)
})

test('a realm has at most 50,000 logins in progress, and the latest can continue', async () => {
  const { logInAddress, name } = await createLoginRealm()
  await service.query((tx) =>
    sql`
      insert into authentication_session (realm, id, tab, code, expires_at, body)
      select r.number, 'browser ' || n, 'tab', 'code', now() + interval '1 minute' + n * interval '1 ms', '{}'
      from realm r cross join generate_series(1, 51000) n where r.name = ${name} /* test */`.execute(tx),
  )
  const browser = testBrowser(app)
  let page = await browser.open(logInAddress().address)
  // On average one of fifty new logins counts the others.
  for (let at = 0; at < 1000 && (await countLogins(name)) > 50_000; at++) {
    browser.cookies.clear()
    page = await browser.open(logInAddress().address)
  }
  expect(await countLogins(name)).toBeLessThanOrEqual(50_000)
  expect((await browser.send(page, logIn)).response?.has('code')).toBe(true)
})

const PARENT_PATHS = [
  ...['../x', '%2e%2e/x', '..;/x', '..;a=b/x', '%2e%2e;/x', '..%3b/x', '%2e%2e%3Ba/x', '%252e%252e/x', '..%252fx'],
  ...['%25252e%25252e/x', '..%00/x', 'a%00', '%c0%ae%c0%ae/x', '%e0%80%ae%e0%80%ae/x', '..%2fx', '..%5cx', '..\\x'],
  ...['.%09./x', '..%09/x', '..%20/x', '.;/x', 'a%0a', '%', '%zz', '..', '..%3fx', '..%23/x'],
]

test.each(PARENT_PATHS)(
  'a redirect below a wildcard is refused if a server could resolve %s to a parent path',
  async (path) => {
    const { logInAddress, name } = await createLoginRealm(
      {},
      { client: { redirectUris: [`${APPLICATION}/*`], attributes: { 'post.logout.redirect.uris': '+' } } },
    )
    const browser = testBrowser(app)
    const page = await browser.open(logInAddress({ redirect_uri: `${APPLICATION}/${path}` }).address)
    expect([page.status, page.response]).toEqual([400, undefined])
    const query = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: `${APPLICATION}/${path}` })
    const out = await browser.open(`/realms/${name}/protocol/openid-connect/logout?${query}`)
    expect([out.status, out.response]).toEqual([400, undefined])
  },
)

test.each(['code=x', 'a=b&state=x', 'ERROR=x', '%63ode', 'session_state=x', 'iss=x'])(
  'a redirect URI below a wildcard is refused with the response parameter %s',
  async (parameters) => {
    const redirectUris = [`${APPLICATION}/*`]
    const { logInAddress, name } = await createLoginRealm({}, { client: { redirectUris } })
    const uri = `${APPLICATION}/path?${parameters}`
    const browser = testBrowser(app)
    const page = await browser.open(logInAddress({ redirect_uri: uri, prompt: 'none' }).address)
    expect([page.status, page.response]).toEqual([400, undefined])
    const query = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: uri })
    const out = await browser.open(`/realms/${name}/protocol/openid-connect/logout?${query}`)
    expect([out.status, out.response]).toEqual([400, undefined])
  },
)

test('allow.oidc.params.in.redirect.uris of a client accepts response parameters in its redirect URIs', async () => {
  const attributes = { 'allow.oidc.params.in.redirect.uris': 'true' }
  const client = { redirectUris: [`${APPLICATION}/*`], attributes }
  const { logInAddress, name } = await createLoginRealm({}, { client })
  const uri = `${APPLICATION}/path?code=x`
  const { address } = logInAddress({ redirect_uri: uri, prompt: 'none' })
  const login = await app.inject({ url: address })
  expect(login.headers.location).toContain(`${uri}&error=login_required`)
  const query = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: uri })
  const out = await app.inject({ url: `/realms/${name}/protocol/openid-connect/logout?${query}` })
  expect(out.headers.location).toBe(uri)
})

test('other paths below a wildcard are accepted, in any script', async () => {
  const { logInAddress } = await createLoginRealm({}, { client: { redirectUris: [`${APPLICATION}/*`] } })
  for (const path of [
    '',
    'a/b.html?x=..%2f',
    'a..b/c',
    '...',
    'a%20b',
    'caf%C3%A9',
    'a;b=c/d',
    '☃?x=☃',
    '?x=code&zip_code=1',
  ]) {
    const browser = testBrowser(app)
    const { address } = logInAddress({ redirect_uri: `${APPLICATION}/${path}`, prompt: 'none' })
    const response = await app.inject({ url: address })
    expect([path, response.statusCode]).toEqual([path, 302])
    expect(response.headers.location).toMatch(/^[\x21-\x7e]+error=login_required/)
    expect((await browser.open(address)).response?.get('error')).toBe('login_required')
  }
})

test('an invalid host returns 400, and a realm name in any script works at login and in challenges', async () => {
  const { logInAddress } = await createLoginRealm()
  for (const host of ['[', 'a b', 'x:99999', '%00'])
    for (const url of [logInAddress().address, '/realms/master', '/realms/master/.well-known/openid-configuration'])
      expect([host, (await app.inject({ url, headers: { host } })).statusCode]).toEqual([host, 400])
  const realm = `r☃-${Math.random().toString(36).slice(2)}`
  await create('/admin/realms', { realm, enabled: true })
  const path = `/realms/${encodeURIComponent(realm)}`
  const challenge = await app.inject({ url: `${path}/protocol/openid-connect/userinfo` })
  expect([challenge.statusCode, challenge.headers['www-authenticate']]).toEqual([
    401,
    expect.stringContaining('realm="r%E2'),
  ])
  await create(`/admin${path}/clients`, { clientId: 'web', publicClient: true, redirectUris: [APPLICATION] })
  const page = await testBrowser(app).open(logInAddress().address.replace(/^\/realms\/[^/]+/, path))
  expect(page.status).toBe(200)
  await call('DELETE', `/admin${path}`)
})

test('an invalid security header is refused, and one that is stored already does not break pages', async () => {
  const { path, name, logInAddress } = await createLoginRealm()
  for (const value of ['SAMEORIGIN\nX-Evil: 1', 'a\rb', '☃', 'a\u0000b'.replace('\u0000', '\u0001')]) {
    const { status } = await call('PUT', path, { body: { browserSecurityHeaders: { xFrameOptions: value } } })
    expect([value, status]).toEqual([value, 400])
    const created = await call('POST', '/admin/realms', {
      body: { realm: `${name}-other`, browserSecurityHeaders: { referrerPolicy: value } },
    })
    expect(created.status).toBe(400)
  }
  await service.query((tx) =>
    sql`
      update realm set body = jsonb_set(body, '{browserSecurityHeaders}', '{"xFrameOptions": "a\\nb", "xRobotsTag": "all"}')
      where name = ${name} /* test */`.execute(tx),
  )
  const response = await app.inject({ url: logInAddress().address })
  expect([response.statusCode, response.headers['x-robots-tag']]).toEqual([200, 'all'])
})

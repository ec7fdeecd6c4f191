// Three server processes on one PostgreSQL database share the count of login failures.
import { afterAll, expect, inject, test } from 'vitest'
import { createCommandFolder } from '../support/cli.ts'

/** The number of guesses; a campaign has more. */
const GUESSES = Number(process.env.REGENT_GUESSES ?? 60)
const ALLOWED = 7

const at = await createCommandFolder()
afterAll(() => at.remove())

test.runIf(inject('databaseUrl'))(
  'of many guesses on three servers only as many as may fail are evaluated',
  async () => {
    const serve = () => at.serve('--source', '')
    const first = await serve()
    const servers = [first, ...(await Promise.all([serve(), serve()]))]
    const { url } = first
    const logIn = async (server: string, realm: string, username: string, password: string) => {
      const body = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username, password })
      const response = await fetch(`${server}/realms/${realm}/protocol/openid-connect/token`, { method: 'POST', body })
      return (await response.json()) as Record<string, string>
    }
    const call = async (method: string, path: string, body?: object) => {
      const { access_token: token } = await logIn(url, 'master', 'admin', 'admin')
      return fetch(`${url}/admin/realms${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
    }
    const protection = { bruteForceProtected: true, quickLoginCheckMilliSeconds: 0, failureFactor: ALLOWED }
    const wait = { waitIncrementSeconds: 600, maxFailureWaitSeconds: 900 }
    const ann = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'B' }
    await call('POST', '', { realm: 'guessed', enabled: true, eventsEnabled: true, ...protection, ...wait })
    const created = await call('POST', '/guessed/users', { ...ann, credentials: [{ value: 'right' }] })
    const user = created.headers.get('location')!.split('/').at(-1)

    const guesses = Array.from({ length: GUESSES }, (_, at) =>
      logIn(servers[at % 3]!.url, 'guessed', 'ann', `no-${at}`),
    )
    const answers = new Set((await Promise.all(guesses)).map(({ error_description }) => error_description))
    expect(answers).toEqual(new Set(['Invalid user credentials']))
    const failures = await call('GET', `/guessed/attack-detection/brute-force/users/${user}`)
    expect(await failures.json()).toMatchObject({ numFailures: ALLOWED, numTemporaryLockouts: 1, disabled: true })
    for (const server of servers) {
      expect(await logIn(server.url, 'guessed', 'ann', 'right')).toMatchObject({ error: 'invalid_grant' })
    }
    await call('DELETE', '/guessed/attack-detection/brute-force/users')
    expect(await logIn(servers[2]!.url, 'guessed', 'ann', 'right')).toHaveProperty('access_token')
  },
)

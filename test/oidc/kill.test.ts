// A server that is killed during logins retains every acknowledged session.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let at: CommandFolder
beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(() => at.remove())

/** The number of concurrent logins, and of acknowledged logins after which the server is killed. */
const AT_ONCE = 4
const ACKNOWLEDGED = 12

test.runIf(isFullRun)('no acknowledged session is lost by kill -9', async () => {
  const serve = () => at.serve('--source', '', '--port', '0')
  const first = await serve()
  const post = async (url: string, form: Record<string, string>) => {
    const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'admin-cli', ...form }),
    })
    return (await response.json()) as { refresh_token?: string; session_state?: string }
  }
  const acknowledged: string[] = []
  let killed: Promise<void> | undefined
  const logInUntilKilled = async () => {
    while (!killed) {
      const tokens = await post(first.url, { grant_type: 'password', username: 'admin', password: 'admin' })
      if (tokens.refresh_token) acknowledged.push(tokens.refresh_token)
      if (acknowledged.length >= ACKNOWLEDGED) killed ??= first.kill()
    }
  }
  // Requests in progress fail when the server is killed.
  await Promise.allSettled(Array.from({ length: AT_ONCE }, logInUntilKilled))
  await killed
  expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED)

  const second = await serve()
  for (const refresh of acknowledged) {
    const tokens = await post(second.url, { grant_type: 'refresh_token', refresh_token: refresh })
    expect(tokens).toHaveProperty('refresh_token')
  }
  expect(await second.stop()).toBe(0)
})

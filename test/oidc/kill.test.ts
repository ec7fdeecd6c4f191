// A server that is killed while people log in keeps every session that it has acknowledged.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { everything } from '../support/campaign.ts'
import { type Workplace, workplace } from '../support/cli.ts'

let at: Workplace
beforeEach(async () => {
  at = await workplace()
})
afterEach(() => at.leave())

/** How many people log in at a time, and how many log-ins are acknowledged when the server is killed. */
const AT_ONCE = 4
const ACKNOWLEDGED = 12

test.runIf(everything)('no acknowledged session is lost by kill -9', async () => {
  const serve = () => at.serve('--source', '', '--port', '0')
  const first = await serve()
  const post = async (url: string, form: Record<string, string>) => {
    const answer = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'admin-cli', ...form }),
    })
    return (await answer.json()) as { refresh_token?: string; session_state?: string }
  }
  const acknowledged: string[] = []
  let killed: Promise<void> | undefined
  const person = async () => {
    while (!killed) {
      const tokens = await post(first.url, { grant_type: 'password', username: 'admin', password: 'admin' })
      if (tokens.refresh_token) acknowledged.push(tokens.refresh_token)
      if (acknowledged.length >= ACKNOWLEDGED) killed ??= first.kill()
    }
  }
  // Whoever waits for an answer when the server ends gets none.
  await Promise.allSettled(Array.from({ length: AT_ONCE }, person))
  await killed
  expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED)

  const second = await serve()
  for (const refresh of acknowledged) {
    const tokens = await post(second.url, { grant_type: 'refresh_token', refresh_token: refresh })
    expect(tokens).toHaveProperty('refresh_token')
  }
  expect(await second.stop()).toBe(0)
})

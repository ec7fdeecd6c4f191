// Invitations to organizations in a real browser: the link of a delivered email, the registration, the confirmation, and refused links.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { createInvitingRealm, SHORT_LIFESPAN } from '../support/inviting-realm.ts'
import { testServer } from '../support/server.ts'

describe.skipIf(!chromiumPath)(inChromium, () => {
  let browser: Browser
  let landing: Server
  let redirectUrl: string

  beforeAll(async () => {
    browser = await startChromium()
    landing = createServer((_, response) => response.end('Welcome')).listen(0, '127.0.0.1')
    await new Promise<void>((resolve) => landing.once('listening', resolve))
    redirectUrl = `http://127.0.0.1:${(landing.address() as AddressInfo).port}/welcome`
  })
  afterAll(async () => {
    await browser.close()
    landing.close()
  })

  /** Creates the realm, and returns a function that opens a link of an email in a new browser window. */
  const createRealm = async () => {
    const server = await (await testServer()).listen()
    const realm = await createInvitingRealm({}, { redirectUrl })
    const open = async (link: string): Promise<Page> => {
      const { pathname, search } = new URL(link)
      const tab = await (await browser.newContext()).newPage()
      await tab.goto(server + pathname + search)
      return tab
    }
    return { realm, open, server }
  }
  const register = async (tab: Page) => {
    await tab.getByLabel('Username').fill('eve')
    await tab.getByLabel('First name').fill('Eve')
    await tab.getByLabel('Last name').fill('Example')
    await tab.getByLabel('Password', { exact: true }).fill('secret-1')
    await tab.getByLabel('Repeat the password').fill('secret-1')
    await tab.getByRole('button', { name: 'Register' }).click()
  }

  test('a new user registers with the invited address, is logged in, and arrives at the redirect URL', async () => {
    const { realm, open, server } = await createRealm()
    const tab = await open(await realm.invite('eve@acme.example'))
    expect(await tab.getByRole('heading').innerText()).toBe('Register as a member of acme')
    expect(await tab.getByLabel('Email address').inputValue()).toBe('eve@acme.example')
    expect(await tab.getByLabel('Email address').isEditable()).toBe(false)
    await register(tab)
    await tab.waitForURL(redirectUrl)
    expect(await realm.listMembers()).toEqual(['eve MANAGED'])
    await tab.goto(`${server}/realms/${realm.name}/account`)
    expect(await tab.locator('main').innerText()).toContain('eve')
  })

  test('an existing user joins by confirming, and arrives at the redirect URL', async () => {
    const { realm, open } = await createRealm()
    const tab = await open(await realm.inviteBob())
    expect(await tab.getByRole('heading').innerText()).toBe('Join acme?')
    expect(await realm.listMembers()).toEqual([])
    await tab.getByRole('button', { name: 'Join the organization' }).click()
    await tab.waitForURL(redirectUrl)
    expect(await realm.listMembers()).toEqual(['bob UNMANAGED'])
  })

  test('an expired link, a used link and the link of another realm are refused', async () => {
    const { realm, open } = await createRealm()
    const other = await createInvitingRealm()
    const { call } = await testServer()
    const refusal = async (link: string) => (await open(link)).getByRole('alert').innerText()
    const link = await realm.invite('eve@acme.example')
    await register(await open(link))
    await expect.poll(realm.listMembers).toEqual(['eve MANAGED'])
    expect(await refusal(link)).toContain('This invitation is no longer valid.')
    expect(await refusal(link.replace(realm.name, other.name))).toContain('This invitation is no longer valid.')
    await call('PUT', realm.path, { body: { actionTokenGeneratedByAdminLifespan: SHORT_LIFESPAN } })
    const expired = await realm.inviteBob()
    await expect.poll(() => realm.listInvitations('?status=EXPIRED'), { timeout: 15_000 }).toHaveLength(1)
    expect(await refusal(expired)).toContain('This link has expired')
    expect(await realm.listMembers()).toEqual(['eve MANAGED'])
  })
})

// What callers with few permissions see in the console: nothing that the server would refuse.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { openConsole, startConsoleServer } from '../support/console.ts'
import { activate, enterText } from '../support/keyboard.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { service } = await testService()
const { call, create, createRealm } = await testServer()

describe.skipIf(!chromiumPath)(inChromium, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof startConsoleServer>>

  beforeAll(async () => {
    browser = await startChromium()
    server = await startConsoleServer()
  })
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  /** Creates a user of a realm with roles of its client `realm-management`. */
  const createUser = async (realm: string, roles: readonly string[]) => {
    const username = newName()
    const profile = { firstName: 'A', lastName: 'B', email: `${username}@example.org`, enabled: true }
    const path = await create(`/admin/realms/${realm}/users`, {
      username,
      ...profile,
      credentials: [{ type: 'password', value: 'pw' }],
    })
    const { body: clients } = await call('GET', `/admin/realms/${realm}/clients?clientId=realm-management`)
    const { body: all } = await call('GET', `/admin/realms/${realm}/clients/${clients[0].id}/roles`)
    const body = all.filter(({ name }: { name: string }) => roles.includes(name))
    await call('POST', `${path}/role-mappings/clients/${clients[0].id}`, { body })
    return { realm, username, password: 'pw' }
  }
  const createManagedRealm = async () => {
    const realm = newName()
    await applySource(service, createSource([{ realm, enabled: true, clients: [{ clientId: 'shop', name: 'Shop' }] }]))
    await call('PUT', `/admin/realms/${realm}`, { body: { displayName: 'Changed' } })
    return realm
  }

  test('a viewer of one realm sees this realm only, and no page or button that the server would refuse', async () => {
    const realm = await createManagedRealm()
    const other = (await createRealm()).split('/').at(-1)!
    const user = await createUser(realm, ['view-realm'])
    const { page, show, errors, close } = await openConsole(browser, server.url, { user })
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403 && !response.url().endsWith('/events')) refused.push(response.url())
    })
    await page.locator('table.realms').getByRole('link', { name: realm, exact: true }).waitFor()
    expect(await page.locator('body').innerText()).not.toContain(other)
    await activate(page.locator('table.realms').getByRole('link', { name: realm, exact: true }))
    await page.getByRole('navigation', { name: 'Kinds' }).waitFor()
    expect(await page.locator('nav .nested').innerText()).toBe('Objects')
    const kinds = await page.getByRole('navigation', { name: 'Kinds' }).innerText()
    expect(kinds).toMatch(/authentication flow/)
    expect(kinds).not.toMatch(/client|user/)
    await activate(page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: /^realm/ }))
    await activate(page.locator('ul.list a').first())
    await page.getByRole('heading', { name: 'As declared' }).waitFor()
    for (const path of ['plans', 'sources']) {
      await show(path)
      await page.getByRole('heading', { name: /^No / }).waitFor()
    }
    const buttons = await page.locator('main button').allInnerTexts()
    expect(buttons).toEqual([])
    expect({ refused, errors }).toEqual({ refused: [], errors: [] })
    for (const path of ['drift', 'history', 'users', 'events']) {
      await show(`realms/${realm}/${path}`)
      await page.getByRole('heading', { name: 'You may not view this' }).waitFor()
    }
    await show(`realms/${other}`)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await close()
  })

  test('an administrator of a realm logs in to it, and does there what the API permits', async () => {
    const realm = await createManagedRealm()
    const user = await createUser(realm, ['realm-admin'])
    const { page, show, errors, close } = await openConsole(browser, server.url, { user })
    await page.locator('.account').getByText(user.username).waitFor()
    await page.locator('table.realms').getByRole('link', { name: realm, exact: true }).waitFor()
    expect(await page.locator('table.realms tbody tr').count()).toBe(1)
    expect((await page.locator('nav .nested').count()) === 0).toBe(true)
    await show(`realms/${realm}/users`)
    await activate(page.getByRole('link', { name: user.username }))
    await activate(page.getByRole('button', { name: 'Reset password' }))
    await enterText(page.getByLabel('New password', { exact: true }), 'another')
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Reset password' }))
    await page.getByText('The password is set.').waitFor()
    await show(`realms/${realm}/history`)
    await page.getByText('current').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  test('support staff find a user, see sessions and failed log-ins, and help', async () => {
    const realm = (await createRealm({ bruteForceProtected: true, failureFactor: 2 })).split('/').at(-1)!
    const staff = await createUser(realm, ['view-users', 'manage-users', 'view-realm'])
    const customer = await createUser(realm, [])
    const logIn = (password: string) =>
      fetch(`${server.url}/realms/${realm}/protocol/openid-connect/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'password',
          client_id: 'admin-cli',
          username: customer.username,
          password,
        }),
      })
    expect((await logIn('pw')).status).toBe(200)
    for (let times = 0; times < 3; times++) await logIn('wrong')
    const { page, show, errors, close } = await openConsole(browser, server.url, { user: staff })
    await show(`realms/${realm}/users`)
    await enterText(page.getByLabel('Find users by name or email'), customer.username)
    await activate(page.getByRole('link', { name: customer.username }))
    await page.getByText('Locked', { exact: true }).waitFor()
    await page.getByText('admin-cli').waitFor()
    await activate(page.getByRole('button', { name: 'Unlock' }))
    await page.getByText('The user is unlocked.').waitFor()
    expect((await logIn('pw')).status).toBe(200)
    await page.getByLabel('Update Password').check()
    await activate(page.getByRole('button', { name: 'Save' }))
    await page.getByText('The required actions are saved.').waitFor()
    await activate(page.getByRole('button', { name: 'Log out everywhere' }))
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }))
    await page.getByText('The sessions are ended.').waitFor()
    await page.getByText('No sessions').waitFor()
    await activate(page.getByRole('button', { name: 'Disable' }))
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Disable' }))
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    const { body } = await call('GET', `/admin/realms/${realm}/users?username=${customer.username}`)
    expect(body[0]).toMatchObject({ enabled: false, requiredActions: ['UPDATE_PASSWORD'] })
    expect(errors).toEqual([])
    await close()
  })
})

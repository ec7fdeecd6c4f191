// What an operator does in the console, with a server that follows a source.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { type CommandFolder, callAsAdmin, createCommandFolder, type RunningServer } from '../support/cli.ts'
import { type ConsolePage, logIn, openConsole } from '../support/console.ts'
import { activate } from '../support/keyboard.ts'

const realmFile = `realm: shop
enabled: true
displayName: Shop
clients:
  - clientId: web
    name: Web shop
    publicClient: true
    redirectUris: [https://shop.example.com/callback]
roles:
  realm:
${['buyer', 'seller', 'courier', 'auditor', 'helper'].map((name) => `    - name: ${name}`).join('\n')}
`

describe.skipIf(!chromiumPath)(inChromium, () => {
  let browser: Browser
  let cli: CommandFolder
  let server: RunningServer
  let open: ConsolePage
  let page: Page

  const write = (text: string) => writeFile(join(cli.folder, 'shop.yaml'), text)
  const changeClient = async (fields: object) => {
    const { body } = await callAsAdmin<{ id: string }[]>(server.url, { path: '/shop/clients?clientId=web' })
    const { status } = await callAsAdmin(server.url, {
      method: 'PUT',
      path: `/shop/clients/${body[0]!.id}`,
      body: fields,
    })
    expect(status).toBe(204)
  }
  const getClientName = async () => {
    const { body } = await callAsAdmin<{ name: string }[]>(server.url, { path: '/shop/clients?clientId=web' })
    return body[0]!.name
  }
  const overviewRow = () => page.locator('table.realms tr', { hasText: 'shop' }).first()

  beforeAll(async () => {
    browser = await startChromium()
    cli = await createCommandFolder()
    await write(realmFile)
    server = await cli.serve('--source', 'shop.yaml')
    open = await openConsole(browser, server.url)
    page = open.page
  })
  afterAll(async () => {
    expect(open.errors).toEqual([])
    await browser.close()
    await cli.remove()
  })

  test('the overview shows a realm that is in sync, and drift by REST within a second, with its actor', async () => {
    await overviewRow().getByText('In sync').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await changeClient({ name: 'Edited by hand' })
    await page.getByText('1 drifted value in shop').waitFor({ timeout: 1_000 })
    await activate(page.getByRole('link', { name: '1 drifted value in shop' }))
    await page.getByText('Edited by hand').waitFor()
    expect(await page.locator('.drift-list').innerText()).toMatch(/admin via admin-cli/)
  })

  test('a drifted value can be accepted by the YAML to commit, and corrected', async () => {
    await activate(page.getByRole('button', { name: 'Accept' }))
    await page.getByRole('dialog').getByText('name: Edited by hand').waitFor()
    expect(await page.getByRole('dialog').innerText()).toContain('shop.yaml:6')
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Close' }))
    await activate(page.getByRole('button', { name: 'Correct' }))
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Correct' }))
    await page.getByRole('heading', { name: 'No drift' }).waitFor()
    expect(await getClientName()).toBe('Web shop')
  })

  test('a broken file shows its place, and an applied one that the source is in sync again', async () => {
    await activate(page.getByRole('link', { name: 'Overview' }))
    await write(realmFile.replace('displayName', 'displayNam'))
    await page.getByText('Source test failed').waitFor()
    const card = page.locator('.card.failed')
    expect(await card.innerText()).toContain('shop.yaml:3:1')
    expect(await card.innerText()).toMatch(/unknown field displayNam/)
    await write(realmFile)
    await page.getByText('Everything is in sync.').waitFor()
  })

  test('a plan that is pending approval is shown field by field, and applied when it is approved', async () => {
    const fewer = realmFile
      .replace(/ {4}- name: (seller|courier|auditor|helper)\n/g, '')
      .replace('Web shop', 'Web store')
    await write(fewer)
    await activate(page.getByRole('link', { name: /^Plan .* is pending approval$/ }))
    await page.getByRole('heading', { level: 1, name: /^\w+-\w+-\w+$/ }).waitFor()
    const changes = page.locator('ul.changes')
    await changes.getByText('courier').waitFor()
    // Chromium renders changes when they are scrolled into view; those that it has not rendered yet have no inner text.
    expect(await changes.locator('del').first().textContent()).toContain('Web shop')
    expect(await changes.locator('ins').first().textContent()).toContain('Web store')
    await activate(page.getByRole('button', { name: 'Approve and apply' }))
    expect(await getClientName()).toBe('Web shop')
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Approve and apply' }))
    await page.getByText('The plan is approved and applied.').waitFor()
    await page.locator('main').getByText('Applied', { exact: true }).waitFor()
    expect(await getClientName()).toBe('Web store')
  })

  test('a rollback shows its plan first, and suspends the source', async () => {
    await open.show('realms/shop/history')
    await page.getByText('current').waitFor()
    await activate(page.getByRole('link', { name: 'Roll back …' }).first())
    await page.getByRole('heading', { name: /^Roll back to r\d+$/ }).waitFor()
    await page.locator('ul.changes').getByText('courier').first().waitFor()
    expect(await getClientName()).toBe('Web store')
    await activate(page.getByRole('button', { name: 'Roll back' }))
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Roll back' }))
    await page
      .getByText(/rolled back to r\d+/)
      .first()
      .waitFor()
    expect(await getClientName()).toBe('Web shop')
    await activate(page.getByRole('link', { name: 'Sources' }))
    await activate(page.getByRole('link', { name: 'test', exact: true }))
    await page.getByText(/admin rolled back to r\d+/).waitFor()
    await activate(page.getByRole('button', { name: 'Resume' }))
    await page.getByText('The source is resumed.').waitFor()
    await write(await readFile(join(cli.folder, 'shop.yaml'), 'utf8'))
  })

  test('a deep link survives the log-in, and a log-out asks for the password again', async () => {
    const second = await openConsole(browser, server.url, { path: 'realms/shop/objects/client?key=web' })
    await second.page.getByRole('heading', { level: 1, name: 'web' }).waitFor()
    await second.page.reload()
    await second.page.getByRole('heading', { level: 1, name: 'web' }).waitFor()
    const stored = 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])'
    expect(await second.page.evaluate(stored)).not.toMatch(/eyJ|token/)
    await activate(second.page.getByRole('button', { name: 'Log out' }))
    await logIn(second.page, {})
    await second.page.getByRole('heading', { name: 'Overview' }).waitFor()
    await second.close()
  })

  test('after the end of the session the page asks to log in again, and continues', async () => {
    const second = await openConsole(browser, server.url, { path: 'sources' })
    const { body: users } = await callAsAdmin<{ id: string }[]>(server.url, { path: '/master/users?username=admin' })
    await callAsAdmin(server.url, { method: 'POST', path: `/master/users/${users[0]!.id}/logout` })
    await activate(second.page.getByRole('link', { name: 'Plans' }))
    await activate(second.page.getByRole('dialog').getByRole('button', { name: 'Log in again' }))
    await logIn(second.page, {})
    await second.page.getByRole('heading', { level: 1, name: 'Plans' }).waitFor()
    await second.close()
  })

  test('an access token that expires is replaced without a log-in', async () => {
    const settings = { method: 'PUT', path: '/master' }
    await callAsAdmin(server.url, { ...settings, body: { accessTokenLifespan: 6 } })
    const second = await openConsole(browser, server.url)
    await new Promise((resolve) => setTimeout(resolve, 7_000))
    await activate(second.page.getByRole('link', { name: 'Sources' }))
    await second.page.getByRole('link', { name: 'test', exact: true }).waitFor()
    expect(await second.page.getByRole('dialog').count()).toBe(0)
    await second.close()
    await callAsAdmin(server.url, { ...settings, body: { accessTokenLifespan: 60 } })
  })

  test('while the server restarts the page reports it, and then shows what has changed meanwhile', async () => {
    const port = new URL(server.url).port
    const second = await openConsole(browser, server.url)
    await second.page.getByText('Live', { exact: true }).waitFor()
    await server.kill()
    await second.page.getByText('Connection lost. Reconnecting …').waitFor()
    server = await cli.serve('--source', 'shop.yaml', '--port', port)
    await changeClient({ name: 'Changed meanwhile' })
    await second.page.getByText('Live', { exact: true }).waitFor()
    await second.page.getByText('1 drifted value in shop').waitFor()
    await second.close()
  })
})

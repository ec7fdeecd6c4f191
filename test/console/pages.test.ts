// Each page of the console: its layout in all sizes and colour schemes, its accessibility, and what it shows without data.
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { planAndSave } from '../../src/reconcile/run/saved-plans.ts'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { expectAccessible, expectNoOverflow, logIn, openConsole, startConsoleServer } from '../support/console.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

const { service } = await testService()
const { call } = await testServer()

const realm = newName()
const source = `source-of-${realm}`
const policy = (hosts: readonly string[]) => JSON.stringify({ version: 3, allow: hosts, deny: ['10.0.0.0/8'] })
const longName = 'a-client-with-a-name-that-is-much-too-long-for-the-narrowest-window-and-has-no-space-in-it'
const declare = (more: object = {}) => ({
  realm,
  enabled: true,
  eventsEnabled: true,
  adminEventsEnabled: true,
  attributes: { policy: policy(['192.168.0.0/16']) },
  clients: [{ clientId: 'shop', name: 'Shop', redirectUris: ['https://shop.example.com/cb'] }, { clientId: longName }],
  roles: { realm: ['one', 'two', 'three', 'four', 'five'].map((name) => ({ name })) },
  users: [{ username: 'ada', email: 'ada@example.com', enabled: true }],
  ...more,
})

/** Fills the realm, and returns the paths of all pages. */
async function createPages(): Promise<Readonly<Record<string, string>>> {
  const guarded = (document: object) => {
    const { settings: _, ...rest } = createSource([document], source)
    return rest
  }
  await applySource(service, guarded(declare()))
  await call('PUT', `/admin/realms/${realm}`, { body: { displayName: 'Unmanaged', eventsEnabled: false } })
  const { body: clients } = await call('GET', `/admin/realms/${realm}/clients?clientId=shop`)
  await call('PUT', `/admin/realms/${realm}/clients/${clients[0].id}`, {
    body: { name: 'Edited', redirectUris: ['https://shop.example.com/cb', `https://${longName}.example.com/callback`] },
  })
  await call('PUT', `/admin/realms/${realm}`, { body: { eventsEnabled: true } })
  const { saved } = await planAndSave({
    service,
    caller: ANN,
    sources: [
      guarded(
        declare({
          clients: [{ clientId: 'shop', name: 'Shop', redirectUris: ['https://shop.example.com/cb'] }],
          roles: { realm: [{ name: 'one' }] },
          attributes: { policy: policy(['192.168.0.0/16', '10.1.0.0/16']) },
        }),
      ),
    ],
    strict: false,
  })
  const { body: revisions } = await call('GET', `/regent/v1/history/${realm}`)
  const { body: users } = await call('GET', `/admin/realms/${realm}/users?username=ada`)
  const [newest, oldest] = [revisions.at(0).number, revisions.at(-1).number]
  return {
    overview: '',
    plans: 'plans',
    plan: `plans/${saved!.id}`,
    sources: 'sources',
    source: `sources/${encodeURIComponent(source)}`,
    objects: `realms/${realm}`,
    object: `realms/${realm}/objects/client?key=shop`,
    realm: `realms/${realm}/objects/realm?key=${realm}`,
    drift: `realms/${realm}/drift`,
    history: `realms/${realm}/history`,
    comparison: `realms/${realm}/history?from=${oldest}&to=${newest}`,
    rollback: `realms/${realm}/history?rollback=${oldest}`,
    users: `realms/${realm}/users`,
    user: `realms/${realm}/users/${users[0].id}`,
    events: `realms/${realm}/events`,
    'admin events': `realms/${realm}/events?kind=admin`,
    missing: 'nowhere',
  }
}

describe.skipIf(!chromiumPath)(inChromium, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof startConsoleServer>>
  let pages: Readonly<Record<string, string>>

  beforeAll(async () => {
    browser = await startChromium()
    server = await startConsoleServer()
    pages = await createPages()
  })
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  const open = () => openConsole(browser, server.url)
  const waitUntilLoaded = async (page: Page) => {
    await page.locator('main h1').waitFor()
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
  }
  /** Responds to all calls of the API but those that the navigation makes, and to the stream. */
  const respond = (page: Page, handle: (route: Route) => Promise<void> | void) =>
    page.route(/\/(?:regent\/v1|admin\/realms)\//, (route) =>
      /\/v1\/(?:events|realms\?)/.test(route.request().url()) ? route.continue() : handle(route),
    )
  /** The pages that read something, the overview last, since it is the first one that is open. */
  const reading = () => {
    const { overview, missing: _, ...rest } = pages
    return Object.entries({ ...rest, overview: overview! })
  }

  test('each page fits windows of 320, 1280 and 2560 px in both colour schemes, and axe finds no violation', async () => {
    const { page, show, errors, requests, close } = await open()
    for (const [name, path] of Object.entries(pages)) {
      await show(path)
      // The first reading of the page begins after it is rendered.
      await page.waitForTimeout(150)
      for (const width of [320, 1280, 2560]) {
        await page.setViewportSize({ width, height: 900 })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await waitUntilLoaded(page)
          await expectNoOverflow(page, `${name} at ${width} px`)
          await expectAccessible(page, `${name} at ${width} px, ${colorScheme}`)
        }
      }
    }
    expect(errors).toEqual([])
    expect(requests.filter((url) => !url.startsWith(`${server.url}/`))).toEqual([])
    await close()
  })

  test('each page shows an error with a way on for 403, 500 and a broken connection, and recovers', async () => {
    for (const failure of [403, 500, 'failed'] as const) {
      const { page, show, errors, close } = await open()
      await respond(page, (route) =>
        failure === 'failed' ? route.abort() : route.fulfill({ status: failure, json: { error: 'Broken on purpose' } }),
      )
      for (const [name, path] of reading()) {
        await show(path)
        const alert = page.locator('main [role=alert]').first()
        await alert.waitFor()
        const text = await alert.innerText()
        expect(text, name).toMatch(
          failure === 403 ? /You may not view this/ : failure === 500 ? /Broken on purpose/ : /cannot be reached/,
        )
        expect(await page.locator('main button, main a').count(), name).toBeGreaterThan(0)
      }
      await page.unroute(/\/(?:regent\/v1|admin\/realms)\//)
      await show(pages.drift!)
      await page.locator('.drift-list').waitFor()
      expect(errors).toEqual([])
      await close()
    }
  })

  test('each page shows that the server did not respond in time, and repeats the call on demand', async () => {
    const { page, show, close } = await open()
    await page.clock.install()
    let isSilent = true
    await respond(page, (route) => (isSilent ? undefined : route.continue()))
    for (const [name, path] of reading()) {
      await show(path)
      await page.locator('main .skeleton').first().waitFor()
      await page.clock.fastForward(25_000)
      expect(await page.locator('main [role=alert]').first().innerText(), name).toMatch(/did not respond in time/)
    }
    await show(pages.drift!)
    await page.locator('main .skeleton').first().waitFor()
    await page.clock.fastForward(25_000)
    await page.locator('main [role=alert]').first().waitFor()
    isSilent = false
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.locator('main [role=alert]').first().waitFor({ state: 'detached' })
    await close()
  })

  test('each list of an empty store says that it is empty', async () => {
    const { page, show, errors, close } = await open()
    await respond(page, (route) => route.fulfill({ json: [] }))
    const lists = {
      plans: 'No saved plans',
      sources: 'No sources',
      drift: 'No drift',
      history: 'No revisions',
      comparison: 'There are no differences.',
      users: 'This realm has no users',
      events: 'No events',
      'admin events': 'No events',
    }
    for (const [name, text] of Object.entries(lists)) {
      await show(pages[name]!)
      await page.getByRole('heading', { name: text }).waitFor()
    }
    expect(errors).toEqual([])
    await close()
  })

  test('a lost stream is shown on each page, and everything is read again when it is back', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.route(/\/v1\/events/, (route) => route.abort())
    await page.goto(`${server.url}/console`)
    await logIn(page, {})
    await page.getByText('Connection lost. Reconnecting …').waitFor()
    for (const [name, path] of reading()) {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(`/console/master/${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      await page.waitForTimeout(150)
      await waitUntilLoaded(page)
      expect(await page.locator('main [role=alert]').count(), name).toBe(0)
      expect(await page.locator('.connection').innerText(), name).toBe('Connection lost. Reconnecting …')
    }
    await call('PUT', `/admin/realms/${realm}`, { body: { attributes: { policy: '{}' } } })
    await page.unroute(/\/v1\/events/)
    // A busy machine compares and reads later.
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 })
    await page.getByText(new RegExp(`3 drifted values in ${realm}`)).waitFor({ timeout: 60_000 })
    await context.close()
  })

  test('a change counts as done only after the server has confirmed it, and its error is shown', async () => {
    const { page, show, close } = await open()
    await show(pages.plan!)
    const approval = Promise.withResolvers<Route>()
    await page.route(/\/approve$/, (route) => approval.resolve(route))
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Approve' }).click()
    const route = await approval.promise
    expect(await dialog.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    expect(await page.locator('.toast').innerText()).toBe('')
    expect(await page.locator('main').innerText()).not.toMatch(/Approved by/)
    await route.fulfill({ status: 409, json: { errorMessage: 'The plan expired meanwhile.' } })
    await dialog.getByText('The plan expired meanwhile.').waitFor()
    expect(await page.locator('.toast').innerText()).toBe('')
    await close()
  })

  test('the tab key reaches each link, button and field of each page', async () => {
    const { page, show, close } = await open()
    const elements = `[...document.querySelectorAll('main a[href], main button, main input, main select, main summary')]
      .filter((element) => element.checkVisibility() && !element.disabled)`
    for (const [name, path] of Object.entries(pages)) {
      await show(path)
      await page.waitForTimeout(150)
      await waitUntilLoaded(page)
      const count = Number(await page.evaluate(`${elements}.length`))
      await page.evaluate('document.getElementById("main").focus()')
      const reached = new Set<number>()
      // A date field has three parts and a button.
      for (let times = 0; times < count * 4 + 5 && reached.size < count; times++) {
        await page.keyboard.press('Tab')
        reached.add(Number(await page.evaluate(`${elements}.indexOf(document.activeElement)`)))
        reached.delete(-1)
      }
      expect(reached.size, name).toBe(count)
    }
    await close()
  })

  test('a plan is found, opened and approved by keyboard alone', async () => {
    const { page, close } = await open()
    const press = async (key: string, isDone: () => Promise<boolean>) => {
      for (let times = 0; times < 80; times++) {
        await page.keyboard.press(key)
        if (await isDone()) return
      }
      throw new Error(`not reached by ${key}`)
    }
    const focused = async () => String(await page.evaluate('document.activeElement.textContent'))
    const reach = (text: RegExp) => press('Tab', async () => text.test(await focused()))
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    const id = pages.plan!.slice('plans/'.length)
    await reach(new RegExp(`^Plan ${id}`))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: id }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    await reach(/^Approve$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await reach(/^Approve$/)
    await page.keyboard.press('Enter')
    await reach(/^Approve$/)
    await page.keyboard.press('Enter')
    await page.getByText('The plan is approved.').waitFor()
    await page.getByText(/Approved by admin/).waitFor()
    await close()
  })
})

test('the page allows scripts, styles and connections of its own server only, and nothing inline', async () => {
  const server = await startConsoleServer()
  const response = await fetch(`${server.url}/console/master/realms/x`)
  const policyText = response.headers.get('content-security-policy')!
  expect(policyText).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/)
  expect(policyText).not.toMatch(/unsafe|https?:|\*/)
  expect(await response.text()).not.toMatch(/<script(?![^>]*src=)|<style| style=| on\w+=/)
  await server.close()
})

test('without the option there is no console, and no redirect to it', async () => {
  const app = await createServer(service)
  for (const path of ['/console', '/console/master/', '/resources/console/console.js', '/admin'])
    expect((await app.inject(path)).statusCode).toBe(404)
  await app.close()
})

test('the files of the console have at most 300 KB over the wire', async () => {
  const server = await startConsoleServer()
  const page = await (await fetch(`${server.url}/console/master/`)).text()
  let size = 0
  for (const [, path] of page.matchAll(/(?:href|src)="([^"]+)"/g)) {
    const response = await fetch(`${server.url}${path}`, { headers: { 'accept-encoding': 'gzip' } })
    expect(response.status).toBe(200)
    size += Number(response.headers.get('content-length'))
  }
  expect(size).toBeGreaterThan(10_000)
  expect(size).toBeLessThan(300_000)
  await server.close()
})

test('unknown addresses and the address of the admin console lead browsers on, and programs get JSON', async () => {
  const server = await startConsoleServer()
  const get = (path: string, accept = 'text/html,application/xhtml+xml,*/*;q=0.8') =>
    fetch(`${server.url}${path}`, { headers: { accept }, redirect: 'manual' })
  for (const path of ['/nowhere', '/admin/nowhere', '/regent/v1/nowhere', '/console.html?a=<b>']) {
    const response = await get(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await response.text()).toMatch(/Open the console/)
    expect((await get(path, 'application/json')).headers.get('content-type')).toBe('application/json')
  }
  expect(await (await get('/console.html?a=<b>')).text()).not.toMatch(/<b>/)
  for (const [path, target] of [
    ['/console', 'master'],
    ['/admin', 'master'],
    ['/admin/', 'master'],
    ['/admin/acme/console/', 'acme'],
  ] as const) {
    const response = await get(path)
    expect([response.status, response.headers.get('location')]).toEqual([302, `/console/${target}/`])
  }
  expect(await (await get('/')).text()).toMatch(/href="http:[^"]*\/console"/)
  await server.close()
})

// The web console in Chromium.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { testServer } from './server.ts'
import { testService } from './service.ts'

/** The user who opens the console. Default: the administrator, in master. */
export interface ConsoleUser {
  readonly realm?: string
  readonly username?: string
  readonly password?: string
}

/** An open console. */
export interface ConsolePage {
  readonly page: Page
  /** The URLs that the page has requested. */
  readonly requests: readonly string[]
  /** Errors of scripts, and violations of the content security policy. */
  readonly errors: readonly string[]
  /** Opens a page below the realm that the user has logged in to, in the same document. */
  show(path: string): Promise<void>
  close(): Promise<void>
}

/** Starts a server with the console over the service of the worker. */
export async function startConsoleServer(
  options: Pick<ServerOptions, 'adminConsole'> = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { service } = await testService()
  await testServer()
  const app = await createServer(service, { console: true, showRealms: true, ...options })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => app.close() }
}

/** The options of a window. */
export type WindowOptions = Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'reducedMotion'>

/** Opens the console at a path and logs in. */
export async function openConsole(
  browser: Browser,
  url: string,
  { path = '', user = {}, window = {} }: { path?: string; user?: ConsoleUser; window?: WindowOptions } = {},
): Promise<ConsolePage> {
  const { realm = 'master' } = user
  const context = await browser.newContext(window)
  const page = await context.newPage()
  const requests: string[] = []
  const errors: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text())
  })
  await page.goto(`${url}/console/${realm}/${path}`)
  await logIn(page, user)
  await page.locator('main h1').waitFor()
  return {
    page,
    requests,
    errors,
    async show(target) {
      const address = JSON.stringify(`/console/${realm}/${target}`)
      await page.evaluate(`history.pushState(null, '', ${address}); dispatchEvent(new PopStateEvent('popstate'))`)
    },
    close: () => context.close(),
  }
}

/** Fills in the log-in page. */
export async function logIn(page: Page, { username = 'admin', password = 'admin' }: ConsoleUser): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Expects that the page has no violations of the accessibility rules of WCAG 2.2 AA, as far as axe finds them. */
export async function expectAccessible(page: Page, label: string): Promise<void> {
  // The page's policy allows no further scripts, the debugger does.
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations.map(
      ({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary)])))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  expect(JSON.parse(result.value), label).toEqual([])
}

/** Expects that nothing is wider than the window. */
export async function expectNoOverflow(page: Page, label: string): Promise<void> {
  const wide = await page.evaluate(`[...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.hidden, thead'))
    .map((element) => element.tagName + '.' + element.getAttribute('class')).slice(0, 5)`)
  expect(wide, label).toEqual([])
}

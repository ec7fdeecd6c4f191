// Drives Keycloak's admin console in Chromium, and records the requests that it makes.
import type { Browser, Locator, Page, Request } from 'playwright-core'

/** A step in the console, with the requests that it made and its errors. */
export interface ConsoleStep {
  readonly title: string
  /** `GET /admin/realms/{realm}/clients 200`, sorted, without repetitions. */
  readonly requests: readonly string[]
  /** Errors in its own messages and in the console of the browser. */
  readonly errors: readonly string[]
}

/** The user who opens the console. */
export interface ConsoleLogin {
  readonly url: string
  readonly realm?: string
  readonly username?: string
  readonly password?: string
}

/** A window with the console. */
export interface ConsoleDriver {
  readonly page: Page
  readonly steps: readonly ConsoleStep[]
  /** Performs the actions of a step, and waits for its requests. */
  step(title: string, actions: () => Promise<unknown>): Promise<void>
  /** Opens an address of the console, such as `/shop/clients`. */
  open(path: string): Promise<void>
  /** Waits until the page makes no requests. */
  waitForIdle(): Promise<void>
  click(testId: string): Promise<void>
  fill(testId: string, text: string): Promise<void>
  /** Opens each tab of the page, and those inside of it. Returns their titles. */
  openTabs(): Promise<string[]>
  /** Chooses an action in the menu of a row of a table. */
  chooseRowAction(row: string, action: string): Promise<void>
  /** Chooses an action in the menu of the page. */
  chooseAction(action: string): Promise<void>
  confirm(): Promise<void>
  /** Waits for a message of the console. */
  expectMessage(text: string): Promise<void>
  close(): Promise<void>
}

/** Time without requests after which a page is complete, in milliseconds. */
const QUIET = 500
const PATIENCE = 15_000
const CLOSED = ['.pf-v5-c-alert-group .pf-v5-c-alert__action button']

/** Opens the console of a realm and logs in. */
export async function openKeycloakConsole(browser: Browser, login: ConsoleLogin): Promise<ConsoleDriver> {
  const { url, realm = 'master', username = 'admin', password = 'admin' } = login
  const context = await browser.newContext({ viewport: { width: 1800, height: 1400 }, locale: 'en' })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE)
  const steps: ConsoleStep[] = []
  const recording = record(page, url)

  const waitForIdle = async () => {
    const start = Date.now()
    const isBusy = async () =>
      !recording.isQuiet(start) ||
      (await page
        .locator('main .pf-v5-c-spinner')
        .first()
        .isVisible()
        .catch(() => false))
    while ((await isBusy()) && Date.now() < start + PATIENCE) await page.waitForTimeout(50)
  }
  const step = async (title: string, actions: () => Promise<unknown>) => {
    try {
      await actions()
      await waitForIdle()
    } catch (error) {
      recording.errors.push(
        `${title}: ${error instanceof Error ? error.message.split('\n').slice(0, 4).join(' ') : error}`,
      )
    }
    const alerts = page.locator('.pf-v5-c-alert-group .pf-v5-c-alert')
    for (const alert of await alerts.all()) {
      const text = (await alert.innerText().catch(() => '')).replaceAll(/\s+/g, ' ')
      if (/^Danger alert/i.test(text) || /^Warning alert/i.test(text)) recording.errors.push(text)
    }
    for (const button of await page.locator(CLOSED[0]!).all())
      await button.click({ timeout: 1000 }).catch(() => undefined)
    steps.push({ title, requests: recording.takeRequests(), errors: recording.takeErrors() })
  }
  const tab = (title: string, level: number): Locator =>
    page
      .locator('main .pf-v5-c-tabs:visible')
      .nth(level)
      .getByRole('tab')
      .filter({ hasText: new RegExp(`^\\s*${title}\\s*$`) })
  const openTabs = async (level = 0): Promise<string[]> => {
    const group = page.locator('main .pf-v5-c-tabs:visible').nth(level)
    if ((await group.count()) === 0) return []
    const titles = (await group.getByRole('tab').allInnerTexts()).map((text) => text.trim())
    const opened: string[] = []
    for (const title of titles) {
      await tab(title, level).click()
      await waitForIdle()
      opened.push(title, ...(await openTabs(level + 1)))
    }
    return opened
  }
  const choose = async (toggle: Locator, action: string) => {
    await toggle.click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }
  await step('log in', async () => {
    await page.goto(`${url}/admin/${realm}/console/`)
    await page.locator('#username').fill(username)
    await page.locator('#password').fill(password)
    await page.keyboard.press('Enter')
    await page.locator('#nav-toggle, [data-testid=options-toggle]').first().waitFor()
  })
  return {
    page,
    steps,
    step,
    waitForIdle,
    async open(path) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#${path}`)}`)
      await page.waitForTimeout(100)
      await waitForIdle()
    },
    click: (testId) => page.getByTestId(testId).click(),
    fill: (testId, text) => page.getByTestId(testId).fill(text),
    openTabs,
    chooseRowAction: (row, action) =>
      choose(page.getByRole('row').filter({ hasText: row }).getByRole('button', { name: 'Kebab toggle' }), action),
    chooseAction: (action) => choose(page.getByTestId('action-dropdown'), action),
    confirm: () => page.getByTestId('confirm').click(),
    expectMessage: (text) => page.getByTestId('global-alerts').getByText(text).first().waitFor(),
    close: () => context.close(),
  }
}

/** Records the requests of a page to the server, and its errors. */
function record(page: Page, url: string) {
  const requests = new Set<string>()
  const errors: string[] = []
  const pending = new Set<Request>()
  let last = Date.now()
  const end = (request: Request) => {
    pending.delete(request)
    last = Date.now()
  }
  page.on('request', (request) => {
    if (isRecorded(request.url(), url)) pending.add(request)
    last = Date.now()
  })
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  page.on('response', (response) => {
    const path = getRecordedPath(response.url(), url)
    if (path !== undefined) requests.add(`${response.request().method()} ${path} ${response.status()}`)
  })
  page.on('pageerror', (error) => errors.push(`page error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Warning: '))
      errors.push(toError(message.text(), message.location().url))
  })
  return {
    errors,
    /** Whether there were no requests for a while, at least since a time. */
    isQuiet: (start: number) => pending.size === 0 && Date.now() - Math.max(start, last) > QUIET,
    takeRequests: () => take(requests),
    takeErrors: () => errors.splice(0),
  }
}

/** Returns the first line of an error, and the path of the request that caused it, without ids. */
function toError(text: string, address: string): string {
  const [line = ''] = text.split('\n')
  const path = URL.canParse(address) ? new URL(address).pathname : ''
  return /^\/(?:admin|realms)\//.test(path) ? `${line} ${omitIds(path)}` : line
}

const omitIds = (path: string) => path.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '{id}')

function take(requests: Set<string>): string[] {
  const sorted = [...requests].sort()
  requests.clear()
  return sorted
}

const isRecorded = (address: string, url: string) => getRecordedPath(address, url) !== undefined

/** Returns the path of a request to the admin API, or to the texts of the console, without ids; undefined for others. */
function getRecordedPath(address: string, url: string): string | undefined {
  if (!address.startsWith(`${url}/`)) return undefined
  const path = new URL(address).pathname
  if (!/^\/(?:admin\/|resources\/[^/]+\/[a-z]+\/[^/]+$)/.test(path)) return undefined
  return omitIds(path)
}

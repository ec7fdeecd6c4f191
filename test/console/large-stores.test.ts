// The console with many objects, users, changes and revisions. Full sizes: npm run campaign:console.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planAndSave } from '../../src/reconcile/run/saved-plans.ts'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { openConsole, startConsoleServer } from '../support/console.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

const size = (name: string, sample: number) => Number(process.env[name] ?? sample)
const clientCount = size('REGENT_CLIENTS', 300)
const userCount = size('REGENT_USERS', 1_000)
const revisionCount = size('REGENT_REVISIONS', 120)
const changeCount = size('REGENT_CHANGES', 250)
/** The longest milliseconds until a page is interactive, in a campaign. A busy machine must not fail other runs. */
const longest = size('REGENT_MILLISECONDS', 30_000)
/** The largest JavaScript heap after garbage collection, in bytes. */
const LARGEST_HEAP = 150_000_000

const { service } = await testService()
const { call } = await testServer()
const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1).padStart(6, '0'))

describe.skipIf(!chromiumPath)(inChromium, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof startConsoleServer>>
  let pages: readonly (readonly [path: string, selector: string])[]

  beforeAll(async () => {
    browser = await startChromium()
    server = await startConsoleServer()
    const realm = newName()
    const declare = (description: string) => ({
      realm,
      enabled: true,
      clients: numbers(clientCount).map((number, at) => ({
        clientId: `client-${number}`,
        name: `Client ${number}`,
        ...(at < changeCount && { description }),
      })),
      users: numbers(userCount).map((number) => ({ username: `user-${number}`, email: `user-${number}@example.com` })),
    })
    const source = createSource([declare('before')])
    await applySource(service, source)
    const { body: clients } = await call('GET', `/admin/realms/${realm}/clients?clientId=client-000001`)
    for (const number of numbers(revisionCount))
      await call('PUT', `/admin/realms/${realm}/clients/${clients[0].id}`, { body: { name: `Revision ${number}` } })
    const sources = [createSource([declare('after')], source.name)]
    const { saved } = await planAndSave({ service, caller: ANN, sources, strict: false })
    const { body: users } = await call('GET', `/admin/realms/${realm}/users?username=user-000001`)
    const { body: revisions } = await call('GET', `/regent/v1/history/${realm}?max=1000`)
    pages = [
      ['', 'table.realms'],
      ['plans', 'table'],
      [`plans/${saved!.id}`, 'ul.changes'],
      ['sources', 'table'],
      [`realms/${realm}`, 'ul.list'],
      [`realms/${realm}/objects/client?search=999`, 'main h2'],
      [`realms/${realm}/objects/user`, 'ul.list'],
      [`realms/${realm}/objects/client?key=client-000001`, '.yaml'],
      [`realms/${realm}/drift`, '.drift-list'],
      [`realms/${realm}/history`, 'ol.revisions'],
      [`realms/${realm}/history?from=${revisions.at(-1).number}&to=${revisions[0].number}`, 'ul.changes'],
      [`realms/${realm}/users`, 'table'],
      [`realms/${realm}/users/${users[0].id}`, '.facts'],
      [`realms/${realm}/events`, 'main h2'],
    ]
  }, 1_800_000)
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  test('each page is interactive in time, and the heap stays small', { timeout: 600_000 }, async () => {
    const { page, show, errors, close } = await openConsole(browser, server.url)
    const durations: Record<string, number> = {}
    const slow: string[] = []
    page.on('requestfinished', (request) => {
      const { responseEnd } = request.timing()
      if (responseEnd > 300) slow.push(`${Math.round(responseEnd)} ms: ${request.url()}`)
    })
    const session = await page.context().newCDPSession(page)
    let largestHeap = 0
    for (const [path, selector] of pages) {
      const begun = performance.now()
      await show(path)
      await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
      await page.locator(selector).first().waitFor()
      durations[path] = Math.round(performance.now() - begun)
      await session.send('HeapProfiler.collectGarbage')
      const { usedSize } = await session.send('Runtime.getHeapUsage')
      largestHeap = Math.max(largestHeap, usedSize)
    }
    if (process.env.REGENT_MILLISECONDS) console.log(durations, slow, `heap: ${Math.round(largestHeap / 1e6)} MB`)
    expect(Object.entries(durations).filter(([, duration]) => duration > longest)).toEqual([])
    expect(largestHeap).toBeLessThan(LARGEST_HEAP)
    expect(errors).toEqual([])
    await close()
  })

  test('a plan of many changes is searched, and each page of its changes opens', { timeout: 600_000 }, async () => {
    const { page, show, close } = await openConsole(browser, server.url)
    await show(pages[2]![0])
    await page.getByText(`of ${changeCount.toLocaleString('en')} objects`).waitFor()
    await page.getByLabel('Find an object in the plan').fill('client-000007')
    await page.getByText(`1 of ${changeCount.toLocaleString('en')} objects`).waitFor()
    await page.locator('ul.changes summary').click()
    await page.locator('ul.changes ins').getByText('after').waitFor()
    await page.getByLabel('Find an object in the plan').fill('')
    await page.getByRole('button', { name: 'Show more' }).click()
    expect(await page.locator('ul.changes > li').count()).toBe(Math.min(changeCount, 400))
    await close()
  })

  test('the first paint after a reload takes less than a second', { timeout: 600_000 }, async () => {
    const { page, close } = await openConsole(browser, server.url)
    await page.reload()
    await page.locator('table.realms').waitFor()
    const paint = await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)
    if (process.env.REGENT_MILLISECONDS) console.log(`first paint: ${Math.round(Number(paint))} ms`)
    expect(Number(paint)).toBeLessThan(Math.max(longest, 1_000))
    await close()
  })
})

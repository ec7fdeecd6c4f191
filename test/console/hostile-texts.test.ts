// Texts with markup and template syntax, wherever the API returns texts: nothing of them is executed, or becomes an element.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { openConsole, startConsoleServer } from '../support/console.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { service } = await testService()
const { call } = await testServer()

const hostileTexts = [
  '"><img src=x onerror="window.executed=1"><svg onload=window.executed=1>',
  "'--></title></textarea><script>window.executed=1</script>",
  '${window.executed=1}{{constructor.constructor("window.executed=1")()}}<%=window.executed=1%>',
  'javascript:window.executed=1//\u202e\u0000\n\n<a href="javascript:window.executed=1">link</a>',
  '__proto__ constructor toString <b>bold</b> &lt;i&gt; </pre></dd></li>',
]

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** Members whose values decide label the console does, and are not shown as they are. */
const FIXED = /^(?:operation|state|status|permissions|at|expires|since|policy|reason|id|realm|url|kind|parents|time)$/

/** Adds a hostile text to all texts of a response. */
function poison(value: Json, hostile: string, name = ''): Json {
  if (typeof value === 'string') return FIXED.test(name) ? value : `${value}${hostile}`
  if (Array.isArray(value))
    return name === 'permissions' ? value : value.map((element) => poison(element, hostile, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([member, content]) => [member, poison(content, hostile, member)]),
  )
}

describe.skipIf(!chromiumPath)(inChromium, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof startConsoleServer>>
  const realm = newName()

  beforeAll(async () => {
    browser = await startChromium()
    server = await startConsoleServer()
    const declared = {
      realm,
      enabled: true,
      clients: [{ clientId: 'shop', name: 'Shop' }],
      users: [{ username: 'ada' }],
    }
    await applySource(service, createSource([declared]))
    const { body } = await call('GET', `/admin/realms/${realm}/clients?clientId=shop`)
    await call('PUT', `/admin/realms/${realm}/clients/${body[0].id}`, { body: { name: 'Other' } })
  })
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  const expectHarmless = async (page: Page, label: string) => {
    await page.locator('main h1').waitFor()
    await page.waitForTimeout(150)
    expect(await page.evaluate('window.executed'), label).toBeUndefined()
    expect(
      await page.locator('script:not([src]), img, iframe, [onerror], [onload], a[href^="javascript:" i]').count(),
      label,
    ).toBe(0)
    expect(
      await page
        .locator('main b, main i')
        .filter({ hasText: /^bold$/ })
        .count(),
      label,
    ).toBe(0)
  }

  test.each(hostileTexts)('each page shows %j as a text, wherever the API returns it', async (hostile) => {
    const { page, show, errors, close } = await openConsole(browser, server.url)
    await page.route(/\/(?:regent\/v1|admin\/realms)\//, async (route) => {
      if (/\/v1\/events/.test(route.request().url())) return route.continue()
      const response = await route.fetch()
      const body: Json = response.ok() ? await response.json() : { errorMessage: 'Refused' }
      await route.fulfill({ response, json: poison(body, hostile) })
    })
    const { body: users } = await call('GET', `/admin/realms/${realm}/users`)
    const { body: revisions } = await call('GET', `/regent/v1/history/${realm}`)
    const [newest, oldest] = [revisions.at(0).number, revisions.at(-1).number]
    const paths = [
      'realms/%3Cimg%20src=x%20onerror=window.executed=1%3E',
      '',
      'plans',
      'sources',
      `realms/${realm}`,
      `realms/${realm}/objects/client?key=shop`,
      `realms/${realm}/objects/client?key=${encodeURIComponent(hostile)}`,
      `realms/${realm}/drift`,
      `realms/${realm}/history`,
      `realms/${realm}/history?from=${oldest}&to=${newest}`,
      `realms/${realm}/history?rollback=${oldest}`,
      `realms/${realm}/users`,
      `realms/${realm}/users/${users[0].id}`,
      `realms/${realm}/events`,
      `realms/${realm}/events?kind=admin&operationTypes=${encodeURIComponent(hostile)}`,
    ]
    for (const path of paths) {
      await show(path)
      await expectHarmless(page, path)
    }
    expect(errors).toEqual([])
    await close()
  })

  test('a plan shows hostile values of each field of each kind as texts', async () => {
    const hostile = hostileTexts.join(' ')
    const position = { file: `${hostile}.yaml`, line: 1, column: 1 }
    const by = { name: hostile, kind: 'administrator', client: hostile, address: hostile, at: new Date().toISOString() }
    const actions = Object.values(kinds).map(({ name, fields }) => ({
      operation: 'update',
      kind: name,
      key: [hostile],
      position,
      changes: Object.keys(fields).map((field, at) => ({
        path: `${field}.${hostile}`,
        from: [hostile, [hostile], { [hostile]: hostile }, null][at % 4],
        to: [`${hostile}${'x'.repeat(90)}`, [`new ${hostile}`], { [hostile]: [hostile] }, JSON.stringify({ hostile })][
          at % 4
        ],
        reason: 'declared',
        by,
        position,
      })),
    }))
    const plan = {
      id: 'lopa-nime-tura',
      state: 'pending',
      digest: 'd',
      sources: [{ name: hostile, revision: hostile }],
      realms: [{ realm: hostile, hasChanges: true, guards: [{ guard: 'deletions', message: hostile }] }],
      appliesOnApproval: true,
      created: by,
      expires: new Date(Date.now() + 1e6).toISOString(),
      outdated: true,
      withCredentials: false,
      outcome: {
        notes: [],
        realms: [
          {
            plan: { realm: hostile, creates: true, actions, notes: [{ message: hostile, position }] },
            consequences: [{ operation: 'delete', kind: 'user', key: [hostile] }],
            effects: [{ kind: 'role', key: [hostile], effect: hostile, count: 3 }],
            findings: [{ rule: hostile, kind: 'client', key: [hostile], message: hostile, position }],
          },
        ],
      },
    }
    const { page, show, errors, close } = await openConsole(browser, server.url)
    await page.route(/\/v1\/plans\//, (route) => route.fulfill({ json: plan }))
    await show('plans/lopa-nime-tura')
    await page.getByRole('button', { name: 'Expand all' }).click()
    await page
      .locator('.fields')
      .nth(Object.keys(kinds).length - 1)
      .waitFor({ state: 'attached' })
    await expectHarmless(page, 'plan')
    expect(await page.locator('.fields > div').count()).toBe(actions.flatMap(({ changes }) => changes).length)
    expect(errors).toEqual([])
    await close()
  })
})

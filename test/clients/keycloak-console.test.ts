// Keycloak's own admin console in Chromium: it makes the same requests to Regent as to Keycloak, with the same statuses, and shows the same.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConsoleTheme } from '../../src/http/server/console-theme.ts'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { startConsoleServer } from '../support/console.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'
import { openKeycloakConsole } from './keycloak-console/driver.ts'
import { type ConsoleRecording, recordConsole } from './keycloak-console/record-console.ts'
import recording from './keycloak-console/recording.json' with { type: 'json' }

/** The folder with the jars. `npm run campaign:keycloak-console` sets it. */
const folder = process.env.REGENT_ADMIN_CONSOLE
const skipped = !folder || !chromiumPath
const title = folder ? inChromium : 'skipped: REGENT_ADMIN_CONSOLE names no folder'

/** Answers that differ from Keycloak's on purpose. */
const DIFFERENCES = [
  {
    // Keycloak finds the administrator of master by id in any realm while the user is cached. Regent finds users of the realm only.
    keycloak: 'GET /admin/realms/console-path/users/{id} 200',
    regent: 'GET /admin/realms/console-path/users/{id} 404',
  },
]
const EXPECTED_ERRORS = [
  'Failed to load resource: the server responded with a status of 404 (Not Found) /admin/realms/console-path/users/{id}',
]
/** The steps in which the console looks up the administrator. */
const STEPS_WITH_DIFFERENCES = ['open the tabs of realm settings', 'edit email settings']
/** Milliseconds for the whole path. */
const TIMEOUT = 900_000

describe.skipIf(skipped)(`Keycloak's admin console ${title}`, () => {
  let browser: Browser
  let server: { readonly url: string; close(): Promise<void> }
  let ofRegent: ConsoleRecording

  beforeAll(async () => {
    browser = await startChromium()
    server = await startConsoleServer({ adminConsole: await openConsoleTheme(folder!) })
    ofRegent = await recordConsole(browser, server.url)
  }, TIMEOUT)
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  test('makes the same requests as to Keycloak with the same statuses, in each step', () => {
    const expected = recording.steps.map(({ title, requests }) => ({
      title,
      requests: STEPS_WITH_DIFFERENCES.includes(title) ? requests.map(toRegent).sort() : requests,
    }))
    expect(ofRegent.steps.map(({ title, requests }) => ({ title, requests }))).toEqual(expected)
  })

  test('has no errors in its messages and in the console of the browser beyond those with Keycloak', () => {
    const expected = new Map(recording.steps.map(({ title, errors }) => [title, new Set<string>(errors)]))
    const added = ofRegent.steps.flatMap(({ title, errors }) =>
      errors.filter((error) => !expected.get(title)?.has(error) && !EXPECTED_ERRORS.includes(error)),
    )
    expect(added).toEqual([])
  })

  test('no response is 405, 500 or 501', () => {
    const requests = ofRegent.steps.flatMap((step) => step.requests)
    expect(requests.filter((request) => / (?:405|500|501)$/.test(request))).toEqual([])
  })

  test('viewers, and administrators limited by permissions, see what they see with Keycloak', () => {
    expect(ofRegent.administrators).toEqual(recording.administrators)
  })

  test('changes a managed value as drift with the name of the administrator', async () => {
    const { service } = await testService()
    const { call } = await testServer()
    const realm = newName()
    await applySource(
      service,
      createSource(
        [{ realm, enabled: true, roles: { realm: [{ name: 'seller', description: 'Sells' }] } }],
        `of-${realm}`,
      ),
    )
    const console = await openKeycloakConsole(browser, { url: server.url })
    await console.step('edit a role', async () => {
      await console.open(`/${realm}/roles`)
      // The console knows a new realm after it is loaded again.
      await console.page.reload()
      await console.waitForIdle()
      await console.page.getByRole('link', { name: 'seller', exact: true }).click()
      await console.waitForIdle()
      await console.fill('description', 'Sells nothing')
      await console.click('save')
      await console.expectMessage('The role has been saved')
    })
    expect(console.steps.at(-1)!.errors).toEqual([])
    await console.close()
    const { body } = await call('GET', `/regent/v1/drift?realm=${realm}`)
    expect(JSON.stringify(body)).toContain('Sells nothing')
    expect(JSON.stringify(body)).toContain('"admin"')
  }, 60_000)
})

function toRegent(request: string): string {
  return DIFFERENCES.find(({ keycloak }) => keycloak === request)?.regent ?? request
}

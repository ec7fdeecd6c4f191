// The API reference in a real browser.
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { testService } from '../support/service.ts'

const { service } = await testService()
const app = await createServer(service, { apiReference: true })
afterAll(() => app.close())

test('the page of the API reference may run its own inline script only', async () => {
  const { headers, body } = await app.inject('/docs/')
  expect(headers['content-security-policy']).toMatch(/script-src 'self' 'sha256-[\w+/]+=';/)
  expect(body).toContain('../openapi.json')
  expect((await app.inject('/docs/js/scalar.js')).headers['content-type']).toContain('javascript')
})

test('the API reference is not served without the option', async () => {
  const withoutReference = await createServer(service)
  expect((await withoutReference.inject('/docs/')).statusCode).toBe(404)
  await withoutReference.close()
})

describe.skipIf(!chromiumPath)(inChromium, () => {
  test('the API reference shows operations by their summaries, and loads nothing from other hosts', async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const browser = await startChromium()
    const page = await browser.newPage()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(`${origin}/docs`)
    await page.getByText('Create a realm').filter({ visible: true }).first().waitFor()
    await browser.close()
    expect(requests).toContain(`${origin}/openapi.json`)
    expect(requests.filter((url) => !/^(?:data|blob):/.test(url) && !url.startsWith(`${origin}/`))).toEqual([])
  })
})

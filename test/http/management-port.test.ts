// The management port: metrics and health on a port of their own.
import { afterAll, expect, test } from 'vitest'
import { listen } from '../../src/http/server/listen.ts'
import { createServer } from '../../src/http/server.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { freePort } from '../support/postgres.ts'
import { testService } from '../support/service.ts'

const { service } = await testService()
const server = await createServer(service, { metrics: true, hasManagementPort: true, caller: SYSTEM })
afterAll(() => server.close())
const managementPort = await freePort()
const { localUrl } = await listen(server, { host: '127.0.0.1', port: 0, managementPort })

test('with a management port, metrics and health are on it, and nothing else is', async () => {
  const getStatus = async (base: string, path: string) => (await fetch(base + path)).status
  const management = `http://127.0.0.1:${managementPort}`
  for (const path of ['/metrics', '/metrics/', '/health/live', '/health/ready?verbose']) {
    expect(await getStatus(management, path), path).toBe(200)
    expect(await getStatus(localUrl, path), path).toBe(404)
  }
  for (const path of ['/', '/admin/realms', '/openapi.json', '/metricsx']) {
    expect(await getStatus(management, path), path).toBe(404)
    if (path !== '/metricsx') expect(await getStatus(localUrl, path), path).toBe(200)
  }
  expect(await (await fetch(`${management}/metrics`)).text()).toContain('operation="/health/ready"')
})

// Traces: what a collector receives over OTLP, and what other servers receive.
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { adminFlags, createCommandFolder } from '../support/cli.ts'

/** A span as a collector receives it. */
interface ReceivedSpan {
  readonly name: string
  /** 1: internal; 2: server; 3: client. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly status: { readonly code?: number }
}

/** A collector of spans, which also serves `/openid-configuration` and receives webhooks at `/hook`. */
class Collector {
  readonly spans: ReceivedSpan[] = []
  readonly resources: unknown[] = []
  /** The traceparent headers of other requests, by path. */
  readonly parents = new Map<string, string | undefined>()
  readonly #server = createServer(async (request, response) => {
    // biome-ignore lint/suspicious/noExplicitAny: JSON of any kind
    const body: any = request.method === 'POST' ? await json(request) : undefined
    if (request.url === '/v1/traces')
      for (const { resource, scopeSpans } of body.resourceSpans) {
        this.resources.push(resource.attributes)
        this.spans.push(...scopeSpans.flatMap(({ spans }: { spans: ReceivedSpan[] }) => spans))
      }
    else this.parents.set(request.url!.split('?')[0]!, request.headers.traceparent as string | undefined)
    response.setHeader('content-type', 'application/json').end('{"issuer":"https://id.example.org"}')
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
  }

  find(name: string | RegExp, traceId?: string): ReceivedSpan | undefined {
    return this.spans.find(
      (span) =>
        (typeof name === 'string' ? span.name === name : name.test(span.name)) &&
        (traceId === undefined || span.traceId === traceId),
    )
  }
}

const collector = new Collector()
const collectorUrl = await collector.listen()
const commands = await createCommandFolder({
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
  OTEL_SERVICE_NAME: 'identity',
  OTEL_BSP_SCHEDULE_DELAY: '100',
})
afterAll(async () => {
  await commands.remove()
  collector.close()
})

const getAttributes = ({ attributes }: ReceivedSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

async function getToken(url: string): Promise<string> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }
  const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

test('requests, statements, reconciliations and deliveries are spans of the traces of their callers', async () => {
  const server = await commands.serve('--source', '', '--drift-webhook', `${collectorUrl}/hook`)
  const token = await getToken(server.url)
  const [traceId, caller] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const send = (method: string, path: string, body: object) =>
    fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-${caller}-01`,
      },
      body: JSON.stringify(body),
    })
  const fromUrl = `${collectorUrl}/openid-configuration?key=s3cret`
  const imported = await send('POST', '/admin/realms/master/identity-provider/import-config', {
    providerId: 'oidc',
    fromUrl,
  })
  expect(imported.status).toBe(200)
  await writeFile(join(commands.folder, 'realm.yaml'), 'realm: acme\nclients: [{clientId: shop, name: Shop}]\n')
  expect(await commands.run('apply', 'realm.yaml', ...adminFlags(server.url))).toMatchObject({ code: 0 })
  const clients = await fetch(`${server.url}/admin/realms/acme/clients?clientId=shop`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const [{ id }] = (await clients.json()) as [{ id: string }]
  expect((await send('PUT', `/admin/realms/acme/clients/${id}`, { clientId: 'shop', name: 'Store' })).status).toBe(204)
  await expect.poll(() => collector.parents.has('/hook')).toBe(true)
  await server.stop()

  const request = collector.find('POST /admin/realms/{realm}/identity-provider/import-config')!
  expect(request).toMatchObject({ kind: 2, traceId, parentSpanId: caller })
  expect(getAttributes(request)).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/admin/realms/{realm}/identity-provider/import-config',
    'http.response.status_code': 200,
    'regent.request_id': imported.headers.get('x-request-id'),
  })
  const outbound = collector.spans.find(
    ({ name, kind, parentSpanId }) => name === 'GET' && kind === 3 && parentSpanId === request.spanId,
  )!
  expect(collector.parents.get('/openid-configuration')).toBe(`00-${traceId}-${outbound.spanId}-01`)

  const update = collector.find('PUT /admin/realms/{realm}/clients/{client-uuid}', traceId)!
  const transaction = collector.spans.find(
    ({ name, parentSpanId }) => name === 'transaction' && parentSpanId === update.spanId,
  )!
  const statements = collector.spans.filter(({ parentSpanId }) => parentSpanId === transaction.spanId)
  expect(statements.map(({ name }) => name)).toContain('UPDATE client')

  const reconciliation = collector.find('apply realm')!
  expect(getAttributes(reconciliation)).toMatchObject({ 'regent.realm': 'acme', 'regent.outcome': 'changed' })
  expect(collector.spans.find(({ spanId }) => spanId === reconciliation.parentSpanId)?.kind).toBe(2)

  const delivery = collector.find('deliver webhook')!
  const posted = collector.spans.find(({ parentSpanId }) => parentSpanId === delivery.spanId)!
  expect(collector.parents.get('/hook')).toBe(`00-${posted.traceId}-${posted.spanId}-01`)

  expect(collector.resources[0]).toContainEqual({ key: 'service.name', value: { stringValue: 'identity' } })
  expect(JSON.stringify(collector.spans)).not.toMatch(/s3cret|"admin"|Store/)
})

test('a server refuses exporters and protocols that it does not support', async () => {
  for (const [name, value] of [
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ] as const) {
    const { code, err } = await commands.shell('regent serve', { [name]: value })
    expect(code).toBe(1)
    expect(err).toMatch(`${name} is ${value}. Regent s`)
  }
})

// The API reference: a page that shows the OpenAPI document in a browser.
import { createHash } from 'node:crypto'
import fastify, { type FastifyInstance } from 'fastify'

/** The path of the page. Its assets are below it. */
const REFERENCE_PATH = '/docs'

/** Serves the API reference. Everything that the page loads comes from this server. It is loaded at the first request, since it is large. */
export async function serveApiReference(app: FastifyInstance): Promise<void> {
  let loading: Promise<FastifyInstance> | undefined
  for (const path of [REFERENCE_PATH, `${REFERENCE_PATH}/*`])
    app.get(path, async (request, reply) => {
      loading ??= createReference()
      const response = await (await loading).inject({ url: request.url, headers: request.headers })
      return reply.code(response.statusCode).headers(response.headers).send(response.rawPayload)
    })
}

/** Creates a server of the page and its assets, which does not listen. */
async function createReference(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  app.addHook('onSend', async (_request, reply, payload) => {
    const isPage = typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
    if (isPage) reply.header('content-security-policy', contentSecurityPolicy(payload))
  })
  await app.register(reference, {
    routePrefix: REFERENCE_PATH,
    configuration: {
      url: '../openapi.json',
      pageTitle: 'Regent admin API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      defaultOpenAllTags: false,
      hideModels: true,
      operationTitleSource: 'summary',
    },
  })
  return app
}

/** Returns the policy of a page that runs only its own inline scripts and loads nothing from other hosts. */
function contentSecurityPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, script]) => script!)
  const hashes = scripts
    .filter((script) => script !== '')
    .map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`)
  return [
    "default-src 'self'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}

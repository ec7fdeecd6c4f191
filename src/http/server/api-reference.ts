// The API reference: a page that shows the OpenAPI document in a browser.
import { createHash } from 'node:crypto'
import reference from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'

/** The path of the page. Its assets are below it. */
const REFERENCE_PATH = '/docs'

/** Serves the API reference. Everything that the page loads comes from this server. */
export async function serveApiReference(app: FastifyInstance): Promise<void> {
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

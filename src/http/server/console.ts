// The web console: a page of this server that calls its API. The page is the same for all addresses below /console.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml } from '../../lib/html.ts'
import { notFound } from '../errors.ts'
import { bundleConsole } from './bundle-console.ts'

/** A file that the page loads. */
interface ConsoleFile {
  readonly type: string
  readonly text: string
}

/** The files of the console, and their version, which changes with them. */
interface ConsoleFiles {
  readonly version: string
  readonly files: ReadonlyMap<string, ConsoleFile>
}

/** The folder of the files in a build. */
const BUILT = join(import.meta.dirname, 'console')

const TYPES: Readonly<Record<string, string>> = {
  'console.js': 'text/javascript; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4338ca"/><path d="M8 21 7 10.5l5 4.5 4-6.5 4 6.5 5-4.5L24 21z" fill="#fff"/><rect x="8" y="22.5" width="16" height="2.5" rx="1" fill="#fff"/></svg>`

/** The page may load and call this server only, and nothing of it is inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The base URL for a request, and whether Keycloak's admin console is served, too. */
interface ConsoleOptions {
  readonly baseOf: (request: FastifyRequest) => string
  readonly hasAdminConsole: boolean
}

/** Serves the console. Its files are read, or built from the sources, at the first request. */
export async function serveConsole(app: FastifyInstance, { baseOf, hasAdminConsole }: ConsoleOptions): Promise<void> {
  let loading: Promise<ConsoleFiles> | undefined
  const load = () => {
    loading ??= readConsoleFiles().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
  const root = (request: FastifyRequest) => new URL(baseOf(request)).pathname.replace(/\/$/, '')
  const openConsole = (request: FastifyRequest, reply: FastifyReply, realm: string) =>
    reply.redirect(`${root(request)}/console/${encodeURIComponent(realm)}/`, 302)
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const { version } = await load()
    reply.headers({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': 'no-cache' })
    return reply.type('text/html; charset=utf-8').send(renderPage(root(request), version))
  }
  app.get('/console', async (request, reply) => openConsole(request, reply, 'master'))
  app.get('/console/:realm', sendPage)
  app.get('/console/:realm/*', sendPage)
  // Keycloak: the addresses of its admin console.
  if (!hasAdminConsole) {
    app.get('/admin', async (request, reply) => openConsole(request, reply, 'master'))
    app.get<{ Params: { realm: string } }>('/admin/:realm/console', async (request, reply) =>
      openConsole(request, reply, request.params.realm),
    )
  }
  app.get<{ Params: { file: string } }>('/resources/console/:file', async (request, reply) => {
    const file = (await load()).files.get(request.params.file)
    if (!file) throw notFound()
    return reply.header('cache-control', 'public, max-age=31536000, immutable').type(file.type).send(file.text)
  })
}

async function readConsoleFiles(): Promise<ConsoleFiles> {
  const texts = existsSync(BUILT) ? await readBuiltFiles() : (await bundleConsole()).files
  const files = new Map([...texts].map(([name, text]) => [name, { type: TYPES[name]!, text }]))
  files.set('icon.svg', { type: 'image/svg+xml', text: ICON })
  const hash = createHash('sha256')
  for (const { text } of files.values()) hash.update(text)
  return { version: hash.digest('base64url').slice(0, 12), files }
}

async function readBuiltFiles(): Promise<Map<string, string>> {
  const names = Object.keys(TYPES)
  const texts = await Promise.all(names.map((name) => readFile(join(BUILT, name), 'utf8')))
  return new Map(names.map((name, at) => [name, texts[at]!]))
}

function renderPage(root: string, version: string): string {
  const address = (file: string) => escapeHtml(`${root}/resources/console/${file}?v=${version}`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Regent</title>
<link rel="icon" type="image/svg+xml" href="${address('icon.svg')}">
<link rel="stylesheet" href="${address('console.css')}">
<script type="module" src="${address('console.js')}"></script>
<div id="console"></div>
<noscript>The console needs JavaScript. The API and the command line work without it.</noscript>
</html>
`
}

// Keycloak's admin console, from files that the operator of the server provides: its page with the values that it expects, and what it loads.
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MASTER } from '../../kinds/built-in/index.ts'
import { isLoopback } from '../../lib/http/loopback.ts'
import { renderTemplate, type TemplateValues } from '../../lib/keycloak/freemarker.ts'
import { getSecurityHeaders } from '../../oidc/login/page-response.ts'
import { getFrontendUrl, getOidcRealm } from '../../oidc/oidc-realm.ts'
import { CONSOLE_CLIENT } from '../../oidc/redirect-uris.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import { notFound } from '../errors.ts'
import { COMMON_FOLDER, CONSOLE_FOLDER, type ConsoleTheme } from './console-theme.ts'

/** The console, and how it finds the server. */
export interface AdminConsoleOptions {
  readonly theme: ConsoleTheme
  readonly service: Service
  readonly baseOf: (request: FastifyRequest) => string
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
}

/** Serves the console at Keycloak's addresses. */
export async function serveAdminConsole(app: FastifyInstance, options: AdminConsoleOptions): Promise<void> {
  const { theme, baseOf } = options
  const addressOf = (request: FastifyRequest, realm: string) =>
    `${baseOf(request)}/admin/${encodeURIComponent(realm)}/console/`
  app.get('/admin', async (request, reply) => reply.redirect(addressOf(request, MASTER), 302))
  app.get<{ Params: { realm: string } }>('/admin/:realm/console', async (request, reply) => {
    const { realm } = request.params
    if (request.url.split('?', 1)[0]!.endsWith('/')) return sendPage(options, { request, reply }, realm)
    return reply.header('cache-control', 'no-cache').redirect(addressOf(request, realm), 302)
  })
  const folders = { 'admin/keycloak.v2': CONSOLE_FOLDER, 'common/keycloak': COMMON_FOLDER }
  for (const [address, folder] of Object.entries(folders)) {
    app.get<{ Params: { version: string; '*': string } }>(
      `/resources/:version/${address}/*`,
      async (request, reply) => {
        const { version, '*': path } = request.params
        const content = version === theme.resourceVersion ? theme.find(`${folder}/resources/${path}`) : undefined
        if (!content) throw notFound()
        const type = TYPES[extname(path)] ?? 'application/octet-stream'
        reply.header('cache-control', 'public, max-age=31536000, immutable').type(type)
        // Texts are compressed.
        return reply.send(/^text|svg|json/.test(type) ? new TextDecoder().decode(content) : Buffer.from(content))
      },
    )
  }
}

/** Sends the page of a realm's console. Keycloak: AdminConsole.getMainPage. */
async function sendPage(
  { theme, service, baseOf }: AdminConsoleOptions,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  realmName: string,
): Promise<FastifyReply> {
  const [row] = await service.cache.findRealms([realmName])
  if (!row) throw failure('not_found', 'Realm not found.  Did you type in a bad URL?')
  const { settings } = await getOidcRealm(service, realmName)
  const base = getFrontendUrl(baseOf(request), row)
  const hasDarkMode = theme.properties.get('darkMode') === 'true' && settings.attributes?.darkMode !== 'false'
  const page = renderTemplate(theme.template, {
    ...getAddresses(theme, base),
    loginRealm: realmName,
    masterRealm: MASTER,
    clientId: CONSOLE_CLIENT,
    consoleBaseUrl: `${new URL(base).pathname.replace(/\/$/, '')}/admin/${encodeURIComponent(realmName)}/console/`,
    darkMode: hasDarkMode,
    isSecureContext: isSecure(base),
    properties: Object.fromEntries(theme.properties),
    entryScript: theme.entry.script,
    entryStyles: theme.entry.styles,
    entryImports: theme.entry.imports,
  })
  reply.headers({ ...getSecurityHeaders(settings), 'cache-control': 'no-cache', 'content-language': 'en' })
  return reply.type('text/html; charset=utf-8').send(page)
}

function getAddresses({ resourceVersion }: ConsoleTheme, base: string): TemplateValues {
  const resources = `${new URL(base).pathname.replace(/\/$/, '')}/resources/${resourceVersion}`
  return {
    serverBaseUrl: base,
    adminBaseUrl: base,
    authUrl: base,
    authServerUrl: base,
    resourceUrl: `${resources}/admin/keycloak.v2`,
    resourceCommonUrl: `${resources}/common/keycloak`,
    resourceVersion,
  }
}

/** Whether browsers give the page the functions of cryptography. */
function isSecure(base: string): boolean {
  const { protocol, hostname } = new URL(base)
  return protocol === 'https:' || isLoopback(hostname) || hostname.endsWith('.localhost')
}

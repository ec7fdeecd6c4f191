// The routes of login with a browser; oidc/login decides what they answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseCookies, renderSetCookie } from '../lib/http/cookies.ts'
import { toHeaderValue } from '../lib/http/headers.ts'
import { followLink } from '../oidc/login/action-token-link.ts'
import { authorize } from '../oidc/login/authorization-endpoint.ts'
import { registerByInvitation } from '../oidc/login/invitations/organization-invitation.ts'
import { confirmLogOut, showAccount } from '../oidc/login/log-out.ts'
import { changeFlow, continueLogin, restartLogin } from '../oidc/login/login-actions.ts'
import { cookiePage, isStatusOriginAllowed, statusPage } from '../oidc/login/login-status-iframe.ts'
import { STYLESHEET } from '../oidc/login/page-response.ts'
import type { BrowserRequest, BrowserResponse } from '../oidc/login/session/browser-request.ts'
import { stylesheet } from '../oidc/pages/stylesheet.ts'
import type { Service } from '../service/context/service.ts'
import { formOf } from './form.ts'

/** Adds the routes. Forms are read by the one who calls. */
export function addLoginRoutes(
  app: FastifyInstance,
  service: Service,
  baseOf: (request: FastifyRequest) => string,
): void {
  const both = (url: string, work: (request: BrowserRequest) => Promise<BrowserResponse>) =>
    app.route({
      method: ['GET', 'POST'],
      url: `/realms/:realm/${url}`,
      handler: async (request, reply) =>
        sendBrowserResponse(reply, await work(readBrowserRequest(request, baseOf(request)))),
    })
  both('protocol/openid-connect/auth', (request) => authorize(service, request))
  both('protocol/openid-connect/registrations', (request) =>
    request.query.has('token') ? registerByInvitation(service, request) : authorize(service, request, 'registration'),
  )
  both('protocol/openid-connect/forgot-credentials', (request) => authorize(service, request, 'resetCredentials'))
  for (const page of ['authenticate', 'required-action', 'consent']) {
    both(`login-actions/${page}`, (request) => continueLogin(service, request))
  }
  const other = { registration: 'registration', 'reset-credentials': 'resetCredentials' } as const
  for (const [page, binding] of Object.entries(other)) {
    // A form of the page itself has a session code.
    both(`login-actions/${page}`, (request) =>
      request.form ? continueLogin(service, request) : changeFlow(service, request, binding),
    )
  }
  both('login-actions/action-token', (request) => followLink(service, request))
  both('login-actions/logout-confirm', (request) => confirmLogOut(service, request))
  both('account', (request) => showAccount(service, request))
  both('login-actions/restart', (request) => restartLogin(service, request))

  const iframe = '/realms/:realm/protocol/openid-connect/login-status-iframe.html'
  const cookies = '/realms/:realm/protocol/openid-connect/3p-cookies/step1.html'
  for (const [url, page] of [[iframe, statusPage] as const, [cookies, cookiePage] as const]) {
    // Applications have these pages in frames.
    app.get(url, (_request, reply) =>
      reply
        .header('cache-control', 'no-cache, must-revalidate, no-transform, no-store')
        .header('content-security-policy', "frame-src 'self'; object-src 'none';")
        .header('x-frame-options', '')
        .type('text/html; charset=utf-8')
        .send(page),
    )
  }
  app.get(`${iframe}/init`, async (request, reply) => {
    const { base, query, realm } = readBrowserRequest(request, baseOf(request))
    const isAllowed = await isStatusOriginAllowed(service, { base, realmName: realm, query })
    return reply.code(isAllowed ? 204 : 403).send()
  })
  app.get(STYLESHEET, (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').type('text/css; charset=utf-8').send(stylesheet),
  )
}

/** Reads the request of a browser to a login endpoint. */
export function readBrowserRequest(request: FastifyRequest, base: string): BrowserRequest {
  return {
    base,
    realm: (request.params as { realm: string }).realm,
    query: URL.parse(request.url, 'http://localhost')?.searchParams ?? new URLSearchParams(),
    ...(request.method === 'POST' && { form: formOf(request.body) }),
    cookies: parseCookies(request.headers.cookie),
    address: request.ip,
    secure: request.protocol === 'https',
    languages: request.headers['accept-language'] ?? '',
  }
}

/** Sends a response to a browser. */
export function sendBrowserResponse(
  reply: FastifyReply,
  { status, location, page, cookies, headers }: BrowserResponse,
): FastifyReply {
  reply.code(status).headers(headers)
  if (cookies.length) reply.header('set-cookie', cookies.map(renderSetCookie))
  if (location !== undefined) return reply.header('location', toHeaderValue(location)).send()
  return reply.type('text/html; charset=utf-8').send(page?.text)
}

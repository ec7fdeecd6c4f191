// A server that plays the APIs of GitHub, GitLab and Gitea, as far as sources use them: installation tokens and the status of commits.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JWTPayload, jwtVerify } from 'jose'
import { vi } from 'vitest'

/** A request to the host. */
export interface HostRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any kind
  readonly body: any
}

/** A host of repositories. */
export interface RepositoryHost {
  readonly url: string
  /** The requests for the status of commits. */
  readonly statuses: HostRequest[]
  /** The requests for installation tokens, with the verified claims of the app. */
  readonly tokenRequests: (HostRequest & { readonly claims: JWTPayload })[]
  /** The private key of the app, in PKCS #1 as GitHub creates it. */
  readonly privateKey: string
  /** The next installation token. */
  token: string
  /** Milliseconds until a token expires. */
  lifetime: number
  /** The response to the next request for a status; by default 201. */
  readonly responses: { readonly status: number; readonly body: object }[]
  /** Whether requests for statuses get no response. */
  isSilent: boolean
  /** Waits until there are so many requests for statuses whose path contains the text, and returns them. */
  waitForStatuses(part: string, count: number): Promise<HostRequest[]>
  close(): void
}

/** Starts a host. */
export async function startRepositoryHost(): Promise<RepositoryHost> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = createServer(async (incoming, response) => {
    const text = Buffer.concat(await incoming.toArray()).toString()
    const { method = '', url: path = '', headers } = incoming
    const request = { method, path, headers, body: JSON.parse(text) }
    const respond = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (!path.includes('/access_tokens')) {
      host.statuses.push(request)
      if (host.isSilent) return
      const { status, body } = host.responses.shift() ?? { status: 201, body: {} }
      return respond(status, body)
    }
    try {
      const token = headers.authorization?.replace(/^Bearer /, '') ?? ''
      const { payload } = await jwtVerify(token, publicKey, { algorithms: ['RS256'], requiredClaims: ['iat', 'exp'] })
      host.tokenRequests.push({ ...request, claims: payload })
    } catch {
      return respond(401, { message: 'A JSON web token could not be decoded' })
    }
    return respond(201, { token: host.token, expires_at: new Date(Date.now() + host.lifetime).toISOString() })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host: RepositoryHost = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ statuses: [], tokenRequests: [], responses: [], token: 'installation-token', lifetime: 3_600_000 },
    isSilent: false,
    privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    async waitForStatuses(part, count) {
      const list = () => host.statuses.filter(({ path }) => path.includes(part))
      await vi
        .waitUntil(() => list().length >= count, { timeout: 60_000 })
        .catch(() => {
          throw new Error(`Statuses: ${JSON.stringify(host.statuses)}`)
        })
      return list()
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return host
}

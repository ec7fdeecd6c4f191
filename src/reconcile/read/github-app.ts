// A GitHub App that authenticates at a repository: as the app with a signed token, then with an installation access token.
// GitHub documents both under "Authenticating with a GitHub App".
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import { SignJWT } from 'jose'
import * as z from 'zod'
import { type HttpResponse, parseJsonOrNull, sendRequest } from '../../lib/http/http-request.ts'
import { isLoopback } from '../../lib/http/loopback.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { SourceError } from './file-source.ts'
import { normalizeUrl } from './git-address.ts'
import { RemoteError } from './git-command.ts'

/** The identity of a GitHub App. */
export interface GithubAppSettings {
  /** ID of the app, or its client ID. */
  readonly appId: string
  /** ID of the installation that may read the repository. */
  readonly installationId: string
  /** The private key of the app, in PEM. */
  readonly privateKey: string
  /** URL of GitHub's API. Default: that of github.com. */
  readonly baseUrl?: string | undefined
}

/** Options of a GitHub App. */
export interface GithubAppOptions {
  /** URL of the only repository that its tokens are valid for. */
  readonly repository: string
  readonly outbound: Outbound
  /** CA certificates in PEM that are accepted besides public ones. */
  readonly authorities?: string | undefined
}

const GITHUB_API = 'https://api.github.com'
/** Milliseconds until GitHub must have responded. */
const TIMEOUT = 20_000
/** Maximum bytes of a response. */
const MAX_RESPONSE = 256 * 1024
/** Seconds that the token of the app is valid. GitHub accepts ten minutes at most. */
const APP_TOKEN_LIFETIME = 9 * 60
/** Seconds that the clock of GitHub may be behind. */
const CLOCK_SKEW = 60
/** Milliseconds before its expiry from which an installation token is not used any more. */
const EXPIRY_MARGIN = 5 * 60_000

const installationToken = z.object({ token: z.string(), expires_at: z.iso.datetime({ offset: true }) })
const hostError = z.object({ message: z.string() })

/** Describes an unexpected response of a host of repositories, with its message. */
export function describeHostError(url: string, { status, text }: Pick<HttpResponse, 'status' | 'text'>): string {
  const message = hostError.safeParse(parseJsonOrNull(text)).data?.message
  const reason = message?.replaceAll(/\p{Cc}+/gu, ' ').slice(0, MAX_MESSAGE)
  return `${new URL(url).origin} responded with status ${status}${reason ? ` (${reason})` : ''}`
}

/** Maximum characters of a message of a host. */
const MAX_MESSAGE = 200

/** Throws SourceError unless a URL to which credentials are sent is encrypted. */
export function requireEncryptedUrl(url: string): void {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return
  throw new SourceError(`${url} is not an https URL`)
}

/** Headers of each request to GitHub's API. */
export const GITHUB_HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' } as const

/** Returns the CA certificates that a request to a host of repositories accepts: public ones, and those of the source. */
export function toRequestCredentials(authorities: string | undefined): { readonly ca?: string[] } {
  return authorities === undefined ? {} : { ca: [...getCACertificates('default'), authorities] }
}

interface InstallationToken {
  readonly text: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** A GitHub App with the last installation token, which is only in memory. */
export class GithubApp {
  readonly #settings: GithubAppSettings
  readonly #options: GithubAppOptions
  readonly #privateKey: KeyObject
  readonly #oneAtATime = limitConcurrency(1)
  /** The last token, and the time of its expiry. */
  #token: InstallationToken | undefined

  /** Throws SourceError if the private key or the URL is invalid. */
  constructor(settings: GithubAppSettings, options: GithubAppOptions) {
    this.#settings = settings
    this.#options = options
    this.#privateKey = parsePrivateKey(settings.privateKey)
    requireEncryptedUrl(settings.baseUrl ?? GITHUB_API)
  }

  /** Returns an installation token that is valid for at least a few minutes. Throws RemoteError. */
  getToken(): Promise<string> {
    return this.#oneAtATime(async () => {
      if (!this.#token || this.#token.expiresAt - EXPIRY_MARGIN <= Date.now())
        this.#token = await this.#createInstallationToken()
      return this.#token.text
    })
  }

  /** Requests another token the next time. */
  forgetToken(): void {
    this.#token = undefined
  }

  /** GitHub's operation "Create an installation access token for an app". */
  async #createInstallationToken(): Promise<InstallationToken> {
    const { appId, installationId, baseUrl = GITHUB_API } = this.#settings
    const { repository, outbound, authorities } = this.#options
    const fail = (reason: string) =>
      new RemoteError(`The GitHub App ${appId} gets no token of its installation ${installationId}: ${reason}`)
    const url = `${baseUrl.replace(/\/+$/, '')}/app/installations/${encodeURIComponent(installationId)}/access_tokens`
    const response = await sendRequest(outbound, url, {
      method: 'POST',
      headers: {
        ...GITHUB_HEADERS,
        'content-type': 'application/json',
        authorization: `Bearer ${await this.#signAppToken()}`,
      },
      body: JSON.stringify({ repositories: [normalizeUrl(repository).split('/').at(-1)] }),
      credentials: toRequestCredentials(authorities),
      timeout: TIMEOUT,
      limit: MAX_RESPONSE,
    }).catch((error: Error) => {
      throw fail(error.message)
    })
    const { data } = installationToken.safeParse(parseJsonOrNull(response.text))
    if (response.ok && data) return { text: data.token, expiresAt: Date.parse(data.expires_at) }
    throw fail(describeHostError(url, response))
  }

  #signAppToken(): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    return new SignJWT()
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(this.#settings.appId)
      .setIssuedAt(now - CLOCK_SKEW)
      .setExpirationTime(now + APP_TOKEN_LIFETIME)
      .sign(this.#privateKey)
  }
}

/** Parses an RSA key in PEM, in PKCS #1 as GitHub creates it, or in PKCS #8. */
function parsePrivateKey(pem: string): KeyObject {
  const refuse = () => new SourceError('The private key of the GitHub App is not an RSA key in PEM.')
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    throw refuse()
  }
  throw refuse()
}

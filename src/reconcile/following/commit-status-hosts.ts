// Sets the status of commits on hosts of repositories: GitHub, GitLab and Gitea.
import { sendRequest } from '../../lib/http/http-request.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import { SourceError } from '../read/file-source.ts'
import { normalizeUrl } from '../read/git-address.ts'
import {
  describeHostError,
  GITHUB_HEADERS,
  type GithubApp,
  requireEncryptedUrl,
  toRequestCredentials,
} from '../read/github-app.ts'
import type { CommitStatusFields } from '../read/source-resource.ts'

/** The host that shows the status of the commits of a source. */
export interface CommitStatusTarget {
  readonly provider: CommitStatusFields['provider']
  /** URL of the repository. */
  readonly repository: string
  /** URL of the host's API. Default: the one that the URL of the repository implies. */
  readonly apiUrl?: string | undefined
  /** The label that distinguishes this status from those of other systems. */
  readonly context: string
  /** The page that the status links to. */
  readonly targetUrl?: string | undefined
  getToken(): Promise<string>
  readonly outbound: Outbound
  /** CA certificates in PEM that are accepted besides public ones. */
  readonly authorities?: string | undefined
}

/** The status of a commit. `error`: a temporary failure. */
export interface CommitStatus {
  readonly sha: string
  readonly state: 'pending' | 'success' | 'failure' | 'error'
  readonly description: string
}

/** The facts about one host. */
interface CommitStatusHost {
  /** Returns the URL of the API of a server, from the origin of its URL. */
  toApiUrl(origin: string): string
  /** Returns the path of the operation that sets a status. `repository`: its owners and name, joined by slashes. */
  toPath(repository: string, sha: string): string
  toHeaders(token: string): Readonly<Record<string, string>>
  toState(state: CommitStatus['state']): string
  /** Maximum characters of a description. */
  readonly maxDescription: number
  /** Whether a response means that the commit has the status already. */
  isRepeated?(status: number, text: string): boolean
}

const hosts: Readonly<Record<CommitStatusFields['provider'], CommitStatusHost>> = {
  // "Create a commit status". A longer description is refused with 422.
  github: {
    toApiUrl(origin) {
      const { hostname } = new URL(origin)
      if (hostname === 'github.com' || hostname.endsWith('.ghe.com')) return `https://api.${hostname}`
      return `${origin}/api/v3`
    },
    toPath: (repository, sha) => `/repos/${encodePath(repository)}/statuses/${sha}`,
    toHeaders: (token) => ({ ...GITHUB_HEADERS, authorization: `Bearer ${token}` }),
    toState: (state) => state,
    maxDescription: 140,
  },
  // "Set commit pipeline status". The same status a second time is refused with 400.
  gitlab: {
    toApiUrl: (origin) => `${origin}/api/v4`,
    toPath: (repository, sha) => `/projects/${encodeURIComponent(repository)}/statuses/${sha}`,
    toHeaders: (token) => ({ 'private-token': token }),
    toState: (state) => (state === 'failure' || state === 'error' ? 'failed' : state),
    maxDescription: 255,
    isRepeated: (status, text) => status === 400 && text.includes('Cannot transition status'),
  },
  // "repoCreateStatus". The description has no limit, and a longer one would not be readable.
  gitea: {
    toApiUrl: (origin) => `${origin}/api/v1`,
    toPath: (repository, sha) => `/repos/${encodePath(repository)}/statuses/${sha}`,
    toHeaders: (token) => ({ authorization: `token ${token}` }),
    toState: (state) => state,
    maxDescription: 255,
  },
}

/** Milliseconds until a host must have responded, and maximum bytes of its response. */
const [TIMEOUT, MAX_RESPONSE] = [20_000, 256 * 1024]

/** The parts of a target that are not in its fields. */
interface CommitStatusAccess extends Pick<CommitStatusTarget, 'repository' | 'outbound' | 'authorities'> {
  /** Default: the tokens of the GitHub App. */
  readonly token: string | undefined
  readonly githubApp: GithubApp | undefined
}

/**
 * Returns the target that the fields of a source declare. Throws SourceError if they name no token, or the repository has no host that
 * can show statuses.
 */
export function createCommitStatusTarget(
  source: string,
  { provider, context = `regent/${source}`, targetUrl, apiUrl }: CommitStatusFields,
  { repository, outbound, authorities, token, githubApp }: CommitStatusAccess,
): CommitStatusTarget {
  const target = { provider, context, targetUrl, apiUrl, repository, outbound, authorities }
  requireEncryptedUrl(findApiUrl(target))
  if (token) return { ...target, getToken: async () => token }
  if (githubApp && provider === 'github') return { ...target, getToken: () => githubApp.getToken() }
  throw new SourceError('commitStatus requires a token that may set statuses')
}

/** Sets the status of a commit. Throws where the host does not accept it. */
export async function setCommitStatus(
  target: CommitStatusTarget,
  status: CommitStatus,
  signal?: AbortSignal,
): Promise<void> {
  const { provider, repository, context, targetUrl, outbound, authorities } = target
  const host = hosts[provider]
  const apiUrl = findApiUrl(target)
  const url = apiUrl + host.toPath(toRepositoryPath(repository, apiUrl), status.sha)
  const response = await sendRequest(outbound, url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...host.toHeaders(await target.getToken()) },
    body: JSON.stringify({
      state: host.toState(status.state),
      context,
      description: abbreviate(status.description, host.maxDescription),
      ...(targetUrl !== undefined && { target_url: targetUrl }),
    }),
    credentials: toRequestCredentials(authorities),
    timeout: TIMEOUT,
    limit: MAX_RESPONSE,
    signal,
  })
  if (response.ok || host.isRepeated?.(response.status, response.text)) return
  throw new Error(describeHostError(url, response))
}

/** Returns the URL of the API of a target, without a slash at its end. */
function findApiUrl({
  provider,
  repository,
  apiUrl,
}: Pick<CommitStatusTarget, 'provider' | 'repository' | 'apiUrl'>): string {
  if (apiUrl !== undefined) return apiUrl.replace(/\/+$/, '')
  const { protocol = 'ssh:', host = '' } = URL.parse(repository) ?? {}
  if (protocol === 'file:') throw new SourceError(`commitStatus: ${repository} has no host. Remove commitStatus.`)
  // The port of ssh is not the one of the API.
  const origin = protocol.startsWith('http')
    ? `${protocol}//${host}`
    : `https://${normalizeUrl(repository).split('/')[0]}`
  return hosts[provider].toApiUrl(origin)
}

/** Returns owners and name of a repository. A server below a path has this path in both URLs. */
function toRepositoryPath(repository: string, apiUrl: string): string {
  const [, ...steps] = normalizeUrl(repository).split('/')
  const path = steps.join('/')
  const prefix = `${new URL(apiUrl).pathname.replace(/\/?api\/v\d+$/, '').replace(/^\//, '')}/`
  return prefix !== '/' && path.startsWith(prefix) ? path.slice(prefix.length) : path
}

const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/')

/** Returns a text in one line of at most so many characters. */
function abbreviate(text: string, longest: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}

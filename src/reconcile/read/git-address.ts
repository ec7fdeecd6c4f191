// Addresses of git sources: a repository, a branch, tag or commit, and a folder or file. Parsing, rendering and comparison.
import { isLoopback } from '../../lib/http/loopback.ts'
import { SourceError } from './file-source.ts'

/** User name and password for a repository over https. */
export interface GitCredentials {
  readonly user: string
  readonly password: string
}

/** The address of a git source. */
export interface GitAddress {
  /** URL of the repository, without credentials. */
  readonly url: string
  /** The only protocol that git may use, also after redirects. */
  readonly protocol: string
  readonly credentials?: GitCredentials
  /** A branch, a tag or a full commit hash. Default: the repository's default branch. */
  readonly ref?: string
  /** A folder or file in the repository. Default: all of it. */
  readonly path?: string
}

/**
 * Parses `URL[#REF[:PATH]]` or `USER@HOST:PATH[#REF[:PATH]]`. Returns undefined where the text is a local path.
 * Throws SourceError where the URL is not supported.
 */
export function parseGitAddress(text: string): GitAddress | undefined {
  const [written = '', ...rest] = text.split('#')
  const protocol = /^([a-z][a-z+.-]*):\/\//i.exec(written)?.[1]
  if (!protocol && !/^[\w.-]+@\w[\w.-]*:./.test(written)) return undefined
  const fragment = parseFragment(rest.join('#'))
  if (!protocol) return { url: written, protocol: 'ssh', ...fragment }
  const url = written.replace(/^([^/]*\/\/)[^/]*@/, protocol === 'ssh' ? '$&' : '$1')
  const refuse = (reason: string) => new SourceError(`${protocol === 'ssh' ? 'the address' : url} ${reason}`)
  const parsed = URL.parse(written)
  if (!parsed) throw refuse('is not a URL of a git repository')
  if (!['https', 'http', 'ssh', 'file'].includes(protocol)) {
    throw refuse('has an unsupported protocol. Use https, ssh or file.')
  }
  if (protocol === 'http' && !isLoopback(parsed.hostname)) {
    throw refuse('is not encrypted. Use https.')
  }
  if (parsed.search) throw refuse('has a query string. Remove it.')
  if (protocol === 'ssh' && parsed.password) throw refuse('contains a password, which ssh does not support. Use a key.')
  const user = decodeURIComponent(parsed.username)
  const credentials = { user, password: decodeURIComponent(parsed.password) }
  return { url, protocol, ...(protocol !== 'ssh' && user !== '' && { credentials }), ...fragment }
}

/** Returns the address that the fields of a RealmSource give. Throws SourceError where the URL is not supported. */
export function toGitAddress({
  url,
  ref = '',
  folder,
}: {
  readonly url: string
  readonly ref?: string | undefined
  readonly folder?: string | undefined
}): GitAddress {
  if (url.includes('#')) throw new SourceError(`${url} contains a branch or folder. Declare them as ref and folder.`)
  const address = parseGitAddress(`${url}#${ref}${folder === undefined ? '' : `:${folder}`}`)
  if (!address) throw new SourceError(`${url} is not a URL of a git repository`)
  return address
}

/** Returns the address without credentials, as it is written on a command line. */
export function renderGitAddress({ url, ref = '', path }: GitAddress): string {
  const fragment = `${ref}${path === undefined ? '' : `:${path}`}`
  return fragment === '' ? url : `${url}#${fragment}`
}

/** Whether both URLs name the same repository. Protocol, user, port and the suffix `.git` are ignored. */
export function isSameRepository(url: string, otherUrl: string): boolean {
  return normalizeUrl(url) === normalizeUrl(otherUrl)
}

/** Returns host and path of a repository: without protocol, user, port and the suffix `.git`. */
export function normalizeUrl(url: string): string {
  const [, host, path] = /^(?:[a-z]+:\/\/)?(?:[^/]*@)?([^/:]*)(?::\d+(?=\/))?[:/]*(.*)$/is.exec(url)!
  return `${host!.toLowerCase()}/${path!.replace(/(?<!\/)\/+$/, '').replace(/\.git$/, '')}`
}

function parseFragment(fragment: string): Pick<GitAddress, 'ref' | 'path'> {
  const [ref = '', ...rest] = fragment.split(':')
  const path = normalizeFolder(rest.join(':')) ?? ''
  // Git would interpret these characters of a ref as options, refspecs or patterns.
  if (/^[-+/]|\.\.|[\s~^?*[\\\p{Cc}]/u.test(ref))
    throw new SourceError(`${ref} is not a valid name of a branch, tag or commit`)
  return { ...(ref !== '' && { ref }), ...(path !== '' && { path }) }
}

/** Returns the path of a folder or file in a repository; undefined for the whole repository. Throws SourceError if it is outside. */
export function normalizeFolder(folder: string | undefined): string | undefined {
  const path = folder?.replace(/^\.?\/+|(?<!\/)\/+$/g, '') ?? ''
  if (path.split('/').includes('..')) throw new SourceError(`${path} is outside of the repository`)
  return path === '' || path === '.' ? undefined : path
}

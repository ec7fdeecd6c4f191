// Which branch, tag or commit of which repository is a source, and which folder or file in it: as it is named, and as it is shown.
import { isLoopback } from '../../lib/http/loopback.ts'
import { SourceError } from './file.ts'

/** A place in a git repository. */
export interface GitAddress {
  /** Without credentials: git is asked by it, and it may be shown. */
  readonly url: string
  /** The only protocol that git may speak for it, redirects included. */
  readonly protocol: string
  readonly credentials?: { readonly user: string; readonly password: string }
  /** A branch, a tag or a whole commit; absent: the branch that the repository calls its own. */
  readonly ref?: string
  /** A folder or file in it; absent: all of it. */
  readonly path?: string
}

/** What the text names, if it names a place in a git repository and not a path. Throws SourceError when it is none that is taken. */
export function gitAddress(text: string): GitAddress | undefined {
  const [written, ...rest] = text.split('#') as [string, ...string[]]
  const protocol = /^([a-z][a-z+.-]*):\/\//i.exec(written)?.[1]
  if (!protocol && !/^[\w.-]+@\w[\w.-]*:./.test(written)) return undefined
  const place = placeIn(rest.join('#'))
  if (!protocol) return { url: written, protocol: 'ssh', ...place }
  const url = written.replace(/^([^/]*\/\/)[^/]*@/, protocol === 'ssh' ? '$&' : '$1')
  const refuse = (reason: string) => new SourceError(`${protocol === 'ssh' ? 'this address' : url} ${reason}`)
  const parsed = URL.parse(written)
  if (!parsed) throw refuse('is no URL of a git repository')
  if (!['https', 'http', 'ssh', 'file'].includes(protocol)) {
    throw refuse('is not taken: name the repository by https, ssh or file')
  }
  if (protocol === 'http' && !isLoopback(parsed.hostname)) {
    throw refuse('would send documents in the clear: name the repository by https')
  }
  if (parsed.search) throw refuse('has a query, which is part of no address of a repository')
  if (protocol === 'ssh' && parsed.password) throw refuse('holds a password, and ssh takes none: use a key')
  const user = decodeURIComponent(parsed.username)
  const credentials = { user, password: decodeURIComponent(parsed.password) }
  return { url, protocol, ...(protocol !== 'ssh' && user !== '' && { credentials }), ...place }
}

/** A place as resources name it, in fields of their own. Throws SourceError. */
export function placeOf({
  url,
  ref = '',
  folder,
}: {
  readonly url: string
  readonly ref?: string | undefined
  readonly folder?: string | undefined
}): GitAddress {
  if (url.includes('#')) throw new SourceError(`${url} names a branch or folder: state them as ref and folder`)
  const address = gitAddress(`${url}#${ref}${folder === undefined ? '' : `:${folder}`}`)
  if (!address) throw new SourceError(`${url} is no URL of a git repository`)
  return address
}

/** The address without credentials, as it is named on a command line. */
export function shownAddress({ url, ref = '', path }: GitAddress): string {
  const place = `${ref}${path === undefined ? '' : `:${path}`}`
  return place === '' ? url : `${url}#${place}`
}

/** The name of the source: another branch of it is the same source. */
export function nameOf({ url, path }: GitAddress): string {
  return path === undefined ? url : `${url}:${path}`
}

/** Whether both are addresses of one repository, by whatever protocol. */
export function sameRepository(one: string, other: string): boolean {
  return repositoryOf(one) === repositoryOf(other)
}

function repositoryOf(url: string): string {
  const [, host, path] = /^(?:[a-z]+:\/\/)?(?:[^/]*@)?([^/:]*)(?::\d+(?=\/))?[:/]*(.*)$/is.exec(url)!
  return `${host!.toLowerCase()}/${path!.replace(/(?<!\/)\/+$/, '').replace(/\.git$/, '')}`
}

function placeIn(fragment: string): Pick<GitAddress, 'ref' | 'path'> {
  const [ref = '', ...rest] = fragment.split(':')
  const path = rest.join(':').replace(/^\.?\/+|(?<!\/)\/+$/g, '')
  // Git takes some characters of a name for more than a name.
  if (/^[-+/]|\.\.|[\s~^?*[\\\p{Cc}]/u.test(ref)) throw new SourceError(`${ref} is no name of a branch, tag or commit`)
  if (path.split('/').includes('..')) throw new SourceError(`${path} leads out of the repository`)
  return { ...(ref !== '' && { ref }), ...(path !== '' && path !== '.' && { path }) }
}

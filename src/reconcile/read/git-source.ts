// Reads the documents of a source from a branch, tag or commit of a git repository.
import { mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Outbound } from '../../lib/http/outbound.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { type CloneFolder, createCloneFolder } from './clone-folder.ts'
import { type FileSourceOptions, readFileSource, SourceError } from './file-source.ts'
import { type GitAddress, renderGitAddress } from './git-address.ts'
import { createGit, RemoteError, type RunGit, toConfigOptions } from './git-command.ts'
import { createRemoteGit } from './git-connection.ts'
import { type GitKeys, writeAuthorities, writeKeyFiles } from './git-keys.ts'
import type { GithubApp } from './github-app.ts'
import { createCachingFileReader } from './read-files.ts'
import type { Commit, SerializedSource, SourceContent } from './source-content.ts'
import { type GivenIdentity, locateSource, requireSourceName } from './source-identity.ts'

/** Options of reading a git source. */
export interface GitSourceOptions
  extends GivenIdentity,
    Pick<FileSourceOptions, 'unknownFields' | 'env' | 'isAllowed' | 'findAgeKeys' | 'replacesPlaceholders'> {
  /** File with the allowed signers, in the format of `gpg.ssh.allowedSignersFile`. Default: commits need no signature. */
  readonly signersFile?: string | undefined
  /** Whether the authors of commits are read. */
  readonly readsAuthors?: boolean | undefined
  /** Seconds after which a git command is killed. */
  readonly timeout?: number | undefined
  /** Kills git commands in progress. */
  readonly signal?: AbortSignal | undefined
  /** Default: git uses the credentials of the server's account. */
  readonly keys?: GitKeys | undefined
  /** CA certificates in PEM, for https servers with a certificate of a private CA. */
  readonly authorities?: string | undefined
  /** Authenticates over https. Default: the credentials of the address. */
  readonly githubApp?: GithubApp | undefined
  /** Restricts the hosts of the repository. Default: any host, since the operator of the server chose it. */
  readonly outbound?: Outbound | undefined
}

const COMMIT_HASH = /^([\da-f]{40}|[\da-f]{64})$/
/** The ref that holds the last fetched commit, so that the server sends only new objects. */
const FETCHED = 'refs/source'
/** The number of commits that are fetched to find the authors of changes. */
const AUTHORS_DEPTH = 100
/** The folder of the repository in that of the clone. */
const REPOSITORY = 'repository'
const FETCH_OPTIONS = ['--quiet', '--no-tags', '--force', '--no-recurse-submodules', '--no-write-fetch-head']

/** Creates an empty clone of the repository, without connecting to its server. Throws SourceError where git is not installed. */
export async function openGitSource(address: GitAddress, options: GitSourceOptions): Promise<ClonedGitSource> {
  const clone = await createCloneFolder()
  try {
    const { signal, timeout, keys, authorities } = options
    const keyFiles = keys && (await writeKeyFiles(clone.folder, keys))
    const signersFile = keyFiles?.signers ?? options.signersFile
    const authoritiesFile = await writeAuthorities(clone.folder, authorities)
    const git = createGit(join(clone.folder, REPOSITORY), address, { signal, timeout, keyFiles, authoritiesFile })
    const source = new ClonedGitSource(clone, { ...options, address, git, signersFile })
    await git(['init', '--quiet', '--bare', '--template='], source.toError)
    await writeAttributes(join(clone.folder, REPOSITORY))
    return source
  } catch (error) {
    await clone.remove()
    throw error
  }
}

/** Turns off conversions: attributes that a commit adds would apply to files that git leaves as they are. Files are read as they were committed. */
async function writeAttributes(repository: string): Promise<void> {
  await mkdir(join(repository, 'info'))
  await writeFile(join(repository, 'info', 'attributes'), '* -text -eol -ident -working-tree-encoding\n')
}

interface ClonedSourceOptions extends GitSourceOptions {
  readonly address: GitAddress
  readonly git: RunGit
}

/** A git source with a clone of its repository, which keeps the last commit and its files, so that fetches, checkouts and parsing are incremental. */
export class ClonedGitSource {
  /** The address, without credentials. */
  readonly address: string
  readonly #clone: CloneFolder
  readonly #options: ClonedSourceOptions
  readonly #git: RunGit
  /** Runs git commands that connect to the repository's server. */
  readonly #remoteGit: RunGit
  readonly #readFile = createCachingFileReader()
  // Two fetches at a time would lock each other out of the repository, and two checkouts would mix their files.
  readonly #oneAtATime = limitConcurrency(1)
  #attemptedRevision: string | undefined
  /** The commit that was fetched and not read yet. */
  #unreadRevision: string | undefined
  /** The ref's full name on the server. Known, it saves a connection, and those of ssh are slow. */
  #refName: string | undefined

  constructor(clone: CloneFolder, options: ClonedSourceOptions) {
    this.#clone = clone
    this.#options = options
    this.#git = options.git
    this.#remoteGit = createRemoteGit(options.git, options.address, options)
    this.address = renderGitAddress(options.address)
  }

  /** The commit that was read last, whether it was valid or not. */
  get attemptedRevision(): string | undefined {
    return this.#attemptedRevision
  }

  /** Fetches the current commit of the ref and returns its hash. Throws RemoteError. */
  fetchRevision(): Promise<string> {
    return this.#oneAtATime(() => this.#fetchRef())
  }

  /**
   * Reads the last fetched commit; fetches it first if it was read already. Throws RemoteError where the fetch fails,
   * DocumentError where documents are invalid, SourceError where the commit is not signed or contains no documents.
   */
  async read(): Promise<SourceContent & SerializedSource> {
    const commit = this.#unreadRevision ?? (await this.fetchRevision())
    this.#attemptedRevision = commit
    this.#unreadRevision = undefined
    const { signersFile } = this.#options
    if (signersFile) await this.#verifySignature(commit, signersFile)
    return this.#oneAtATime(() => this.#readCommit(commit))
  }

  /** Removes the clone. */
  close(): Promise<void> {
    return this.#clone.remove()
  }

  /** Returns an error about this source. */
  readonly toError = (reason: string) => new SourceError(`${this.address}: ${reason}`)

  #toRemoteError(problem: string): (reason: string) => RemoteError {
    return (reason) => new RemoteError(`${this.#options.address.url}: ${problem}: ${reason}`)
  }

  async #fetchRef(): Promise<string> {
    const { url, ref } = this.#options.address
    const isCommit = ref !== undefined && COMMIT_HASH.test(ref)
    if (isCommit && ref === this.#attemptedRevision) return ref
    const name = isCommit ? ref : (this.#refName ?? (await this.#findRefName()))
    const depth = this.#options.readsAuthors ? AUTHORS_DEPTH : 1
    const fetch = ['fetch', ...FETCH_OPTIONS, `--depth=${depth}`, '--', url, `${name}:${FETCHED}`]
    try {
      await this.#remoteGit(fetch, this.#toRemoteError('git cannot fetch the commit'))
    } catch (error) {
      if (!this.#refName || !(error instanceof RemoteError && error.message.includes("couldn't find remote ref")))
        throw error
      this.#refName = undefined
      return this.#fetchRef()
    }
    // Another name is looked up again each time, since a branch that takes precedence may be created.
    if (name === refNamesOf(ref)[0]) this.#refName = name
    const commit = await this.#findFetchedCommit(name)
    this.#unreadRevision = commit === this.#attemptedRevision ? undefined : commit
    return commit
  }

  /** Returns the fetched commit. `name`: the ref's name on the server. */
  async #findFetchedCommit(name: string): Promise<string> {
    // Git takes several milliseconds to read its file. A tag may have an object of its own, which refers to the commit.
    if (name === 'HEAD' || name.startsWith('refs/heads/')) {
      const text = await readFile(join(this.#clone.folder, REPOSITORY, FETCHED), 'utf8').catch(() => '')
      if (COMMIT_HASH.test(text.trimEnd())) return text.trimEnd()
    }
    return (await this.#git(['rev-parse', '--verify', '--quiet', `${FETCHED}^{commit}`], this.toError)).trim()
  }

  /** Returns the full name of the ref on the server. A branch takes precedence over a tag of the same name. */
  async #findRefName(): Promise<string> {
    const { url, ref } = this.#options.address
    const names = refNamesOf(ref)
    const list = ['ls-remote', '--quiet', '--', url, ...names]
    const output = await this.#remoteGit(list, this.#toRemoteError('git cannot list the branches and tags'))
    const existing = new Set(output.split('\n').map((line) => line.split('\t')[1]))
    const name = names.find((candidate) => existing.has(candidate))
    if (name) return name
    throw new RemoteError(
      ref
        ? `${url}: there is no branch or tag ${ref}. Commits must be given by their full hash.`
        : `${url}: the repository has no commits. Push one.`,
    )
  }

  /** Throws SourceError unless an allowed signer has signed the commit with an SSH key. Other kinds of signatures are rejected. */
  async #verifySignature(commit: string, signersFile: string): Promise<void> {
    const config = toConfigOptions({
      'gpg.ssh.allowedSignersFile': resolve(signersFile),
      'gpg.minTrustLevel': 'fully',
      'gpg.program': 'false',
      'gpg.openpgp.program': 'false',
      'gpg.x509.program': 'false',
    })
    const signer = this.#options.keys?.signers ? 'an allowed signer of the source' : `a signer listed in ${signersFile}`
    await this.#git([...config, 'verify-commit', commit], (reason) =>
      this.toError(`commit ${commit} is not signed by ${signer} (${reason})`),
    )
  }

  /** Lists a commit and those before it, as far as they were fetched. */
  async #listCommits(commit: string): Promise<Commit[]> {
    const format = '--format=%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce'
    const output = await this.#git(['log', '--topo-order', format, commit], this.toError)
    return output.split('\n').flatMap((line) => {
      const [hash = '', parents = '', ...names] = line.split('\0')
      const authors = [names.slice(0, 2), names.slice(2)]
      return hash ? [{ hash, parents: parents.split(' ').filter(Boolean), authors }] : []
    })
  }

  /** Checks out a commit, and returns the folder with its files. Only files that differ from those of the last commit are written. */
  async #checkOut(commit: string): Promise<string> {
    const folder = await realpath(this.#clone.folder)
    const [root, index] = [join(folder, 'files'), join(folder, 'index')]
    await mkdir(root, { recursive: true })
    const checkout = [`--work-tree=${root}`, 'checkout', '--quiet', '--force', '--detach', commit]
    try {
      await this.#git(checkout, this.toError, { env: { GIT_INDEX_FILE: index } })
    } catch (error) {
      // A checkout that was interrupted leaves some of its files, and a lock.
      for (const path of [root, index, `${index}.lock`]) await rm(path, { recursive: true, force: true })
      throw error
    }
    return root
  }

  async #readCommit(commit: string): Promise<SourceContent & SerializedSource> {
    const { address, unknownFields, env, isAllowed, findAgeKeys, replacesPlaceholders } = this.#options
    const root = await this.#checkOut(commit)
    const path = join(root, address.path ?? '')
    if (!(await stat(path).catch(() => undefined)))
      throw this.toError(
        `there is no file or folder ${address.path} in commit ${commit}. Correct the path of the source, or push the file.`,
      )
    const repository = { root, getUrl: async () => address.url }
    const location = await locateSource(path, this.#options, repository)
    const reading = {
      readFile: this.#readFile,
      displayName: this.address,
      unknownFields,
      env,
      isAllowed,
      findAgeKeys,
      replacesPlaceholders,
    }
    const source = await readFileSource(location.path, {
      ...reading,
      name: requireSourceName(this.address, location, this.#options),
      root: location.root,
      scope: location.scope,
      origin: location.origin,
      environment: location.environment,
      revision: commit,
    })
    const commits = this.#options.readsAuthors ? await this.#listCommits(commit) : undefined
    return { ...source, commits, server: location.server }
  }
}

/** Returns the names that the ref may have on a server, the first one with precedence. */
function refNamesOf(ref: string | undefined): string[] {
  if (!ref) return ['HEAD']
  return ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
}

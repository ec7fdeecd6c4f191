// A branch, tag or commit of a git repository as a source of documents.
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { limited } from '../../lib/http/limited.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import { type Brought, writeBrought } from './brought.ts'
import { type Clone, makeClone } from './clones.ts'
import { type FileSourceOptions, parsing, readFileSource, SourceError } from './file.ts'
import { type GitAddress, nameOf, shownAddress } from './git-address.ts'
import { type Git, gitIn, RemoteError } from './git-command.ts'
import { pinnedTo } from './git-connection.ts'
import type { SourceState, SourceText } from './source-state.ts'

/** How a git source is read. */
export interface GitSourceOptions extends Pick<FileSourceOptions, 'name' | 'unknownFields' | 'env' | 'allowed'> {
  /** File with the keys of those who may sign commits, in the form of `gpg.ssh.allowedSignersFile`; absent: unsigned ones count too. */
  readonly signers?: string | undefined
  /** Seconds that one command of git may take. */
  readonly timeout?: number | undefined
  /** Ends what runs. */
  readonly signal?: AbortSignal | undefined
  /** Absent: git may log in with all that whoever runs the server has set up. */
  readonly brings?: Brought | undefined
  /** Where the repository may be. Absent: anywhere, since whoever runs the server has named it. */
  readonly outbound?: Outbound | undefined
}

/** A source with a repository of its own, which holds what was fetched last. */
export interface GitSource {
  /** The address, without credentials. */
  readonly called: string
  /** The commit that was fetched last, good or not. */
  readonly attempted: string | undefined
  /** Fetches the commit that the server has now, and names it. Throws RemoteError. */
  readonly fetch: () => Promise<string>
  /**
   * What is stated in the commit that was fetched and not read yet, or else in the one that the server has now. Throws
   * RemoteError, DocumentError, or SourceError for what is not signed, or states nothing.
   */
  read(): Promise<SourceState & SourceText>
  /** Removes the repository. */
  close(): Promise<void>
}

/** Where what was fetched last is kept: the server sends only what is new since. */
const FETCHED = 'refs/source'

/** Opens a source: nobody is asked yet. Throws SourceError where there is no git. */
export async function openGitSource(address: GitAddress, options: GitSourceOptions): Promise<GitSource> {
  const clone = await makeClone()
  try {
    return await openIn(clone, address, options)
  } catch (error) {
    await clone.remove()
    throw error
  }
}

async function openIn({ folder, remove }: Clone, address: GitAddress, options: GitSourceOptions): Promise<GitSource> {
  const { url, ref, path } = address
  const { signal, timeout, brings, outbound } = options
  const apart = brings && (await writeBrought(folder, brings))
  const signers = apart?.signers ?? options.signers
  const git = gitIn(join(folder, 'repository'), address, { signal, timeout, apart })
  const called = shownAddress(address)
  const remote = (what: string) => (reason: string) => new RemoteError(`${url}: ${what}: ${reason}`)
  /** Runs git where it connects to the server of the repository: to the address that was checked, and to no other. */
  const connecting: Git = async (args, refused) => {
    if (!outbound) return git(args, refused)
    const pinned = await pinnedTo(address, outbound).catch((error: Error) => {
      throw refused(error.message)
    })
    return git([...pinned.settings, ...args], refused, pinned.env)
  }
  const failed = (reason: string) => new SourceError(`${called}: ${reason}`)
  const parse = parsing()
  // Two at a time would lock each other out of the repository.
  const turn = limited(1)
  let attempted: string | undefined
  // It was fetched, and not read since.
  let fetched: string | undefined
  // What the server calls it: to ask and then to fetch takes two connections, and those of ssh are slow.
  let known: string | undefined

  const names = !ref ? ['HEAD'] : ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
  const isCommit = ref !== undefined && /^([\da-f]{40}|[\da-f]{64})$/.test(ref)

  /** A branch goes before a tag of the same name. */
  const find = async () => {
    const listed = await connecting(['ls-remote', '--quiet', '--', url, ...names], remote('git cannot ask its server'))
    const there = new Set(listed.split('\n').map((line) => line.split('\t')[1]))
    const name = names.find((one) => there.has(one))
    if (name) return name
    const missing = ref ? `there is no branch or tag ${ref} (a commit is named in full)` : 'it holds no commit'
    throw new RemoteError(`${url}: ${missing}`)
  }

  const fetchCommit = async (): Promise<string> => {
    if (isCommit && ref === attempted) return ref
    const name = isCommit ? ref : (known ?? (await find()))
    const how = ['--quiet', '--depth=1', '--no-tags', '--force', '--no-recurse-submodules', '--no-write-fetch-head']
    try {
      await connecting(['fetch', ...how, '--', url, `${name}:${FETCHED}`], remote('git cannot fetch'))
    } catch (error) {
      if (!known || !/couldn't find remote ref/.test((error as Error).message)) throw error
      known = undefined
      return fetchCommit()
    }
    // What comes first may come into being beside another one.
    if (name === names[0]) known = name
    const commit = (await git(['rev-parse', '--verify', '--quiet', `${FETCHED}^{commit}`], failed)).trim()
    fetched = commit === attempted ? undefined : commit
    return commit
  }

  /** Signatures of other kinds than SSH are not looked up in whatever keyring there is. */
  const verify = async (commit: string, signers: string) => {
    const whose = apart?.signers ? 'any of its signers' : `anybody whom ${signers} names`
    const keys = { 'gpg.ssh.allowedSignersFile': resolve(signers), 'gpg.minTrustLevel': 'fully' }
    const others = { 'gpg.program': 'false', 'gpg.openpgp.program': 'false', 'gpg.x509.program': 'false' }
    const settings = Object.entries({ ...keys, ...others }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    await git([...settings, 'verify-commit', commit], (reason) =>
      failed(`the commit ${commit} is not signed by ${whose} (${reason})`),
    )
  }

  const readCommit = async (commit: string): Promise<SourceState & SourceText> => {
    const place = await mkdtemp(join(folder, 'commit-'))
    try {
      const root = join(place, 'files')
      await mkdir(root)
      const checkout = [`--work-tree=${root}`, 'checkout', '--quiet', '--force', '--detach', commit]
      await git(checkout, failed, { GIT_INDEX_FILE: join(place, 'index') })
      const at = join(root, path ?? '')
      if (!(await stat(at).catch(() => undefined)))
        throw failed(`there is no file or folder ${path} in the commit ${commit}`)
      const { name = nameOf(address), unknownFields, env, allowed } = options
      const state = await readFileSource(at, { name, unknownFields, env, allowed, parse, root, called })
      return { ...state, revision: commit }
    } finally {
      await rm(place, { recursive: true, force: true })
    }
  }

  await git(['init', '--quiet', '--bare', '--template='], failed)
  return {
    called,
    get attempted() {
      return attempted
    },
    fetch: () => turn(fetchCommit),
    async read() {
      attempted = fetched ?? (await turn(fetchCommit))
      fetched = undefined
      if (signers) await verify(attempted, signers)
      return readCommit(attempted)
    },
    close: remove,
  }
}

// The identity of a source: the name by which the store knows what it manages. It never depends on the working directory.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { isDocumentFile, SourceError } from './file-source.ts'
import { type GitAddress, normalizeUrl } from './git-address.ts'
import { type EnvironmentFiles, findEnvironmentFiles, findProject, PROJECT_FILE, type Project } from './project-file.ts'

/** The name that the user gave to a source, and its environment. */
export interface GivenIdentity {
  /** The name of a flag or of a resource, which is used as it is. */
  readonly name?: string | undefined
  /** An environment of the project file. */
  readonly environment?: string | undefined
  /** Whether the file or folder that is read is the whole source. By default, a file is a part of its folder. */
  readonly isComplete?: boolean
}

/** Everything that may give a source its name. */
export interface IdentityParts extends GivenIdentity {
  readonly projectName?: string | undefined
  /** URL of the git repository. */
  readonly repository?: string | undefined
  /** Folder in the repository. Absent or empty: all of it. */
  readonly folder?: string | undefined
}

/**
 * Returns the name of a source: the given one, else that of the project file, else host, path and folder of the git repository; with
 * the environment, if there is one. Returns undefined if nothing names it.
 */
export function identifySource(parts: IdentityParts): string | undefined {
  const { name, projectName, repository, folder, environment } = parts
  if (name !== undefined) return name
  const place = repository === undefined ? undefined : normalizeUrl(repository) + (folder ? `:${folder}` : '')
  const base = projectName ?? place
  return base !== undefined && environment !== undefined ? `${base}@${environment}` : base
}

/** The location of a source that consists of files. */
export interface SourceLocation {
  /** Undefined if nothing names the source. */
  readonly name: string | undefined
  /** Host, path and folder of the git repository; without a remote, the absolute path of the folder. */
  readonly origin: string
  /** The file or folder to read, as an absolute path. */
  readonly path: string
  /** The folder of the file, or the folder itself. */
  readonly folder: string
  /** The folder that names of files are relative to, so that they are the same wherever a command runs. */
  readonly root: string
  /** The files and folders that are read, relative to the root, if the source has more. */
  readonly scope: readonly string[] | undefined
  readonly project: Project | undefined
  /** The server that the project file names for the environment. */
  readonly server: string | undefined
  /** The variables and overlays of the environment; undefined without a project file. */
  readonly environment: EnvironmentFiles | undefined
  readonly isInRepository: boolean
}

/** A git repository with its files. */
interface Checkout {
  readonly root: string
  /** Returns the URL of the repository; undefined if it has none. */
  getUrl(): Promise<string | undefined>
}

/**
 * Finds the identity of the source at a path. `checkout`: the repository with these files; by default the one that contains them.
 * Throws SourceError or DocumentError.
 */
export async function locateSource(
  path: string,
  identity: GivenIdentity,
  checkout?: Checkout,
): Promise<SourceLocation> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats) throw new SourceError(`${path}: no such file or folder`)
  // A file may be a symbolic link to another name at each update, as in a mounted ConfigMap.
  const folder = await realpath(stats.isDirectory() ? path : dirname(resolve(path)))
  const file = stats.isDirectory() ? folder : join(folder, basename(resolve(path)))
  const repository = checkout ?? findCheckout(folder)
  const project = await findProject(folder, repository?.root)
  if (identity.environment !== undefined) requireEnvironment(project, identity.environment)
  const isNamed = identity.name !== undefined || project?.name !== undefined
  // A repository that git cannot read does not matter if something else names the source.
  const url = await repository?.getUrl().catch((error) => (isNamed ? undefined : Promise.reject(error)))
  const name = identifySource({
    ...identity,
    projectName: project?.name,
    ...(!isNamed && repository && { repository: url, folder: toRelative(repository.root, folder) }),
  })
  const root = repository?.root ?? project?.folder ?? (isNamed ? folder : process.cwd())
  const sourceFolder = project?.name !== undefined && identity.name === undefined ? project.folder : folder
  const isSubfolder = folder !== sourceFolder
  const origin =
    repository && url !== undefined
      ? identifySource({ repository: url, folder: toRelative(repository.root, sourceFolder) })!
      : sourceFolder
  const isPart = !identity.isComplete && (file !== folder || isSubfolder)
  const scope = isPart ? [toRelative(root, file)] : undefined
  const environment = project && (await findEnvironmentFiles(project, identity.environment))
  const server = getServer(project, identity.environment)
  const isInRepository = repository !== undefined
  return { name, origin, path: file, folder, root, scope, project, server, environment, isInRepository }
}

/** Throws SourceError unless the environment is one of the project. */
function requireEnvironment(project: Project | undefined, environment: string): void {
  const names = Object.keys(project?.environments ?? {})
  if (names.includes(environment)) return
  const existing = names.length ? ` It has ${names.join(', ')}.` : ''
  throw new SourceError(`No ${PROJECT_FILE} has the environment ${environment}.${existing}`)
}

/** Returns the name of the source that is read at a path. Throws SourceError if it has none, or if its environment is open. */
export function requireSourceName(
  path: string,
  { name, folder, project, isInRepository }: SourceLocation,
  identity: GivenIdentity,
): string {
  if (identity.name === undefined) requireChosenEnvironment(project, identity)
  if (name !== undefined) return name
  const remote = isInRepository ? 'add a remote to the git repository, ' : ''
  throw new SourceError(
    `The source ${path} has no name, by which Regent knows what it manages. Write "name: NAME" into ${join(folder, PROJECT_FILE)}, ${remote}or pass --name NAME.`,
  )
}

/** Throws SourceError if a project has environments, and none is chosen. */
export function requireChosenEnvironment(project: Project | undefined, { environment }: GivenIdentity): void {
  const environments = Object.keys(project?.environments ?? {})
  if (environments.length && environment === undefined)
    throw new SourceError(
      `${PROJECT_FILE} has the environments ${environments.join(', ')}. Choose one with --environment.`,
    )
}

/** Throws SourceError if a followed source has another name than the server follows, since a project file names it. */
export function requireSameName(followed: string, name: string | undefined): void {
  if (name === followed) return
  throw new SourceError(
    `${PROJECT_FILE} names this source ${name}, and the server follows it as ${followed}. Restart the server, or name it ${name} in the file of --sources.`,
  )
}

/** Returns the name of a git source before it is read. A file is a part of its folder. */
export function identifyGitSource({ url, path }: GitAddress, identity: GivenIdentity): string {
  const folder = path !== undefined && isDocumentFile(path) ? dirname(path).replace(/^\.$/, '') : path
  return identifySource({ ...identity, repository: url, folder })!
}

/** Returns the server that the project of a folder names, for the environment if one is given. Throws SourceError or DocumentError. */
export async function findProjectServer(folder: string, environment: string | undefined): Promise<string | undefined> {
  const project = await findProject(folder, findCheckout(folder)?.root)
  if (environment !== undefined) requireEnvironment(project, environment)
  return getServer(project, environment)
}

function getServer(project: Project | undefined, environment: string | undefined): string | undefined {
  return project?.environments?.[environment ?? '']?.server ?? project?.server
}

/** Returns the git repository that contains the folder; undefined if there is none. */
function findCheckout(folder: string): Checkout | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return { root: at, getUrl: () => findRemote(at) }
    if (at === dirname(at)) return undefined
  }
}

/** Returns the URL of the remote `origin`, or of the only remote. Throws SourceError if git cannot read the repository. */
async function findRemote(checkout: string): Promise<string | undefined> {
  // In a git hook, such variables point to another repository.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_(?!CONFIG)/.test(name)))
  const listing = promisify(execFile)('git', ['-C', checkout, 'remote', '--verbose'], { env: { ...env, LC_ALL: 'C' } })
  const { stdout } = await listing.catch((error: NodeJS.ErrnoException & { stderr?: string }) => {
    if (error.code === 'ENOENT') return { stdout: '' }
    const reason = error.stderr?.split('\n')[0]?.replace(/^fatal: /, '')
    throw new SourceError(
      `git cannot read the repository ${checkout} (${reason}). Correct that, or name the source with --name.`,
    )
  })
  const urls = new Map(
    [...stdout.matchAll(/^(\S+)\t(\S+) \(fetch\)/gm)].map(([, remote, url]): [string, string] => [remote!, url!]),
  )
  const url = urls.get('origin') ?? (urls.size === 1 ? [...urls.values()][0] : undefined)
  return url?.startsWith('.') ? resolve(checkout, url) : url
}

function toRelative(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}

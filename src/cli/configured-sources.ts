// The sources in the server's settings: from --source, or from the file of --sources.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { ServerSettings } from '../config.ts'
import type { SourceSettings } from '../kinds/source-settings.ts'
import { UNRESTRICTED } from '../lib/http/outbound.ts'
import { parseDuration } from '../realm-file/resources/duration.ts'
import { DocumentError } from '../realm-file/yaml/problem.ts'
import { type CommitStatusTarget, createCommitStatusTarget } from '../reconcile/following/commit-status-hosts.ts'
import type { AgeKeyOrigins } from '../reconcile/read/age-key-files.ts'
import { SourceError } from '../reconcile/read/file-source.ts'
import { type GitAddress, parseGitAddress, toGitAddress } from '../reconcile/read/git-address.ts'
import type { GitSourceOptions } from '../reconcile/read/git-source.ts'
import { GithubApp } from '../reconcile/read/github-app.ts'
import {
  type GivenIdentity,
  identifyGitSource,
  locateSource,
  requireSourceName,
} from '../reconcile/read/source-identity.ts'
import type { RealmSourceSpec } from '../reconcile/read/source-resource.ts'
import { readSourcesFile, type SourceDefinition } from '../reconcile/read/sources-file.ts'
import { type SourcePermissions, toSourcePermissions } from '../service/context/source-permissions.ts'

/** Keys, certificates and credentials of a git source. */
type GitAccess = Pick<GitSourceOptions, 'keys' | 'authorities' | 'githubApp'>

/** A source of the server, with the defaults that the settings give to every source. */
export interface ConfiguredSource {
  readonly name: string
  /** The identity that the settings give, from which the name follows. */
  readonly identity: GivenIdentity
  /** A place in a git repository, or a path on this machine. */
  readonly at: GitAddress | { readonly file: string }
  readonly settings: SourceSettings | undefined
  readonly sourcePermissions: SourcePermissions | undefined
  readonly unknownFields: ServerSettings['unknownFields']
  /** The variables and files that documents may use, such as `env:ACME_*`. Absent: all. */
  readonly variables: readonly string[] | undefined
  /** The keys of its encrypted documents. Absent: none. */
  readonly ageKeys?: AgeKeyOrigins
  readonly signers: string | undefined
  /** Its own keys, CA certificates and GitHub App. Default: those of the server's account. */
  readonly access?: GitAccess
  readonly commitStatus?: CommitStatusTarget | undefined
  /** Whether the authors of commits are read. */
  readonly readsAuthors: boolean
  /** In seconds: between polls, between attempts after a failure, and at most for a git command. */
  readonly interval: number
  readonly retryInterval: number
  readonly timeout: number | undefined
  readonly suspend: boolean
  readonly dependsOn: readonly string[]
}

/**
 * Returns the sources of the settings. In development mode the default is the folder `examples`, if it exists.
 *
 * @throws SourceError or DocumentError if a source is configured incorrectly.
 */
export async function readConfiguredSources(settings: ServerSettings): Promise<ConfiguredSource[]> {
  const { source, sources: file, production, environment } = settings
  const example = !production && !file && existsSync('examples') ? ['examples'] : []
  const simple: ConfiguredSource[] = []
  for (const text of source ?? example) {
    const identity = { environment }
    const address = parseGitAddress(text)
    const name = address
      ? identifyGitSource(address, identity)
      : requireSourceName(text, await locateSource(text, identity), identity)
    simple.push(configureSource({ name, identity, at: address ?? { file: text } }, {}, settings))
  }
  const definitions = file ? await readSourcesFile(file) : []
  const all = [
    ...simple,
    ...(await Promise.all(definitions.map((definition) => toConfiguredSource(definition, file!, settings)))),
  ]
  const duplicate = all.find(({ name }, at) => all.findIndex((source) => source.name === name) !== at)
  if (duplicate) {
    const isInFile = definitions.some(({ name }) => name === duplicate.name)
    const advice = isInFile
      ? 'Keep it in --source or in the file of --sources.'
      : 'Pass one --source with all of its files. To follow two branches of a repository, name each in the file of --sources.'
    throw new SourceError(`The source ${duplicate.name} is configured twice. ${advice}`)
  }
  return all
}

async function toConfiguredSource(
  { name, spec, position }: SourceDefinition,
  file: string,
  settings: ServerSettings,
): Promise<ConfiguredSource> {
  const near = (path: string) => resolve(dirname(file), path)
  try {
    const { url, environment } = spec
    const identity = { name, environment, isComplete: true }
    const place =
      url === undefined ? { at: { file: near(spec.path!) } } : await readRepository(name, { ...spec, url }, near)
    return configureSource(
      { name, identity, ...place },
      {
        ...spec,
        ...(spec.signersFile && { signersFile: near(spec.signersFile) }),
        ...(spec.decryption && { decryption: { ...spec.decryption, keyFile: near(spec.decryption.keyFile) } }),
      },
      settings,
    )
  } catch (error) {
    if (error instanceof SourceError) throw new DocumentError([{ position, message: error.message }])
    throw error
  }
}

type PlaceOfSource = Pick<ConfiguredSource, 'at'> & Partial<Pick<ConfiguredSource, 'access' | 'commitStatus'>>

/** Reads the files of the credentials of a repository, and of its status of commits. `near`: resolves their paths. */
async function readRepository(
  name: string,
  spec: RealmSourceSpec & { readonly url: string },
  near: (path: string) => string,
): Promise<PlaceOfSource> {
  const { credentials = {}, caFile, commitStatus } = spec
  const { username, passwordFile, identityFile, knownHostsFile, githubApp } = credentials
  const address = toGitAddress(spec)
  const isSsh = address.protocol === 'ssh'
  if (isSsh && (passwordFile || githubApp))
    throw new SourceError(
      `${address.url} takes no password, since ssh uses a key. Remove credentials.${passwordFile ? 'passwordFile' : 'githubApp'}.`,
    )
  if (!isSsh && identityFile) throw new SourceError(`${address.url} takes no key. Remove credentials.identityFile.`)
  const read = (label: string, file: string) => readSettingsFile(label, file, near)
  const authorities = caFile && (await read('file of CA certificates', caFile))
  const target = { repository: address.url, outbound: UNRESTRICTED, authorities }
  const app =
    githubApp &&
    new GithubApp({ ...githubApp, privateKey: await read('private key', githubApp.privateKeyFile) }, target)
  const password = passwordFile && (await read('password file', passwordFile))
  return {
    at: { ...address, ...(password && { credentials: { user: username ?? 'git', password } }) },
    access: {
      authorities,
      githubApp: app,
      keys:
        identityFile && knownHostsFile
          ? {
              ssh: {
                identity: await read('key', identityFile),
                knownHosts: await read('file of known hosts', knownHostsFile),
              },
            }
          : undefined,
    },
    commitStatus:
      commitStatus &&
      createCommitStatusTarget(name, commitStatus, {
        ...target,
        githubApp: app,
        token: commitStatus.tokenFile && (await read('token file', commitStatus.tokenFile)),
      }),
  }
}

async function readSettingsFile(label: string, file: string, near: (path: string) => string): Promise<string> {
  const text = await readFile(near(file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SourceError(`The ${label} ${file} cannot be read (${error.code}).`)
  })
  return text.trim()
}

/** Returns the name of a source that a setting names: by that name, or by the URL of its repository. */
function toSourceName(source: string, { environment }: ServerSettings): string {
  const address = parseGitAddress(source)
  return address ? identifyGitSource(address, { environment }) : source
}

/** Returns the permissions of sources in the settings, by the names of the sources. */
export function readPermissions(settings: ServerSettings): ReadonlyMap<string, SourcePermissions> {
  const { sourcePermissions = [] } = settings
  return new Map(
    sourcePermissions.map(({ source, ...permissions }) => [
      toSourceName(source, settings),
      toSourcePermissions(permissions),
    ]),
  )
}

function configureSource(
  { name, identity, at, access = {}, commitStatus }: Pick<ConfiguredSource, 'name' | 'identity'> & PlaceOfSource,
  spec: Partial<RealmSourceSpec>,
  settings: ServerSettings,
): ConfiguredSource {
  const { production, sourceVariables, sourceInterval } = settings
  const permissionsBySource = readPermissions(settings)
  // Users who may push to a repository need not be trusted with the server's variables.
  const defaultVariables = 'file' in at && !production ? undefined : []
  const { prune, drift, ownership, guards, interval, retryInterval, timeout } = spec
  const sourceSettings = Object.entries({ prune, drift, ownership, guards }).filter(([, value]) => value !== undefined)
  const seconds = interval ? parseDuration(interval) : sourceInterval
  return {
    name,
    identity,
    at,
    settings: sourceSettings.length ? Object.fromEntries(sourceSettings) : undefined,
    sourcePermissions:
      (spec.permissions && toSourcePermissions(spec.permissions)) ??
      permissionsBySource.get(name) ??
      permissionsBySource.get('*'),
    unknownFields: spec.unknownFields ?? settings.unknownFields,
    variables: spec.variables ?? sourceVariables ?? defaultVariables,
    // A source with a key of its own must not decrypt the documents of others.
    ageKeys: spec.decryption ? { file: spec.decryption.keyFile } : { file: settings.ageKeyFile, env: process.env },
    signers: spec.signersFile ?? settings.sourceSigners,
    access,
    commitStatus,
    readsAuthors: settings.requireSecondApprover,
    interval: seconds,
    retryInterval: retryInterval ? parseDuration(retryInterval) : seconds,
    timeout: timeout ? parseDuration(timeout) : undefined,
    suspend: spec.suspend === true,
    dependsOn: spec.dependsOn ?? [],
  }
}

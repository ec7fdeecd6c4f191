// The sources that the server's settings name: one by one, or in a file of sources.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Settings } from '../config.ts'
import { secondsOf } from '../realm-file/resources/duration.ts'
import { DocumentError } from '../realm-file/yaml/problem.ts'
import { SourceError, shownFrom } from '../reconcile/read/file.ts'
import { type GitAddress, gitAddress, nameOf, placeOf } from '../reconcile/read/git-address.ts'
import type { RealmSourceSpec } from '../reconcile/read/source-resource.ts'
import { type NamedSource, readSourcesFile } from '../reconcile/read/sources-file.ts'
import type { Ceiling } from '../service/context/power.ts'
import type { SourceSettings } from '../service/journal/source-settings.ts'

/** A source of the server, as it is named, with what is settled for all where nothing is settled for it. */
export interface Named {
  readonly name: string
  /** Where it is: in a repository, or on this machine. */
  readonly at: GitAddress | { readonly file: string }
  readonly settings: SourceSettings | undefined
  readonly ceiling: Ceiling | undefined
  readonly unknownFields: Settings['unknownFields']
  /** What documents may take values from; absent: everything. */
  readonly variables: readonly string[] | undefined
  readonly signers: string | undefined
  /** Seconds: how often it is asked, after how long it is tried again, and how long git may take. */
  readonly interval: number
  readonly retryInterval: number
  readonly timeout: number | undefined
  readonly suspend: boolean
  readonly dependsOn: readonly string[]
}

/**
 * What the settings name; in development mode, the examples of the folder where they name nothing. Throws SourceError or
 * DocumentError where something is named wrongly.
 */
export async function namedSources(settings: Settings): Promise<Named[]> {
  const { source, sources: file, production } = settings
  const example = !production && !file && existsSync('examples') ? ['examples'] : []
  const simple = (source ?? example).map((text): Named => {
    const address = gitAddress(text)
    const name = address ? nameOf(address) : shownFrom(undefined, text)
    return named({ name, at: address ?? { file: text } }, {}, settings)
  })
  const stated = file ? await readSourcesFile(file) : []
  const all = [...simple, ...(await Promise.all(stated.map((one) => ofResource(one, file!, settings))))]
  const twin = all.find(({ name }, at) => all.findIndex((one) => one.name === name) !== at)
  if (twin)
    throw new SourceError(`the source ${twin.name} is named twice: keep it in --source, or in the file of sources`)
  return all
}

async function ofResource({ name, spec, position }: NamedSource, file: string, settings: Settings): Promise<Named> {
  const near = (path: string) => resolve(dirname(file), path)
  try {
    const at = spec.url === undefined ? { file: near(spec.path!) } : await addressOf(spec, near)
    return named({ name, at }, { ...spec, ...(spec.signersFile && { signersFile: near(spec.signersFile) }) }, settings)
  } catch (error) {
    if (error instanceof SourceError) throw new DocumentError([{ position, message: error.message }])
    throw error
  }
}

async function addressOf(spec: RealmSourceSpec, near: (path: string) => string): Promise<GitAddress> {
  const { credentials } = spec
  const address = placeOf({ ...spec, url: spec.url! })
  if (!credentials?.passwordFile) return address
  if (address.protocol === 'ssh') throw new SourceError(`${address.url} takes no password: ssh takes a key`)
  const password = await readFile(near(credentials.passwordFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SourceError(`the file ${credentials.passwordFile} with a password cannot be read (${error.code})`)
  })
  return { ...address, credentials: { user: credentials.username ?? 'git', password: password.trim() } }
}

function named({ name, at }: Pick<Named, 'name' | 'at'>, spec: Partial<RealmSourceSpec>, settings: Settings): Named {
  const { production, sourceVariables, sourceLimits = [], sourceInterval } = settings
  const limits = new Map<string, Ceiling>(sourceLimits.map(({ source, ...ceiling }) => [source, ceiling]))
  // Whoever may push to a repository is not whoever runs the server.
  const free = 'file' in at && !production ? undefined : []
  const { prune, drift, ownership, guards, interval, retryInterval, timeout } = spec
  const own = Object.entries({ prune, drift, ownership, guards }).filter(([, value]) => value !== undefined)
  const every = interval ? secondsOf(interval) : sourceInterval
  return {
    name,
    at,
    settings: own.length ? Object.fromEntries(own) : undefined,
    ceiling: spec.limits ?? limits.get(name) ?? limits.get('*'),
    unknownFields: spec.unknownFields ?? settings.unknownFields,
    variables: spec.variables ?? sourceVariables ?? free,
    signers: spec.signersFile ?? settings.sourceSigners,
    interval: every,
    retryInterval: retryInterval ? secondsOf(retryInterval) : every,
    timeout: timeout ? secondsOf(timeout) : undefined,
    suspend: spec.suspend === true,
    dependsOn: spec.dependsOn ?? [],
  }
}

// The sources of the server: files and folders, which are watched, and git repositories, which are polled.

import type { FollowedSource } from '../reconcile/following/followed-source.ts'
import { followRepository } from '../reconcile/following/repository.ts'
import type { SourceController } from '../reconcile/following/source-controller.ts'
import { createAgeKeyFinder } from '../reconcile/read/age-key-files.ts'
import { readFileSource } from '../reconcile/read/file-source.ts'
import { watchFiles } from '../reconcile/read/file-watcher.ts'
import { type GitAddress, isSameRepository } from '../reconcile/read/git-address.ts'
import { openGitSource } from '../reconcile/read/git-source.ts'
import { createCachingFileReader } from '../reconcile/read/read-files.ts'
import type { SourceContent } from '../reconcile/read/source-content.ts'
import { locateSource, requireSameName } from '../reconcile/read/source-identity.ts'
import { ALL_VARIABLES, createVariableFilter } from '../reconcile/read/variable-filter.ts'
import type { ConfiguredSource } from './configured-sources.ts'
import { renderError } from './render-error.ts'

/** A source of the server. */
export interface WatchedSource extends FollowedSource {
  /** Starts notifying the controller of changes. Returns a line for the terminal. */
  watch(controller: SourceController): Promise<string>
  /** Reads the source now if one of these URLs, or no URL at all, may be its repository. Returns whether it does. */
  pushed(urls: readonly string[]): boolean
  /** Whether this process watches it. */
  readonly isWatched: boolean
  /** Ends the watch. */
  unwatch(): Promise<void>
  /** Ends the watch and deletes temporary files. */
  close(): Promise<void>
}

/** Opens a source without reading it. */
export async function openSource(
  source: ConfiguredSource,
  hooks: boolean,
  signal: AbortSignal,
): Promise<WatchedSource> {
  const { at } = source
  return 'file' in at ? openFiles(at.file, source) : openGitRepository(at, source, { hooks, signal })
}

function openFiles(path: string, source: ConfiguredSource): WatchedSource {
  const options = { ...toReadOptions(source), readFile: createCachingFileReader() }
  let stop: (() => Promise<void>) | undefined
  return {
    ...toFollowOptions(source),
    displayName: path,
    attemptedRevision: undefined,
    get isWatched() {
      return stop !== undefined
    },
    async read() {
      const location = await locateSource(path, source.identity)
      requireSameName(source.name, location.name)
      const { root, scope, origin, environment } = location
      const place = { root, scope, origin, environment, displayName: path }
      const content = await readFileSource(location.path, { ...options, ...place })
      return withServerSettings(content, source)
    },
    async watch(controller) {
      const failed = (error: unknown) =>
        console.error(`${path} cannot be watched: ${renderError(error)}\nChanges in it may go unnoticed.\n`)
      stop = await watchFiles(path, { onChange: () => controller.reconcile(this), onError: failed })
      return `Watching ${path}. Changes there are applied.`
    },
    pushed: () => false,
    async unwatch() {
      await stop?.()
      stop = undefined
    },
    close: async () => {},
  }
}

async function openGitRepository(
  address: GitAddress,
  source: ConfiguredSource,
  { hooks, signal }: { hooks: boolean; signal: AbortSignal },
): Promise<WatchedSource> {
  const { signers, readsAuthors, timeout, interval } = source
  const { name: _, ...readOptions } = toReadOptions(source)
  const gitSource = await openGitSource(address, {
    ...readOptions,
    ...source.identity,
    ...source.access,
    ...{ signersFile: signers, readsAuthors, timeout, signal },
  })
  const repository = followRepository(gitSource, {
    ...toFollowOptions(source),
    ...{ commitStatus: source.commitStatus, interval },
    configure: (content) => withServerSettings(content, source),
  })
  const timings = [...(hooks ? ['at once by a webhook'] : []), ...(interval ? [`within ${interval} s`] : [])]
  return Object.assign(repository, {
    watch: async (controller: SourceController) => {
      repository.startPolling(controller)
      return `Watching ${repository.displayName}. Pushed commits are applied ${timings.join(', or ') || 'at the next start'}.`
    },
    pushed(urls: readonly string[]) {
      const isOwn = !urls.length || urls.some((url) => isSameRepository(url, address.url))
      if (isOwn) repository.pollNow()
      return isOwn
    },
  })
}

const toFollowOptions = ({ name, dependsOn, suspend, retryInterval }: ConfiguredSource) => ({
  name,
  dependsOn,
  suspend,
  retryInterval,
})

function toReadOptions({ name, unknownFields, variables, ageKeys }: ConfiguredSource) {
  const isAllowed = createVariableFilter(variables ?? ALL_VARIABLES)
  return { name, unknownFields, env: process.env, isAllowed, findAgeKeys: createAgeKeyFinder(ageKeys ?? {}) }
}

/** Adds the settings of a source to its content. */
function withServerSettings<S extends SourceContent>(content: S, { settings, sourcePermissions }: ConfiguredSource): S {
  return { ...content, settings, sourcePermissions: sourcePermissions ?? {} }
}

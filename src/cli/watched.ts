// The sources that the server's settings name: files and folders, which are watched, and repositories, whose servers are asked.
import { existsSync } from 'node:fs'
import type { Settings } from '../config.ts'
import type { Again } from '../lib/again.ts'
import { allowedBy } from '../reconcile/sources/allowed.ts'
import { parsing, readFileSource } from '../reconcile/sources/file.ts'
import { openGitSource } from '../reconcile/sources/git.ts'
import { type GitAddress, gitAddress, sameRepository } from '../reconcile/sources/git-address.ts'
import { pollGitSource } from '../reconcile/sources/poll.ts'
import { watchFileSource } from '../reconcile/sources/watch.ts'
import type { SourceState } from '../reconcile/wanted.ts'
import type { Ceiling } from '../service/power.ts'
import type { Followed, Follower } from './follow.ts'
import { report } from './report.ts'

/** A source of the server. */
export interface Watched extends Followed {
  /** From now on, tells the follower of changes; gives what is said of that. */
  watch(follower: Follower): Promise<string>
  /** What was pushed is one of these repositories, or not known: whether it was this one, which is then read. */
  pushed(urls: readonly string[]): boolean
  /** Ends the watch. */
  unwatch(): Promise<void>
  /** Leaves nothing behind. */
  close(): Promise<void>
}

/** What the settings name. In development mode, the examples of the folder are a source where none is named. */
export function namedSources({ source, production }: Settings): readonly string[] {
  return source ?? (!production && existsSync('examples') ? ['examples'] : [])
}

/** Opens what is named. Nothing is read yet. */
export async function openSource(named: string, settings: Settings, signal: AbortSignal): Promise<Watched> {
  const address = gitAddress(named)
  return address ? repository(address, settings, signal) : files(named, settings)
}

function files(path: string, settings: Settings): Watched {
  const { unknownFields, production, sourceVariables = [] } = settings
  const allowed = production || settings.sourceVariables ? allowedBy(sourceVariables) : () => true
  const options = { unknownFields, env: process.env, allowed, parse: parsing() }
  let stop = async () => {}
  return {
    called: path,
    attempted: undefined,
    retried: false,
    read: async () => limited(await readFileSource(path, options), settings),
    async watch(follower) {
      const failed = (error: unknown) => console.error(`${path} may change without being noticed: ${report(error)}\n`)
      stop = await watchFileSource(path, { changed: () => follower.changed(this), failed })
      return `Watching ${path}. Edit a file there, and it is applied.`
    },
    pushed: () => false,
    unwatch: () => stop(),
    close: async () => {},
  }
}

async function repository(address: GitAddress, settings: Settings, signal: AbortSignal): Promise<Watched> {
  const { unknownFields, sourceVariables = [], sourceSigners: signers, sourceInterval: every } = settings
  const allowed = allowedBy(sourceVariables)
  const source = await openGitSource(address, { unknownFields, env: process.env, allowed, signers, signal })
  let polling: Again | undefined
  const watched: Watched = {
    called: source.called,
    retried: true,
    get attempted() {
      return source.attempted
    },
    read: async () => limited(await source.read(), settings),
    async watch(follower) {
      polling = pollGitSource(source, every * 1000, {
        changed: () => follower.changed(watched),
        failed: (error) => follower.failed(watched, error),
        unfinished: () => follower.unfinished(watched),
      })
      const when = settings.sourceWebhookSecretFile ? 'at once by a webhook, or else ' : ''
      return `Watching ${source.called}. Push a commit there, and it is applied ${when}within ${every} s.`
    },
    pushed(urls) {
      const own = !urls.length || urls.some((url) => sameRepository(url, address.url))
      if (own) polling?.now()
      return own
    },
    async unwatch() {
      await polling?.close()
      polling = undefined
    },
    close: () => source.close(),
  }
  return watched
}

/** What the source states, with the limit that it has by its name. */
function limited(state: SourceState, { sourceLimits = [] }: Settings): SourceState {
  const limits = new Map<string, Ceiling>(sourceLimits.map(({ source, ...ceiling }) => [source, ceiling]))
  return { ...state, ceiling: limits.get(state.name) ?? limits.get('*') }
}

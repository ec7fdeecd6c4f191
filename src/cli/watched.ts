// The sources of the server: files and folders, which are watched, and repositories, whose servers are asked.
import type { Followed } from '../reconcile/following/followed.ts'
import { openRepository } from '../reconcile/following/repository.ts'
import type { SourceController } from '../reconcile/following/source-controller.ts'
import { allowedBy, EVERYTHING } from '../reconcile/read/allowed.ts'
import { parsing, readFileSource } from '../reconcile/read/file.ts'
import { type GitAddress, sameRepository } from '../reconcile/read/git-address.ts'
import { watchFileSource } from '../reconcile/read/watch.ts'
import type { Named } from './named.ts'
import { report } from './report.ts'

/** A source of the server. */
export interface Watched extends Followed {
  /** From now on, notifies the controller of changes; returns a line about that. */
  watch(controller: SourceController): Promise<string>
  /** What was pushed is one of these repositories, or not known: whether it was this one, which is then read. */
  pushed(urls: readonly string[]): boolean
  /** Whether this process watches it. */
  readonly watching: boolean
  /** Ends the watch. */
  unwatch(): Promise<void>
  /** Leaves nothing behind. */
  close(): Promise<void>
}

/** Opens what is named. Nothing is read yet. */
export async function openSource(named: Named, hooks: boolean, signal: AbortSignal): Promise<Watched> {
  const { at } = named
  return 'file' in at ? files(at.file, named) : repository(at, named, { hooks, signal })
}

function files(path: string, named: Named): Watched {
  const options = { ...howToRead(named), parse: parsing() }
  let stop: (() => Promise<void>) | undefined
  return {
    ...whichOne(named),
    called: path,
    attempted: undefined,
    get watching() {
      return stop !== undefined
    },
    read: async () => settled(await readFileSource(path, options), named),
    async watch(controller) {
      const failed = (error: unknown) => console.error(`${path} may change without being noticed: ${report(error)}\n`)
      stop = await watchFileSource(path, { changed: () => controller.changed(this), failed })
      return `Watching ${path}. Edit a file there, and it is applied.`
    },
    pushed: () => false,
    async unwatch() {
      await stop?.()
      stop = undefined
    },
    close: async () => {},
  }
}

async function repository(
  address: GitAddress,
  named: Named,
  { hooks, signal }: { hooks: boolean; signal: AbortSignal },
): Promise<Watched> {
  const { signers, timeout, interval } = named
  const own = await openRepository(address, {
    ...whichOne(named),
    ...howToRead(named),
    ...{ signers, timeout, interval, signal },
    settled: (state) => settled(state, named),
  })
  const when = hooks ? 'at once by a webhook, or else ' : ''
  return Object.assign(own, {
    watch: async (controller: SourceController) => {
      own.poll(controller)
      return `Watching ${own.called}. Push a commit there, and it is applied ${when}within ${interval} s.`
    },
    pushed(urls: readonly string[]) {
      const isOwn = !urls.length || urls.some((url) => sameRepository(url, address.url))
      if (isOwn) own.now()
      return isOwn
    },
  })
}

const whichOne = ({ name, dependsOn, suspend, retryInterval }: Named) => ({ name, dependsOn, suspend, retryInterval })

function howToRead({ name, unknownFields, variables }: Named) {
  return { name, unknownFields, env: process.env, allowed: allowedBy(variables ?? EVERYTHING) }
}

/** What the source states, with what is settled for it. */
function settled<S extends object>(state: S, { settings, ceiling }: Named): S & Pick<Named, 'settings' | 'ceiling'> {
  return { ...state, settings, ceiling }
}

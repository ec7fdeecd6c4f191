// Watches the files of a source. Several writes in a short time, as editors make them, are one change.
import { relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { isHidden } from './file-source.ts'

/** Milliseconds without another event after which a change is reported. */
const QUIET = 100

/** Callbacks of a watched source. */
export interface SourceListener {
  onChange(): Promise<void>
  /** The watcher may miss changes: it cannot watch more files, or cannot read a folder. */
  onError(error: unknown): void
}

/** Reports each change of the file or folder. Returns a function that stops the watcher. */
export async function watchFiles(path: string, listener: SourceListener): Promise<() => Promise<void>> {
  const queue = new WorkQueue(() => listener.onChange(), { backOff: () => QUIET, failed: listener.onError })
  // The path itself may contain hidden folders. Kubernetes updates a mounted volume by replacing its symbolic link `..data`.
  const isIgnored = (file: string) =>
    relative(path, file)
      .split(sep)
      .some((name) => isHidden(name) && !name.startsWith('..'))
  const watcher = watch(path, { ignoreInitial: true, ignored: isIgnored })
  watcher.on('all', () => {
    queue.forget(path)
    queue.addAfter(path, QUIET)
  })
  watcher.on('error', (error) => listener.onError(error))
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return async () => {
    await queue.close()
    await watcher.close()
  }
}

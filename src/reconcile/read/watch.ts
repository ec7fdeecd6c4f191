// Tells when files of a source change; an editor's several writes are one change.
import { relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { isHidden } from './file.ts'

/** Milliseconds without another event after which a change is told. */
const QUIET = 100

/** What is told of a source. */
export interface SourceWatcher {
  changed(): Promise<void>
  /** The watch has a gap: the system refuses to watch more files, or a folder cannot be read. */
  failed(error: unknown): void
}

/** Tells of each change below the path; returns what stops it. */
export async function watchFileSource(path: string, told: SourceWatcher): Promise<() => Promise<void>> {
  const queue = new WorkQueue(() => told.changed(), { backOff: () => QUIET, failed: told.failed })
  // Only what is below the path counts: the path itself may lead through hidden folders. Kubernetes changes the files
  // of a mount by putting another link `..data` in its place.
  const ignored = (file: string) =>
    relative(path, file)
      .split(sep)
      .some((name) => isHidden(name) && !name.startsWith('..'))
  const watcher = watch(path, { ignoreInitial: true, ignored })
  watcher.on('all', () => {
    queue.forget(path)
    queue.addAfter(path, QUIET)
  })
  watcher.on('error', (error) => told.failed(error))
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return async () => {
    await queue.close()
    await watcher.close()
  }
}

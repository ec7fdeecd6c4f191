// Tells when files of a source change; an editor's several writes are one change.
import { watch } from 'chokidar'

/** Milliseconds without another event after which a change is told. */
const QUIET = 100

/** Calls back after each change below the path; returns what stops it. */
export async function watchFileSource(path: string, changed: () => Promise<void>): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(path, { ignoreInitial: true, ignored: /(^|[/\\])\.[^./\\]/ })
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void changed(), QUIET)
  })
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}

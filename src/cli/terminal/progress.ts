// Shows the progress of long work on the standard error output: on a terminal as one line that is rewritten and erased at the end,
// otherwise as a line from time to time.
import { styleText } from 'node:util'
import type { Progress } from '../../lib/timing/progress.ts'
import { type RepeatedWork, runEvery } from '../../lib/timing/run-every.ts'
import { wantsQuiet } from './hint.ts'

/** A step of long work, and the number of items that are done. */
export interface ShownProgress {
  readonly label: string
  readonly done?: number | undefined
  readonly total?: number | undefined
  /** The unit of a number without a total. */
  readonly unit?: string
}

/** Milliseconds from the start of the process after which progress is shown on a terminal, and between two drawings of the line. */
const DELAY = 2_000
const REDRAW_INTERVAL = 250
/** Milliseconds between lines without a terminal. */
const LINE_INTERVAL = 10_000
/** Milliseconds of a step after which its rate is shown. */
const RATE_DELAY = 500
/** Cells of the bar, and the columns of a terminal that are too few for it. */
const BAR_LENGTH = 20
const NARROW = 80

let current: ProgressLine | undefined

/** Shows the progress of a step, unless the command is short. */
export function showProgress(progress: ShownProgress): void {
  if (wantsQuiet()) return
  current ??= new ProgressLine(process.stderr)
  current.show(progress)
}

/** Shows the progress that the engine reports. */
export function showWork(progress: Progress): void {
  const label = describePhase(progress)
  if (label)
    showProgress({ label, done: progress.done, total: progress.total, ...(isFetch(progress) && { unit: 'responses' }) })
}

/** Erases the line of the progress. */
export function clearProgress(): void {
  current?.clear()
  current = undefined
}

/** Runs work, and erases the line of its progress at its end. */
export async function withProgress<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    clearProgress()
  }
}

type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

/** The line of the progress on an output. */
class ProgressLine {
  readonly #output: Output
  #progress: ShownProgress = { label: '' }
  /** The time at which the step began, and the number of its items then. */
  #step = { at: 0, done: 0 }
  /** The time of the last report with another number of items. */
  #counted = 0
  /** Without a terminal, the first line comes after a whole interval. */
  #lastWrite = performance.now()
  #isDrawn = false
  #redrawing: RepeatedWork | undefined

  constructor(output: Output) {
    this.#output = output
  }

  show(progress: ShownProgress): void {
    const isNew = progress.label !== this.#progress.label
    if (isNew) this.#step = { at: performance.now(), done: progress.done ?? 0 }
    if (isNew || progress.done !== this.#progress.done) this.#counted = performance.now()
    this.#progress = progress
    this.#redrawing ??= runEvery(REDRAW_INTERVAL, () => this.#update(false))
    this.#update(isNew)
  }

  clear(): void {
    void this.#redrawing?.close()
    if (this.#isDrawn) this.#output.write('\r\x1b[2K')
    this.#isDrawn = false
  }

  /** Writes the line if it is due; on a terminal, that of a new step at once: the step may not let timers run. */
  #update(isNew: boolean): void {
    const now = performance.now()
    const { isTTY, columns } = this.#output
    if (isTTY && now < DELAY) return
    if (!(isTTY && isNew) && now - this.#lastWrite < (isTTY ? REDRAW_INTERVAL : LINE_INTERVAL)) return
    this.#lastWrite = now
    const line = renderProgress(this.#progress, {
      elapsed: (this.#progress.done === undefined ? now : this.#counted) - this.#step.at,
      doneBefore: this.#step.done,
      // Some terminals report a width of 0.
      columns: isTTY ? columns || NARROW : undefined,
    })
    this.#output.write(isTTY ? `\r\x1b[2K${line}` : `${line}\n`)
    this.#isDrawn = isTTY
  }
}

/** Renders a step. `elapsed`: its milliseconds until the last item, or without items until now; `doneBefore`: its items at its begin; `columns`: of the terminal, absent without one. */
export function renderProgress(
  { label, done, total, unit = '' }: ShownProgress,
  {
    elapsed,
    doneBefore,
    columns,
  }: { readonly elapsed: number; readonly doneBefore: number; readonly columns?: number | undefined },
): string {
  const count =
    done === undefined
      ? ''
      : total === undefined
        ? `${format(done)} ${unit}`.trim()
        : `${format(done)}/${format(total)}`
  const perSecond = done === undefined || elapsed < RATE_DELAY ? 0 : ((done - doneBefore) * 1000) / elapsed
  const details = [
    done !== undefined && total ? `${Math.floor((100 * done) / total)} %` : '',
    perSecond > 0 ? `${format(perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond))}/s` : '',
    perSecond > 0 && total !== undefined ? `${formatSeconds((total - done!) / perSecond)} left` : '',
    done === undefined && elapsed >= 1000 ? formatSeconds(elapsed / 1000) : '',
  ].filter(Boolean)
  const detail = details.length ? `(${details.join(', ')})` : ''
  if (columns === undefined) return [label, count, detail].filter(Boolean).join(' ')
  const bar = done !== undefined && total && columns >= NARROW ? renderBar(done / total) : ''
  const text = [label, bar, count]
    .filter(Boolean)
    .join(' ')
    .slice(0, columns - 1)
  const hasSpace = detail && text.length + 1 + detail.length < columns
  return hasSpace ? `${text} ${styleText('dim', detail, { stream: process.stderr })}` : text
}

function renderBar(share: number): string {
  const cells = Math.min(BAR_LENGTH, Math.floor(share * BAR_LENGTH))
  return '█'.repeat(cells) + '░'.repeat(BAR_LENGTH - cells)
}

const format = (count: number): string => count.toLocaleString('en')

function formatSeconds(seconds: number): string {
  const rounded = Math.ceil(seconds)
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

/** Labels of the steps, before the plural of a kind where there is one. */
const LABELS: Readonly<Record<Progress['phase'], string>> = {
  compare: 'Comparing',
  hash: 'Hashing passwords',
  rename: 'Renaming',
  create: 'Creating',
  update: 'Updating',
  delete: 'Deleting',
  record: 'Recording the changes',
  commit: 'Committing',
  applied: '',
  migrate: 'Preparing the store',
  backup: 'Backing up rows',
  verify: 'Verifying rows',
  restore: 'Restoring rows',
  fetch: 'Reading',
  write: 'Writing files',
}

/** Labels of the steps of a dry run, which changes nothing. */
const DRY_RUN_LABELS: Partial<typeof LABELS> = {
  rename: 'Checking renamed',
  create: 'Checking new',
  update: 'Checking changed',
  delete: 'Checking deleted',
}

/** Whether responses of another server are counted, since the number of objects is unknown. */
const isFetch = ({ phase, kind }: Progress): boolean => phase === 'fetch' && kind === undefined

function describePhase(progress: Progress): string {
  if (isFetch(progress)) return 'Reading the realm'
  const { phase, kind, dryRun } = progress
  const label = (dryRun && DRY_RUN_LABELS[phase]) || LABELS[phase]
  return kind === undefined ? label : `${label} ${toPlural(kind)}`
}

/** Returns the plural of a kind in words: `authorizationPolicy` gives `authorization policies`. */
function toPlural(kind: string): string {
  const words = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : `${words}s`
}

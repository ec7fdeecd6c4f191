// The child process of reconcile/killed-apply.test.ts: it applies a file and is killed meanwhile. It prints a line for each executed statement,
// and one at the end.
import { writeSync } from 'node:fs'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { readFileSource } from '../../src/reconcile/read/file-source.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import type { StoreLocation } from '../../src/service/context/store-types.ts'
import { openService } from '../../src/service/operations/open-service.ts'

/** The argument of the process, as JSON. */
export interface KilledApplyOptions {
  readonly location: StoreLocation
  readonly key: string
  readonly file: string
  readonly source: string
  readonly settings: SourceSettings
  /** The process kills itself after so many lines, or requests to be killed while it continues. Absent: never. */
  readonly step?: { readonly lines: number; readonly when: 'after' | 'during' }
}

/** The line that requests to be killed. */
export const KILL_REQUEST = 'now'
/** The last line. */
export const DONE = 'answer'

if (process.argv[1] === import.meta.filename) await run(JSON.parse(process.argv[2]!))

async function run({ location, key, file, source, settings, step }: KilledApplyOptions): Promise<void> {
  const counts = new Map<string, number>()
  let lines = -1
  let begun = false
  const report = (name: string) => {
    const times = (counts.get(name) ?? 0) + 1
    counts.set(name, times)
    writeSync(1, `${times > 1 ? `${name} (${times})` : name}\n`)
    lines++
    if (lines !== step?.lines) return
    if (step.when === 'after') process.kill(process.pid, 'SIGKILL')
    writeSync(1, `${KILL_REQUEST}\n`)
  }
  const service = await openService({
    location,
    key: Buffer.from(key, 'base64url'),
    onStatement: ({ sql }) => begun && report(describeStatement(sql)),
  })
  const state = await readFileSource(file, { name: source, displayName: source, env: {}, isAllowed: () => false })
  begun = true
  report('beginning')
  await applySources(service, { actor: { kind: 'source', source } }, [{ ...state, settings }])
  report(DONE)
  await service.close()
}

/** Returns a short form of a statement, such as `insert into user_account`. */
function describeStatement(sql: string): string {
  const text = sql.replaceAll('"', '').replace(/\s+/g, ' ').trim()
  if (/for (no key )?update/.test(text)) return 'lock'
  const write = /(insert into|update|delete from) (\w+)/.exec(text)
  return (
    write?.[0] ??
    /^(begin|start transaction|commit|rollback)/.exec(text)?.[0] ??
    `select ${/from (\w+)/.exec(text)?.[1]}`
  )
}

// A process that applies a file and is killed on the way, as by a crash of its machine: the child of kill.test.ts. It tells each
// statement that it has executed, and that it is done, in a line of its own.
import { writeSync } from 'node:fs'
import { readFileSource } from '../../src/reconcile/read/file-source.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import type { StoreLocation } from '../../src/service/context/store-types.ts'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { openService } from '../../src/service/operations/open-service.ts'

/** What the child is told, as JSON. */
export interface KilledApplyOptions {
  readonly location: StoreLocation
  readonly key: string
  readonly file: string
  readonly source: string
  readonly settings: SourceSettings
  /** When so many lines are out, it ends itself, or asks to be ended while it goes on. Absent: never. */
  readonly step?: { readonly lines: number; readonly how: 'after' | 'during' }
}

/** The line that asks. */
export const KILL_REQUEST = 'now'
/** The line that says that everything is done. */
export const DONE = 'answer'

if (process.argv[1] === import.meta.filename) await run(JSON.parse(process.argv[2]!))

async function run({ location, key, file, source, settings, step }: KilledApplyOptions): Promise<void> {
  const told = new Map<string, number>()
  let lines = -1
  let begun = false
  const tell = (name: string) => {
    const times = (told.get(name) ?? 0) + 1
    told.set(name, times)
    writeSync(1, `${times > 1 ? `${name} (${times})` : name}\n`)
    lines++
    if (lines !== step?.lines) return
    if (step.how === 'after') process.kill(process.pid, 'SIGKILL')
    writeSync(1, `${KILL_REQUEST}\n`)
  }
  const service = await openService({
    location,
    key: Buffer.from(key, 'base64url'),
    onStatement: ({ sql }) => begun && tell(describeStatement(sql)),
  })
  const state = await readFileSource(file, { name: source, displayName: source, env: {}, isAllowed: () => false })
  begun = true
  tell('beginning')
  await applySources(service, { actor: { kind: 'source', source } }, [{ ...state, settings }])
  tell(DONE)
  await service.close()
}

/** What a statement does, for people: `insert into user_account`. */
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

// How much memory an apply of many people takes: a folder of files like those of an export, applied by a process of its own.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realmOf } from './data.ts'

/** What one step of the process reports: what it did, how long it took, and the most memory that the process has had. */
export interface Step {
  readonly name: string
  readonly seconds: number
  /** Resident, in megabytes. */
  readonly peak: number
}

/** People in a file. */
const FILE = 1_000

/** V8 takes what it may have: so it is told to keep to what a container of 512 MB has room for. */
const LIMITS = ['--max-old-space-size=375', '--max-semi-space-size=4']

/** Applies a new realm with so many people, again, and with one of them changed, on an empty PostgreSQL. */
export async function peopleMemory(url: string, people: number, tell: (step: Step) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-people-'))
  try {
    for (const [name, content] of files(people)) await writeFile(join(folder, name), content)
    const child = fork(new URL('./memory-child.ts', import.meta.url), [url, folder], { execArgv: LIMITS })
    child.on('message', (step) => tell(step as Step))
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the apply of ${people} people ended with ${code}`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The realm in one file, its people in others. JSON is YAML, and what exports are. */
function* files(people: number): Generator<[name: string, content: string]> {
  const { users, ...realm } = realmOf('people', 10, 'first', people) as { users: object[] }
  yield ['realm.json', JSON.stringify(realm, null, 2)]
  for (let start = 0; start < people; start += FILE) {
    const document = { realm: 'people', users: users.slice(start, start + FILE) }
    yield [`people-${start}.json`, JSON.stringify(document, null, 2)]
  }
}

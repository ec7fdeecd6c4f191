// Measures the memory that an apply of many users takes. A process of its own applies a folder of files like those of an export.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRealmDocument } from './generated-realms.ts'

/** The report of one step of the process: its name, its time, and the peak memory of the process up to then. */
export interface Step {
  readonly name: string
  readonly seconds: number
  /** Resident memory in megabytes. */
  readonly peak: number
}

const USERS_PER_FILE = 1_000

/** V8 takes as much memory as it may. These limits are for a container of 512 MB. */
const MEMORY_FLAGS = ['--max-old-space-size=375', '--max-semi-space-size=4']

/** Applies a realm with this many users to an empty PostgreSQL: as a new one, unchanged, and with one user changed. */
export async function measureApplyMemory(url: string, userCount: number, onStep: (step: Step) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-users-'))
  try {
    for (const [name, content] of createFiles(userCount)) await writeFile(join(folder, name), content)
    const child = fork(new URL('./apply-memory-child.ts', import.meta.url), [url, folder], { execArgv: MEMORY_FLAGS })
    child.on('message', (step) => onStep(step as Step))
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the process that applied ${userCount} users ended with exit code ${code}`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Yields the realm in one file and its users in others, as JSON, like exports. */
function* createFiles(userCount: number): Generator<[name: string, content: string]> {
  const { users, ...realm } = createRealmDocument('users', { clientCount: 10, userCount }) as { users: object[] }
  yield ['realm.json', JSON.stringify(realm, null, 2)]
  for (let start = 0; start < userCount; start += USERS_PER_FILE) {
    const document = { realm: 'users', users: users.slice(start, start + USERS_PER_FILE) }
    yield [`users-${start}.json`, JSON.stringify(document, null, 2)]
  }
}

// The lock of a data folder works between processes, and is released when they are killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderInUse, lockFolder } from '../../src/store/database/folder-lock.ts'

const code = join(import.meta.dirname, '..', '..', 'src', 'store', 'database', 'folder-lock.ts')
const ADDRESS = 'http://127.0.0.1:1'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regent-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Starts a process that takes the lock until it is killed. */
async function startHolder() {
  // The process runs the garbage collector while nothing refers to the lock.
  const text = `const { lockFolder } = await import(${JSON.stringify(code)})
    await (await lockFolder(${JSON.stringify(folder)})).announce('${ADDRESS}')
    gc()
    console.log('held')
    process.stdin.resume().on('end', () => process.exit())`
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', text], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  return child
}

const tryLock = () =>
  lockFolder(folder).then(
    () => expect.fail('the lock is free'),
    (error: unknown) => error,
  )

test('the error names the URL of the holder, and kill -9 releases the lock and clears the URL', async () => {
  const child = await startHolder()
  expect(await tryLock()).toMatchObject({ url: ADDRESS })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const lock = await lockFolder(folder)
  const error = await tryLock()
  expect(error).toBeInstanceOf(FolderInUse)
  expect((error as FolderInUse).url).toBeUndefined()
  lock.release()
  ;(await lockFolder(folder)).release()
})

test('of many concurrent attempts after a kill, one takes the lock', async () => {
  const child = await startHolder()
  child.kill('SIGKILL')
  await once(child, 'exit')
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)))
  const fulfilled = tries.filter((result) => result.status === 'fulfilled')
  expect(fulfilled).toHaveLength(1)
  fulfilled[0]!.value.release()
})

test('the folder of the lock has mode 700', async () => {
  ;(await lockFolder(folder)).release()
  expect((await stat(join(folder, 'lock'))).mode & 0o777).toBe(0o700)
})

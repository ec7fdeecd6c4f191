// The lock of a data folder: between processes, also those that were killed.
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

/** A process that holds the lock until it is killed. */
async function holder() {
  // Nothing refers to the lock when the memory is cleaned up.
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

const refusal = () =>
  lockFolder(folder).then(
    () => expect.fail('the lock was free'),
    (error: unknown) => error,
  )

test('who is refused learns where the holder answers; kill -9 frees the lock, and its address is not told again', async () => {
  const child = await holder()
  expect(await refusal()).toMatchObject({ url: ADDRESS })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const lock = await lockFolder(folder)
  const error = await refusal()
  expect(error).toBeInstanceOf(FolderInUse)
  expect((error as FolderInUse).url).toBeUndefined()
  lock.release()
  ;(await lockFolder(folder)).release()
})

test('of many that come at once, also to the lock of the dead, one gets it', async () => {
  const child = await holder()
  child.kill('SIGKILL')
  await once(child, 'exit')
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)))
  const held = tries.filter((one) => one.status === 'fulfilled')
  expect(held).toHaveLength(1)
  held[0]!.value.release()
})

test('the place of the lock is for its owner only', async () => {
  ;(await lockFolder(folder)).release()
  expect((await stat(join(folder, 'lock'))).mode & 0o777).toBe(0o700)
})

// What is made faster than somebody takes it waits in a file that has no name: nobody else sees it, and it ends with the process.
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Bytes that wait on the disk. */
export interface Spool {
  /** The bytes from the first one on, as often as they are wanted. */
  read(): Readable
  /** Gives the disk back. */
  close(): Promise<void>
}

/** Keeps what the work writes. Throws what it throws, or the file system. */
export async function spool(write: (into: Writable) => Promise<void>): Promise<Spool> {
  const path = join(tmpdir(), `regent-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    await write(createWriteStream(path, { fd: file.fd, autoClose: false }))
  } catch (error) {
    await file.close()
    throw error
  }
  return {
    // A stream of the handle itself would keep it from being closed.
    read: () => createReadStream(path, { fd: file.fd, start: 0, autoClose: false }),
    close: () => file.close(),
  }
}

// Buffers data on disk that is produced faster than it is consumed. The file has no name, so no other process sees it, and it
// disappears when the process ends.
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Bytes that are buffered on disk. */
export interface Spool {
  /** Returns a new stream of all bytes, each time it is called. */
  read(): Readable
  /** Frees the disk space. */
  close(): Promise<void>
}

/** Buffers everything that `write` writes. Throws the errors of `write` and of the file system. */
export async function spoolToDisk(write: (into: Writable) => Promise<void>): Promise<Spool> {
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
    // A stream of the file handle itself would prevent closing it.
    read: () => createReadStream(path, { fd: file.fd, start: 0, autoClose: false }),
    close: () => file.close(),
  }
}

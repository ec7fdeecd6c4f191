// Reads and writes key stores in a thread of their own: deriving a key from a password takes seconds, and as long as the file demands.
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { expireAfter } from '../timing/deadline.ts'
import { limitConcurrency } from '../timing/limit-concurrency.ts'
import { isJks, readJks, writeJks } from './jks.ts'
import {
  type KeyStoreContent,
  type KeyStoreEntry,
  KeyStoreError,
  type KeyStoreFormat,
  type KeyStorePasswords,
  type KeyStoreProblem,
  type NewKeyStorePasswords,
} from './key-store.ts'
import { readPkcs12, writePkcs12 } from './pkcs12.ts'

/** Milliseconds after which a file is refused. */
const TIMEOUT = 15_000
const MEMORY_MB = 128

/** An entry of a key store to read. */
export interface KeyStoreRead {
  /** Java: a file of the format JKS may also be PKCS#12. */
  readonly format: KeyStoreFormat
  readonly bytes: Uint8Array
  readonly alias: string
  readonly passwords: KeyStorePasswords
}

/** A key store to write. */
export interface KeyStoreWrite {
  readonly format: KeyStoreFormat
  readonly content: KeyStoreContent
  readonly passwords: NewKeyStorePasswords
}

type Task = { readonly read: KeyStoreRead } | { readonly write: KeyStoreWrite }
type TaskResult<T> = { readonly value: T } | { readonly problem: KeyStoreProblem }

const limit = limitConcurrency(1)

/** Reads an entry of a key store. @throws KeyStoreError */
export function readKeyStore(read: KeyStoreRead): Promise<KeyStoreEntry> {
  return run({ read })
}

/** Writes a key store. */
export function writeKeyStore(write: KeyStoreWrite): Promise<Uint8Array> {
  return run({ write })
}

function run<T extends KeyStoreEntry | Uint8Array>(task: Task): Promise<T> {
  return limit(async () => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { keyStoreTask: task },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    })
    const { promise, resolve, reject } = Promise.withResolvers<TaskResult<T>>()
    const cancel = expireAfter(TIMEOUT, () => resolve({ problem: 'time' }))
    worker.once('message', resolve)
    worker.once('error', reject)
    try {
      const result = await promise
      if ('problem' in result) throw new KeyStoreError(result.problem)
      return result.value
    } finally {
      cancel()
      await worker.terminate()
    }
  })
}

function execute(task: Task): KeyStoreEntry | Uint8Array {
  if ('write' in task) {
    const { format, content, passwords } = task.write
    return format === 'JKS' ? writeJks(content, passwords) : writePkcs12(content, passwords)
  }
  const { format, alias, passwords } = task.read
  const bytes = Buffer.from(task.read.bytes)
  if (!isJks(bytes)) return readPkcs12(bytes, alias, passwords)
  if (format !== 'JKS') throw new KeyStoreError('format')
  return readJks(bytes, alias, passwords)
}

/** Executes a task, and returns its result, or why a key store cannot be read. */
function executeTask(task: Task): TaskResult<KeyStoreEntry | Uint8Array> {
  try {
    return { value: execute(task) }
  } catch (error) {
    if (error instanceof KeyStoreError) return { problem: error.problem }
    throw error
  }
}

if (workerData?.keyStoreTask) parentPort!.postMessage(executeTask(workerData.keyStoreTask))

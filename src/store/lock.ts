// PGlite lets a second process open its folder and write: so the folder is locked here. The kernel frees the lock when
// the process dies, also by kill -9. Whoever is refused learns from the socket where the running server answers.
import { createHash } from 'node:crypto'
import { realpath, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

/** The folder is open in another process, whose server answers at `url` (absent: it is not a server). */
export class FolderInUse extends Error {
  readonly folder: string
  readonly url: string | undefined
  constructor(folder: string, url: string | undefined) {
    super(`${folder} is in use by another process${url ? `, which serves ${url}` : ''}`)
    this.folder = folder
    this.url = url
  }
}

/** A held lock. */
export interface FolderLock {
  /** Tells those who are refused where this process answers. */
  announce(url: string): void
  release(): Promise<void>
}

/** Locks the folder for this process. Throws FolderInUse. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = await socketPath(folder)
  let url = ''
  const server = createServer((socket) => socket.on('error', () => {}).end(url))
  server.unref()
  try {
    await listen(server, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    const answer = await ask(path)
    if (answer !== undefined) throw new FolderInUse(folder, answer || undefined)
    // A socket file that nobody answers was left behind by a process that died.
    await rm(path, { force: true })
    await listen(server, path)
  }
  return {
    announce: (address) => {
      url = address
    },
    release: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** On Linux an abstract socket, which leaves no file; elsewhere a file in the folder. */
async function socketPath(folder: string): Promise<string> {
  const real = await realpath(folder)
  if (process.platform !== 'linux') return join(real, 'regent.sock')
  return `\0regent-${createHash('sha256').update(real).digest('hex')}`
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path }, () => resolve())
  })
}

/** What the holder of the socket says; undefined when there is none. */
function ask(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = ''
    connect({ path })
      .setEncoding('utf8')
      .on('data', (text: string) => {
        answer += text
      })
      .on('end', () => resolve(answer))
      .on('error', () => resolve(undefined))
  })
}

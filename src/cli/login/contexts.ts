// Contexts: servers at which a user or a client has logged in. They lie in a file that only its owner can read.
import { chmod, open, readFile, rename, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { createFolder } from '../../lib/create-folder.ts'
import { getErrorCode } from '../../lib/error-code.ts'
import { lockFile } from '../../lib/file-lock.ts'

const contextSchema = z.object({
  server: z.string(),
  realm: z.string(),
  /** The user who is logged in. */
  user: z.string().optional(),
  /** The client with a service account that logs in, instead of a user. */
  client: z.string().optional(),
  refreshToken: z.string().optional(),
  clientSecretFile: z.string().optional(),
  privateKeyFile: z.string().optional(),
  /** The origin of the OpenID Connect token with which the client authenticates. */
  oidcToken: z.string().optional(),
})
const contextFile = z.object({ current: z.string().optional(), contexts: z.record(z.string(), contextSchema) })

/** A server, and the user or the client who logs in there. */
export type LoginContext = z.output<typeof contextSchema>
/** All contexts by name, and the name of the one in use. */
export type ContextFile = z.output<typeof contextFile>
/** A context with its name. */
export type NamedContext = LoginContext & { readonly name: string }

/** Milliseconds to wait for another command that changes the contexts. */
const PATIENCE = 60_000

/** Returns the folder of the contexts. */
export function getContextFolder(): string {
  const { REGENT_CONFIG_DIR, XDG_CONFIG_HOME } = process.env
  return REGENT_CONFIG_DIR || join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'regent')
}

/** Returns the file of the contexts. */
export const getContextFile = (): string => join(getContextFolder(), 'contexts.json')

/** Returns the contexts; none if there is no file. @throws Error if other users can read the file, or it is not valid. */
export async function readContexts(): Promise<ContextFile> {
  const file = getContextFile()
  try {
    const { mode } = await stat(file)
    // Windows has no such bits.
    if (process.platform !== 'win32' && mode & 0o077)
      throw new Error(`Other users can read ${file}, which contains credentials. Run "chmod 600 ${file}".`)
    return contextFile.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return { contexts: {} }
    if (error instanceof SyntaxError || error instanceof z.ZodError)
      throw new Error(`${file} is not valid. Correct it, or delete it and run "regent login".`, { cause: error })
    throw error
  }
}

/** Returns a context. @throws Error if there is none of that name. */
export function getContext({ contexts }: ContextFile, name: string): NamedContext {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (context) return { ...context, name }
  throw new Error(`There is no context ${name}. "regent context list" lists them, and "regent login" creates one.`)
}

/** The last change of the contexts in this process. The lock of the file would block the process on itself. */
let lastChange: Promise<unknown> = Promise.resolve()

/** Changes the contexts while no other command does, and returns the result. */
export function changeContexts<Result>(
  change: (file: ContextFile) => Promise<readonly [ContextFile, Result]>,
): Promise<Result> {
  const result = lastChange.then(() => changeLocked(change))
  lastChange = result.catch(() => {})
  return result
}

async function changeLocked<Result>(
  change: (file: ContextFile) => Promise<readonly [ContextFile, Result]>,
): Promise<Result> {
  await createFolder(getContextFolder())
  const lock = lockFile(join(getContextFolder(), 'lock'), PATIENCE)
  if (!lock) throw new Error(`Another command is changing ${getContextFile()}. Try again when it has ended.`)
  try {
    const [changed, result] = await change(await readContexts())
    await writeContexts(changed)
    return result
  } finally {
    lock.release()
  }
}

/** Replaces the file at once, so that a reader finds the old contexts or the new ones. */
async function writeContexts(contexts: ContextFile): Promise<void> {
  const file = getContextFile()
  await chmod(getContextFolder(), 0o700)
  const temporary = await open(`${file}.new`, 'w', 0o600)
  try {
    await temporary.chmod(0o600)
    await temporary.writeFile(`${JSON.stringify(contexts, null, 2)}\n`)
    await temporary.sync()
  } finally {
    await temporary.close()
  }
  await rename(`${file}.new`, file)
}

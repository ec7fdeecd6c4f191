import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { resetAdminPassword } from '../../service/operations/bootstrap.ts'
import { openService } from '../../service/operations/open-service.ts'
import { connect, type StoreFlags, storeOf } from '../connect.ts'
import { readKey } from './key.ts'

interface NewPasswordFlags extends StoreFlags {
  readonly newPassword?: string
  readonly newPasswordFile?: string
}

/** `regent admin-password`: of a running server by somebody who can log in there; on the store itself when nobody can. */
export async function adminPassword(user: string, flags: NewPasswordFlags): Promise<void> {
  const { REGENT_SERVER } = process.env
  const server = flags.server ?? (flags.data || flags.database ? undefined : REGENT_SERVER || undefined)
  const canLogIn = await (server ? overServer({ ...flags, server }, user) : onStore(flags, user))
  console.log(`${user} of the master realm has a new password.`)
  if (!canLogIn)
    throw new Error(
      `${user} cannot log in yet by name and password: correct the settings, flows and clients of the master realm with "regent apply" and --data or --database`,
    )
}

/** As an administrator does it by REST: only for who is there, and held to the password policy. */
async function overServer(flags: NewPasswordFlags, user: string): Promise<boolean> {
  const connection = await connect(flags)
  try {
    const path = '/admin/realms/master/users'
    const query = new URLSearchParams({ username: user, exact: 'true' })
    const [found] = (await connection.request('GET', `${path}?${query}`)) as { id: string }[]
    if (!found) throw new Error(`there is no user ${user} in the master realm`)
    const credential = { type: 'password', value: await newPassword(user, flags), temporary: false }
    await connection.request('PUT', `${path}/${found.id}/reset-password`, { body: credential })
    return true
  } finally {
    await connection.close()
  }
}

/** Works where nobody can log in: makes the administrator who is not there. Returns whether they can log in then. */
async function onStore(flags: NewPasswordFlags, user: string): Promise<boolean> {
  const at = storeOf(flags)
  const key = await readKey(at)
  const password = await newPassword(user, flags)
  const service = await openService({ location: at.database ? { url: at.database } : { folder: at.data }, key })
  try {
    return await resetAdminPassword(service, user, password)
  } finally {
    await service.close()
  }
}

/** A flag is seen by everybody on the machine: a file, the environment and the prompt are not. */
async function newPassword(user: string, { newPassword, newPasswordFile }: NewPasswordFlags): Promise<string> {
  const { REGENT_NEW_PASSWORD } = process.env
  const given = newPassword ?? (newPasswordFile ? await firstLine(newPasswordFile) : REGENT_NEW_PASSWORD)
  const password = given ?? (await ask(`New password of ${user}: `))
  if (!password) throw new Error('a password must not be empty')
  return password
}

async function firstLine(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`the file ${file} of the new password cannot be read (${error.code})`)
  })
  return text.split(/\r?\n/)[0]!
}

/** What is typed is not shown: the terminal writes nothing after the question. */
async function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true })
  const answer = await terminal.question('')
  terminal.close()
  process.stderr.write('\n')
  return answer
}

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { type AdminPasswordReset, resetAdminPassword } from '../../service/operations/bootstrap.ts'
import { openService } from '../../service/operations/open-service.ts'
import { connect, type StoreFlags, toStoreKey } from '../connect.ts'
import { readKey } from './key.ts'

interface NewPasswordFlags extends StoreFlags {
  readonly newPassword?: string
  readonly newPasswordFile?: string
}

/** `regent admin-password`: sets a password through a running server, or in the store itself if no administrator can log in. */
export async function adminPassword(user: string, flags: NewPasswordFlags): Promise<void> {
  const { REGENT_SERVER } = process.env
  const server = flags.server ?? (flags.data || flags.database ? undefined : REGENT_SERVER || undefined)
  const reset = server ? resetOnServer({ ...flags, server }, user) : resetOnStore(flags, user)
  const { isCreated, canLogIn } = await reset
  console.log(
    isCreated
      ? `Created the administrator ${user} of the master realm.`
      : `The user ${user} of the master realm has a new password.`,
  )
  if (!canLogIn)
    throw new Error(
      `${user} cannot log in with the new password yet. Correct the settings, flows and clients of the master realm with "regent apply" and --data or --database.`,
    )
}

/** Sets the password through the admin API, for existing users and under the password policy. */
async function resetOnServer(flags: NewPasswordFlags, user: string): Promise<AdminPasswordReset> {
  const connection = await connect(flags)
  try {
    const path = '/admin/realms/master/users'
    const query = new URLSearchParams({ username: user, exact: 'true' })
    const [existing] = await connection.request<{ id: string }[]>('GET', `${path}?${query}`)
    if (!existing) throw new Error(`There is no user ${user} in the master realm.`)
    const credential = { type: 'password', value: await newPassword(user, flags), temporary: false }
    await connection.request('PUT', `${path}/${existing.id}/reset-password`, { body: credential })
    return { isCreated: false, canLogIn: true }
  } finally {
    await connection.close()
  }
}

/** Sets the password in the store, creating a missing administrator. */
async function resetOnStore(flags: NewPasswordFlags, user: string): Promise<AdminPasswordReset> {
  const at = toStoreKey(flags)
  const key = await readKey(at)
  const password = await newPassword(user, flags)
  const service = await openService({ location: at.database ? { url: at.database } : { folder: at.data }, key })
  try {
    return await resetAdminPassword(service, user, password)
  } finally {
    await service.close()
  }
}

// Other users of the machine can see flags, but neither a file, nor the environment, nor the prompt.
async function newPassword(user: string, { newPassword, newPasswordFile }: NewPasswordFlags): Promise<string> {
  const { REGENT_NEW_PASSWORD } = process.env
  const provided = newPassword ?? (newPasswordFile ? await readFirstLine(newPasswordFile) : REGENT_NEW_PASSWORD)
  const password = provided ?? (await prompt(`New password of ${user}: `))
  if (!password) throw new Error('The password must not be empty.')
  return password
}

async function readFirstLine(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The password file ${file} cannot be read (${error.code}).`)
  })
  return text.split(/\r?\n/)[0]!
}

/** Asks a question on the terminal, without echoing the answer. Throws Error where the input ends before the answer. */
async function prompt(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true })
  // At the end of the input, the question itself never returns.
  const inputEnd = once(terminal, 'close').then(() => {
    throw new Error('Pass the password with --new-password-file or REGENT_NEW_PASSWORD.')
  })
  const password = await Promise.race([terminal.question(''), inputEnd]).finally(() => process.stderr.write('\n'))
  terminal.close()
  return password
}

import { readFile } from 'node:fs/promises'
import {
  type AdminPasswordReset,
  bootstrap,
  describeMissingAdministrator,
  resetAdminPassword,
} from '../../service/operations/bootstrap.ts'
import { openService } from '../../service/operations/open-service.ts'
import { type Connection, type StoreFlags, toStoreKey, withConnection } from '../connect.ts'
import { promptSecret } from '../prompt.ts'
import { reportNewStore, requireStore, toLocation } from '../store-place.ts'
import { readKey } from './key.ts'

interface NewPasswordFlags extends StoreFlags {
  readonly newPassword?: string
  readonly newPasswordFile?: string
  readonly create?: true
}

/** `regent admin-password`: sets a password through a running server, or in the store itself if no administrator can log in. */
export async function adminPassword(user: string, flags: NewPasswordFlags): Promise<void> {
  const { REGENT_SERVER } = process.env
  const server = flags.server ?? (flags.data || flags.database ? undefined : REGENT_SERVER || undefined)
  const reset = server ? resetOnServer({ ...flags, server }, user) : resetOnStore(flags, user)
  const { isCreated, canLogIn } = await reset
  // In the store itself, the user also gets the role.
  const result = server ? 'a new password' : 'a new password and the role admin'
  console.log(
    isCreated
      ? `Created ${user} in the master realm, as an administrator of all realms.`
      : `The user ${user} of the master realm has ${result}.`,
  )
  if (!canLogIn)
    throw new Error(
      `${user} cannot log in with the new password yet. Correct the settings, flows and clients of the master realm with "regent apply" and --data or --database.`,
    )
}

/** Sets the password through the admin API, under the password policy. With `--create` it creates a missing administrator. */
function resetOnServer(flags: NewPasswordFlags, user: string): Promise<AdminPasswordReset> {
  return withConnection(flags, 'fail', async (connection) => {
    const existing = await findUser(connection, user)
    if (!existing && !flags.create) throw new Error(describeMissingAdministrator(user))
    const credential = { type: 'password', value: await newPassword(user, flags), temporary: false }
    if (existing) await connection.request('PUT', `${USERS}/${existing.id}/reset-password`, { body: credential })
    else await createAdministrator(connection, user, credential)
    return { isCreated: !existing, canLogIn: true }
  })
}

const USERS = '/admin/realms/master/users'

async function findUser(connection: Connection, user: string): Promise<{ readonly id: string } | undefined> {
  const query = new URLSearchParams({ username: user, exact: 'true' })
  const [existing] = await connection.request<{ id: string }[]>('GET', `${USERS}?${query}`)
  return existing
}

async function createAdministrator(connection: Connection, username: string, credential: object): Promise<void> {
  const role = await connection.request<object>('GET', '/admin/realms/master/roles/admin')
  await connection.request('POST', USERS, { body: { username, enabled: true, credentials: [credential] } })
  const { id } = (await findUser(connection, username))!
  await connection.request('POST', `${USERS}/${id}/role-mappings/realm`, { body: [role] })
}

/** Sets the password in the store. With `--create` it creates a missing administrator, and a missing store. */
async function resetOnStore(flags: NewPasswordFlags, user: string): Promise<AdminPasswordReset> {
  const at = toStoreKey(flags)
  const { create = false } = flags
  if (!create) await requireStore(at)
  const password = await newPassword(user, flags)
  if (create) await reportNewStore(at)
  const key = await readKey(at)
  const service = await openService({ location: toLocation(at), key })
  try {
    if (create) await bootstrap(service)
    return await resetAdminPassword(service, user, { password, create })
  } finally {
    await service.close()
  }
}

/** The number of characters below which a password is reported as short. */
const RECOMMENDED_LENGTH = 8

// Other users of the machine can see flags, but neither a file, nor the environment, nor the prompt.
async function newPassword(user: string, { newPassword, newPasswordFile }: NewPasswordFlags): Promise<string> {
  const { REGENT_NEW_PASSWORD } = process.env
  const advice = 'Pass the password with --new-password-file or REGENT_NEW_PASSWORD.'
  const provided = newPassword ?? (newPasswordFile ? await readFirstLine(newPasswordFile) : REGENT_NEW_PASSWORD)
  const password = provided ?? (await promptSecret(`New password of ${user}: `, advice))
  if (!password) throw new Error('The password must not be empty.')
  if (password.length < RECOMMENDED_LENGTH)
    console.error(
      `The password has fewer than ${RECOMMENDED_LENGTH} characters. Choose a longer one, unless this is a test.`,
    )
  return password
}

async function readFirstLine(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The password file ${file} cannot be read (${error.code}).`)
  })
  return text.split(/\r?\n/)[0]!
}

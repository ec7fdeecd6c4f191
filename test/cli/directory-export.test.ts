// The folder that `kc.sh export --dir --users different_files` writes is a source as it is. test/cli/directory-export has the files of
// users that Keycloak wrote, and the parts of its realm file that they refer to.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder, type RunningServer } from '../support/cli.ts'

const recorded = join(import.meta.dirname, 'directory-export')

let cli: CommandFolder
let server: RunningServer

beforeAll(async () => {
  cli = await createCommandFolder()
  await cp(recorded, join(cli.folder, 'export'), { recursive: true })
  server = await cli.serve('--source', '')
})

afterAll(() => cli.remove())

const plan = () => cli.run('plan', 'export', '--name', 'export', '--detailed-exitcode', ...adminFlags(server.url))

async function readRecorded(name: string) {
  return JSON.parse(await readFile(join(recorded, name), 'utf8'))
}

/** Requests a token for a user by password, and returns the description of the error. */
async function logIn(username: string, password: string): Promise<string> {
  const response = await fetch(`${server.url}/realms/acme/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username, password }),
  })
  const body: { readonly error_description: string } = JSON.parse(await response.text())
  return body.error_description
}

describe('a directory export of Keycloak', () => {
  test('is applied as it is, with ids, roles, groups and passwords of users', async () => {
    const applied = await cli.run('apply', 'export', '--name', 'export', ...adminFlags(server.url))
    expect(applied).toMatchObject({ code: 0 })
    const { users } = await readRecorded('acme-users-0.json')
    const { body } = await callAsAdmin<{ id: string }[]>(server.url, { path: '/acme/users?username=alice' })
    expect(body).toMatchObject([{ id: users[0].id, email: 'alice@example.org' }])
    const groups = await callAsAdmin(server.url, { path: `/acme/users/${users[0].id}/groups` })
    expect(groups.body).toMatchObject([{ path: '/staff/sales' }])
    const [account] = (await readRecorded('acme-users-2.json')).users
    const accounts = await callAsAdmin(server.url, { path: `/acme/users/${account.id}` })
    expect(accounts.body).toMatchObject({ username: 'service-account-shop' })
    // Alice must change her password first, which is checked after the password itself.
    expect(await logIn('alice', 'first-password')).toBe('Account is not fully set up')
    expect(await logIn('alice', 'another-password')).toBe('Invalid user credentials')
  })

  test('has workflows as components, which become workflows', async () => {
    const { out } = await cli.run('export', 'acme', '--output', 'json', ...adminFlags(server.url))
    expect(JSON.parse(out).workflows).toMatchObject([
      {
        name: 'full',
        enabled: false,
        if: 'has-role(clerk)',
        concurrency: { 'cancel-in-progress': 'true', 'restart-in-progress': 'true' },
        steps: [
          { uses: 'notify-user', after: 'P3D', with: { subject: 'x', to: ['a', 'b'] } },
          { uses: 'disable-user' },
        ],
      },
      { name: 'inactive users', on: 'user-authenticated' },
    ])
  })

  test('has an empty plan after the apply, whatever files have the users', async () => {
    expect(await plan()).toMatchObject({ code: 0, out: expect.stringContaining('realm acme: unchanged') })
    const names = (await readdir(recorded)).filter((name) => name.includes('users'))
    const users = (await Promise.all(names.map(readRecorded))).flatMap((file) => file.users)
    const realm = await readRecorded('acme-realm.json')
    const forms = {
      same_file: { 'acme-realm.json': realm, 'acme-users-0.json': { realm: 'acme', users } },
      realm_file: { 'acme-realm.json': { ...realm, users } },
    }
    for (const [form, files] of Object.entries(forms)) {
      await rm(join(cli.folder, 'export'), { recursive: true })
      await mkdir(join(cli.folder, 'export'))
      for (const [name, content] of Object.entries(files))
        await writeFile(join(cli.folder, 'export', name), JSON.stringify(content))
      expect(await plan(), form).toMatchObject({ code: 0, out: expect.stringContaining('realm acme: unchanged') })
    }
  })
})

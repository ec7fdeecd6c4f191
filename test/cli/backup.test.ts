// The commands backup, restore and migrate.
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { adminFlags, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

test.runIf(isFullRun)('backup of a served store, restore and migrate keep all realms and users', async () => {
  const cli = await createCommandFolder()
  try {
    await writeFile(join(cli.folder, 'shop.yaml'), 'realm: shop\nusers:\n  - username: ann\n')
    const server = await cli.serve('--source', 'shop.yaml')
    const backup = await cli.run('backup', 'shop.backup', ...adminFlags(server.url))
    expect(backup).toMatchObject({ code: 0, err: '' })
    expect(backup.out).toMatch(
      /^Backed up 2 realms with 2 users to shop.backup \(\d+ kB\)\.\n.*fingerprint \w{8}\)\.\n$/,
    )
    expect((await stat(join(cli.folder, 'shop.backup'))).mode & 0o777).toBe(0o600)
    expect((await readdir(cli.folder)).filter((name) => name.includes('backup'))).toEqual(['shop.backup'])
    await server.stop()

    const key = inject('databaseUrl') ? 'key' : 'data/key'
    const restore = await cli.run('restore', 'shop.backup', '--data', 'new', '--key-file', key)
    expect(restore).toMatchObject({ code: 0, err: '' })
    expect(restore.out).toMatch(/^Restored 2 realms with 2 users, as of \S+, into new\.\n/)
    expect(restore.out).toContain(`Serve it with: regent serve --data new --key-file ${key}\n`)

    const migration = await cli.run('migrate', '--data', 'new', '--key-file', key, '--to', 'moved')
    expect(migration).toMatchObject({ code: 0, err: '' })
    expect(migration.out).toMatch(/^Copied 2 realms with 2 users into moved\.\n/)
    const users = await cli.run('get', 'shop/users', '--data', 'moved', '--key-file', key)
    expect(JSON.parse(users.out)).toMatchObject([{ username: 'ann' }])
  } finally {
    await cli.remove()
  }
})

test('backup of a missing store and restore of an invalid file fail without creating a store', async () => {
  const cli = await createCommandFolder({ REGENT_DATABASE: '', REGENT_KEY_FILE: '' })
  try {
    expect(await cli.run('backup', 'x', '--data', 'nowhere')).toMatchObject({
      code: 1,
      err: 'There is no store in the folder nowhere. Pass its folder with --data, its database with --database, or its server with --server. "regent serve" and "regent apply" create a store.\n',
    })
    await writeFile(join(cli.folder, 'new-key'), 'a'.repeat(64))
    await writeFile(join(cli.folder, 'x'), 'something else')
    expect(await cli.run('restore', 'x', '--data', 'nowhere', '--key-file', 'new-key')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^x cannot be restored: it is not a backup of Regent, or it is damaged/),
    })
    expect(await cli.run('restore', 'x', '--data', 'nowhere')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The key file nowhere\/key cannot be read \(ENOENT\)/),
    })
    expect(await readdir(cli.folder)).not.toContain('nowhere')
  } finally {
    await cli.remove()
  }
})

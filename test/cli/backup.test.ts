// Everyday care: a command each to back up a store that is in use, to restore it, and to move it to another engine.
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

test.runIf(isFullRun)(
  'a store is backed up while it is served, restored into a folder, and moved from there',
  async () => {
    const at = await createCommandFolder()
    try {
      await writeFile(join(at.folder, 'shop.yaml'), 'realm: shop\nusers:\n  - username: ann\n')
      const server = await at.serve('--source', 'shop.yaml')
      const asAdmin = ['--server', server.url, '--user', 'admin', '--password', 'admin']
      const made = await at.run('backup', 'shop.backup', ...asAdmin)
      expect(made).toMatchObject({ code: 0, err: '' })
      expect(made.out).toMatch(/^Backed up 2 realms with 2 accounts to shop.backup \(\d+ kB\)\.\n.*the key \w{8}\.\n$/)
      expect((await stat(join(at.folder, 'shop.backup'))).mode & 0o777).toBe(0o600)
      expect((await readdir(at.folder)).filter((name) => name.includes('backup'))).toEqual(['shop.backup'])
      await server.stop()

      const key = inject('databaseUrl') ? 'key' : 'data/key'
      const restored = await at.run('restore', 'shop.backup', '--data', 'new', '--key-file', key)
      expect(restored).toMatchObject({ code: 0, err: '' })
      expect(restored.out).toMatch(/^Restored 2 realms with 2 accounts, as of \S+, into new\.\n/)
      expect(restored.out).toContain(`Serve it with: regent serve --data new --key-file ${key}\n`)

      const moved = await at.run('migrate', '--data', 'new', '--key-file', key, '--to', 'moved')
      expect(moved).toMatchObject({ code: 0, err: '' })
      expect(moved.out).toMatch(/^Copied 2 realms with 2 accounts into moved\.\n/)
      const people = await at.run('get', 'shop/users', '--data', 'moved', '--key-file', key)
      expect(JSON.parse(people.out)).toMatchObject([{ username: 'ann' }])
    } finally {
      await at.remove()
    }
  },
)

test('no store is made to back it up, and what is no back-up is not restored', async () => {
  const at = await createCommandFolder({ REGENT_DATABASE: '', REGENT_KEY_FILE: '' })
  try {
    expect(await at.run('backup', 'x', '--data', 'nowhere')).toMatchObject({
      code: 1,
      err: 'There is no store in nowhere. Pass its folder with --data, its database with --database, or its server with --server.\n',
    })
    await writeFile(join(at.folder, 'own-key'), 'a'.repeat(64))
    await writeFile(join(at.folder, 'x'), 'something else')
    expect(await at.run('restore', 'x', '--data', 'nowhere', '--key-file', 'own-key')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^x cannot be restored: it is not a backup of Regent, or it is damaged/),
    })
    expect(await at.run('restore', 'x', '--data', 'nowhere')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The key file nowhere\/key cannot be read \(ENOENT\)/),
    })
    expect(await readdir(at.folder)).not.toContain('nowhere')
  } finally {
    await at.remove()
  }
})

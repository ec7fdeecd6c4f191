// What a source settles about itself, by flags of plan and apply.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let at: CommandFolder
beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(() => at.remove())

const state = (...roles: string[]) =>
  writeFile(
    join(at.folder, 'shop.yaml'),
    `realm: shop\nroles:\n  realm:\n${roles.map((name) => `    - { name: ${name}, description: stated }\n`).join('')}`,
  )

test.runIf(isFullRun)(
  'flags settle what is pruned, what waits for an approval, and what becomes of what others change',
  async () => {
    const { url } = await at.serve('--source', '')
    const flags = ['--server', url, '--user', 'admin', '--password', 'admin']
    await state('staff', 'guest')
    await at.run('apply', 'shop.yaml', ...flags)
    await state('staff')
    expect((await at.run('plan', 'shop.yaml', '--prune', 'none', ...flags)).out).toContain('not pruned: role guest')
    for (const limit of [
      ['--max-deletions', '0'],
      ['--max-deletions', '9', '--max-deletions-share', '0.1'],
    ])
      expect((await at.run('plan', 'shop.yaml', ...limit, ...flags)).out).toMatch(
        limit.length === 2
          ? /an apply of this plan needs an approval/
          : /- role guest\nPlan: 0 to create, 0 to update, 1/,
      )

    const settled = ['--ownership', 'refuse', '--drift', 'correct', '--drift', 'role.description=report']
    await at.run('apply', 'shop.yaml', ...settled, ...flags)
    const authorization = `Bearer ${(await at.run('token', ...flags)).out.trim()}`
    const put = async (path: string, body: object) =>
      (
        await fetch(`${url}/admin/realms/shop${path}`, {
          method: 'PUT',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).status
    expect(await put('/roles/staff', { name: 'staff', description: 'theirs' })).toBe(204)
    expect(await put('/roles/staff', { name: 'crew', description: 'theirs' })).toBe(409)
    expect((await at.run('plan', 'shop.yaml', ...settled, ...flags)).out).toContain('reported only')
    expect((await at.run('plan', 'shop.yaml', ...flags)).out).toContain('theirs → stated')
  },
)

test('flags that settle nothing are told by their names', async () => {
  await state('staff')
  for (const [flag, value, message] of [
    ['--prune', 'some', /'--prune <mode>' argument 'some' is invalid/],
    ['--drift', 'role=often', /^--drift role=often: /],
    ['--drift', 'rolle=report', /^--drift rolle=report: /],
    ['--ownership', 'mine', /'--ownership <policy>' argument 'mine' is invalid/],
    ['--max-deletions', 'many', /^--max-deletions many: /],
    ['--max-deletions-share', '2', /^--max-deletions-share 2: /],
  ] as const)
    expect(await at.run('plan', 'shop.yaml', flag, value)).toMatchObject({
      code: 1,
      err: expect.stringMatching(message),
    })
})

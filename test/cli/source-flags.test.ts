// Flags of plan and apply that set the policies of a source.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

const writeRoles = (...roles: string[]) =>
  writeFile(
    join(cli.folder, 'shop.yaml'),
    `realm: shop\nroles:\n  realm:\n${roles.map((name) => `    - { name: ${name}, description: declared }\n`).join('')}`,
  )

test.runIf(isFullRun)(
  'flags set pruning, limits of deletions, ownership and the drift policy of a source',
  async () => {
    const { url } = await cli.serve('--source', '')
    const flags = adminFlags(url)
    await writeRoles('staff', 'visitor')
    await cli.run('apply', 'shop.yaml', ...flags)
    await writeRoles('staff')
    expect((await cli.run('plan', 'shop.yaml', '--prune', 'none', ...flags)).out).toContain('not pruned: role visitor')
    for (const limit of [
      ['--max-deletions', '0'],
      ['--max-deletions', '9', '--max-deletions-share', '0.1'],
    ])
      expect((await cli.run('plan', 'shop.yaml', ...limit, ...flags)).out).toMatch(
        limit.length === 2
          ? /an apply of this plan needs an approval/
          : /- role visitor .*\nPlan: 0 to create, 0 to update, 1/,
      )

    const policyFlags = ['--ownership', 'refuse', '--drift', 'correct', '--drift', 'role.description=report']
    await cli.run('apply', 'shop.yaml', ...policyFlags, ...flags)
    const putRole = async (name: string) =>
      (await callAsAdmin(url, { method: 'PUT', path: '/shop/roles/staff', body: { name, description: 'edited' } }))
        .status
    expect(await putRole('staff')).toBe(204)
    expect(await putRole('crew')).toBe(409)
    expect((await cli.run('plan', 'shop.yaml', ...policyFlags, ...flags)).out).toContain('reported only')
    expect((await cli.run('plan', 'shop.yaml', ...flags)).out).toContain('edited → declared')
  },
)

test('an invalid value of a flag is reported with the name of the flag', async () => {
  await writeRoles('staff')
  for (const [flag, value, message] of [
    ['--prune', 'some', /^--prune: some is not valid\. Allowed choices are managed, none, all\.\n/],
    ['--drift', 'role=often', /^--drift role=often: must be one of correct, report, accept, selfHeal\n$/],
    ['--drift', 'rolle=report', /^--drift rolle=report: unknown kind\. Use one such as realm, .*\.\n$/],
    ['--ownership', 'mine', /^--ownership: mine is not valid\. /],
    ['--max-deletions', 'many', /^--max-deletions many: must be a whole number, 0 or greater\n$/],
    ['--max-deletions-share', '2', /^--max-deletions-share 2: must be a number from 0 to 1\n$/],
  ] as const)
    expect(await cli.run('plan', 'shop.yaml', flag, value)).toMatchObject({
      code: 1,
      err: expect.stringMatching(message),
    })
})

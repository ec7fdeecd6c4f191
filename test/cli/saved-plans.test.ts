// The commands for saved plans and approvals.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let cli: CommandFolder
let flags: string[]

beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

/** Runs a command on the server. */
const run = (...args: string[]) => cli.run(...args, ...flags)
const startServer = async (source = '') => {
  const server = await cli.serve('--source', source)
  flags = adminFlags(server.url)
  return server
}
const file = (name: string) => join(cli.folder, name)
const writeShop = (displayName: string, roles: number) =>
  writeFile(
    file('shop.yaml'),
    `realm: shop\ndisplayName: ${displayName}\nroles: { realm: [${Array.from({ length: roles }, (_, n) => `{ name: role-${n} }`).join(', ')}] }\n`,
  )

test('apply --plan applies a saved plan, and refuses a modified, unknown or stale one', async () => {
  await startServer()
  await writeShop('One', 8)
  await run('apply', 'shop.yaml')
  await writeShop('Two', 8)
  const saved = await run('plan', 'shop.yaml', '--save', 'plan.json')
  expect(saved.out + saved.err).toMatch(
    /Saved as (\S+) and written to plan.json, until .*\nApply it with "regent apply --plan \1 --server \S+ --user admin"\.\n$/,
  )
  const text = await readFile(file('plan.json'), 'utf8')
  await writeFile(file('changed.json'), text.replace('"to": "Two"', '"to": "Three"'))
  expect(await run('apply', '--plan', 'changed.json')).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^The plan file was edited: its digest is not that of the saved plan \S+\. Use the original file, or plan again\.\n$/,
    ),
  })
  await writeFile(file('later.json'), text.replace('"formatVersion": 1', '"formatVersion": 2'))
  expect(await run('apply', '--plan', 'later.json')).toMatchObject({
    code: 1,
    err: 'later.json was written by another version of Regent. Run "regent plan" again.\n',
  })
  expect(await run('apply', '--plan', 'plan.json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/~ realm shop [\s\S]*\nApplied: 0 created, 1 updated, 0 deleted\./),
  })
  expect(await run('apply', '--plan', 'shop.yaml')).toMatchObject({
    code: 1,
    err: 'shop.yaml is not a saved plan. Apply the document with "regent apply shop.yaml".\n',
  })

  await writeShop('Four', 8)
  const [, id] = /Saved as (\S+),/.exec((await run('plan', 'shop.yaml', '--save')).out)!
  await writeShop('Five', 8)
  expect((await run('plans', id!)).out).toMatch(/: ready until \S+, created by admin\n$/)
  await run('apply', 'shop.yaml')
  expect((await run('plans', id!)).out).toContain(`${id}: may be stale, since the realm has changed; until `)
  expect(await run('apply', '--plan', id!)).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /is stale, since something has changed since it was saved\. Plan again\.\n {2}realm shop: displayName: Two → Five {2}by admin \(sha256:/,
    ),
  })
})

const PENDING = /not applied: pending approval until .*; run "regent approve ([^"]+)"/

test.runIf(isFullRun)(
  'apply of a plan pending approval exits with 1 and names the command that approves it',
  async () => {
    await startServer()
    await writeShop('One', 8)
    await run('apply', 'shop.yaml')
    await writeShop('One', 1)
    expect(await run('plan', 'shop.yaml', '--detailed-exitcode')).toMatchObject({
      code: 2,
      out: expect.stringContaining('! deletes 7 objects, more than 50 %'),
    })
    const pending = await run('apply', 'shop.yaml')
    const [, id] = PENDING.exec(pending.out)!
    expect(pending).toMatchObject({
      code: 3,
      out: expect.stringContaining('Nothing was applied.'),
      err: `The plan of realm shop is pending approval: show it with "regent plans ${id}", approve it with "regent approve ${id}".\n`,
    })
    expect((await run('plans')).out.replace(/\s+/g, ' ')).toContain(`${id} shop test at`)
    expect((await run('plans', id!)).out).toContain(`${id}: pending approval until`)
    expect(await run('approve', id!)).toMatchObject({ code: 0, out: expect.stringContaining('approved by admin') })
    expect(await run('plan', 'shop.yaml')).toMatchObject({ out: expect.stringContaining('Nothing to do.') })
    expect(await run('reject', id!)).toMatchObject({
      code: 1,
      err: `The plan ${id} was applied already. Plan again to apply later changes.\n`,
    })
  },
)

test.runIf(isFullRun)('approving the pending plan of a watched file applies it at once', async () => {
  await writeShop('One', 8)
  const server = await startServer('shop.yaml')
  const next = server.until('not applied: pending approval')
  await writeShop('One', 1)
  const [, id] = PENDING.exec(await next)!
  expect(await run('approve', id!)).toMatchObject({
    code: 0,
    out: expect.stringContaining('approved by admin'),
  })
  expect(await run('plan', 'shop.yaml')).toMatchObject({ out: expect.stringContaining('Nothing to do.') })
  expect(await server.stop()).toBe(0)
})

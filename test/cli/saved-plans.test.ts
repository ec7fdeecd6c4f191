// Saved plans and approvals, as a user meets them.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let at: CommandFolder
let flags: string[]

beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(() => at.remove())

/** A command on the server. */
const run = (...args: string[]) => at.run(...args, ...flags)
const begin = async (source = '') => {
  const server = await at.serve('--source', source)
  flags = ['--server', server.url, '--user', 'admin', '--password', 'admin']
  return server
}
const file = (name: string) => join(at.folder, name)
const stated = (displayName: string, roles: number) =>
  writeFile(
    file('shop.yaml'),
    `realm: shop\ndisplayName: ${displayName}\nroles: { realm: [${Array.from({ length: roles }, (_, n) => `{ name: role-${n} }`).join(', ')}] }\n`,
  )

test('a plan is saved into a file, applied from it as it is, and refused where the file was changed', async () => {
  await begin()
  await stated('One', 8)
  await run('apply', 'shop.yaml')
  await stated('Two', 8)
  const saved = await run('plan', 'shop.yaml', '--save', 'plan.json')
  expect(saved.out).toMatch(
    /Saved as (\S+) and written to plan.json, until .*\nApply it with "regent apply --plan \1"\.\n$/,
  )
  const text = await readFile(file('plan.json'), 'utf8')
  await writeFile(file('changed.json'), text.replace('"to": "Two"', '"to": "Three"'))
  expect(await run('apply', '--plan', 'changed.json')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^The plan \S+ has changed since it was saved\.\n$/),
  })
  await writeFile(file('later.json'), text.replace('"formatVersion": 1', '"formatVersion": 2'))
  expect(await run('apply', '--plan', 'later.json')).toMatchObject({
    code: 1,
    err: 'later.json was written by another version of Regent. Run "regent plan" again.\n',
  })
  expect(await run('apply', '--plan', 'plan.json')).toMatchObject({
    code: 0,
    out: expect.stringContaining('displayName: One → Two'),
  })
  expect(await run('apply', '--plan', 'shop.yaml')).toMatchObject({
    code: 1,
    err: 'shop.yaml is not a saved plan. "regent plan <source> --save shop.yaml" writes one.\n',
  })

  await stated('Four', 8)
  const [, id] = /Saved as (\S+),/.exec((await run('plan', 'shop.yaml', '--save')).out)!
  await stated('Theirs', 8)
  await run('apply', 'shop.yaml')
  expect(await run('apply', '--plan', id!)).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /is stale, since something has changed since it was saved\. Plan again\.\n {2}realm shop: displayName: Two → Theirs {2}by admin \(sha256:/,
    ),
  })
})

const PENDING = /not applied: pending approval until .*; run "regent approve ([^"]+)"/

test.runIf(isFullRun)('what waits makes the exit code 1, says how to approve it, and goes on with that', async () => {
  await begin()
  await stated('One', 8)
  await run('apply', 'shop.yaml')
  await stated('One', 1)
  expect(await run('plan', 'shop.yaml', '--detailed-exitcode')).toMatchObject({
    code: 2,
    out: expect.stringContaining('! deletes 7 objects, more than 50 %'),
  })
  const waits = await run('apply', 'shop.yaml')
  const [, id] = PENDING.exec(waits.out)!
  expect(waits).toMatchObject({
    code: 1,
    out: expect.stringContaining('Nothing was applied.'),
    err: `The plan of realm shop is pending approval: show it with "regent plans ${id}", approve it with "regent approve ${id}".\n`,
  })
  expect((await run('plans')).out.replace(/[│\s]+/g, ' ')).toContain(`${id} shop shop.yaml at`)
  expect((await run('plans', id!)).out).toContain(`${id}: pending approval until`)
  expect(await run('approve', id!)).toMatchObject({ code: 0, out: expect.stringContaining('approved by admin') })
  expect(await run('plan', 'shop.yaml')).toMatchObject({ out: expect.stringContaining('Nothing to do.') })
  expect(await run('reject', id!)).toMatchObject({ code: 1, err: `The plan ${id} was applied already.\n` })
})

test.runIf(isFullRun)(
  'a watched file that waits is approved on the running server, and is applied at once',
  async () => {
    await stated('One', 8)
    const server = await begin('shop.yaml')
    const next = server.until('not applied: pending approval')
    await stated('One', 1)
    const [, id] = PENDING.exec(await next)!
    expect(await run('approve', id!)).toMatchObject({
      code: 0,
      out: expect.stringContaining('approved by admin'),
    })
    expect(await run('plan', 'shop.yaml')).toMatchObject({ out: expect.stringContaining('Nothing to do.') })
    expect(await server.stop()).toBe(0)
  },
)

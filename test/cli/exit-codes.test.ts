// The exit codes of commands, and the command that a plan proposes.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { renderApplyCommand } from '../../src/cli/apply-command.ts'
import { commands } from '../../src/cli/commands.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

const declare = (displayName: string) =>
  writeFile(join(cli.folder, 'acme.yaml'), `realm: acme\ndisplayName: ${displayName}\n`)

test('plan and apply exit with 4 while a rollback suspends the source, and report it', async () => {
  await declare('One')
  expect(await cli.run('apply', 'acme.yaml')).toMatchObject({ code: 0 })
  await declare('Two')
  await cli.run('apply', 'acme.yaml')
  expect(await cli.run('rollback', 'acme', 'r2', '--yes')).toMatchObject({ code: 0 })
  const suspended = expect.stringMatching(/ suspended: \S+ rolled back to r2 at /)
  const planned = await cli.run('plan', 'acme.yaml', '--detailed-exitcode')
  expect(planned).toMatchObject({ code: 4, out: suspended })
  expect((await cli.run('plan', 'acme.yaml')).out).not.toContain('Apply it with')
  expect(await cli.run('apply', 'acme.yaml')).toMatchObject({ code: 4, out: suspended })
  const { out, err } = await cli.run('history', 'acme')
  expect(out).toContain('rollback to r2')
  expect(err).toContain('Changes of the latest: "regent diff acme r3"')
  expect(await cli.run('drift', '--detailed-exitcode')).toMatchObject({
    code: 2,
    out: expect.stringContaining('(rollback to r2)'),
    err: expect.stringContaining('"regent source resume <source>" first'),
  })
  expect((await cli.run('source', 'list')).out).toContain('rolled back to r2')
  expect((await cli.run('source', 'show', 'test')).out).toContain('rolled back to r2')

  expect(await cli.run('source', 'rename', 'test', '')).toMatchObject({
    code: 1,
    err: 'The parameter to is missing. Pass the new name.\n',
  })
  expect(await cli.run('source', 'resume', 'test')).toMatchObject({ code: 0 })
  expect(await cli.run('plan', 'acme.yaml', '--detailed-exitcode')).toMatchObject({ code: 2 })
  expect(await cli.run('apply', 'acme.yaml')).toMatchObject({ code: 0, out: expect.stringContaining('~ realm acme') })
  expect(await cli.run('plan', 'acme.yaml', '--detailed-exitcode')).toMatchObject({ code: 0 })
  expect(await cli.run('drift', '--detailed-exitcode')).toMatchObject({ code: 0 })
})

test('a command whose reader ends early is no error', async () => {
  const result = await cli.shell('regent schema | head -c 1; regent --help | head -n 1', {})
  expect(result).toMatchObject({ code: 0, err: '' })
})

test('the command that a plan proposes repeats each flag of the plan but credentials', () => {
  const apply = commands.find(({ name }) => name === 'apply')!
  const omitted = [
    '--plan',
    '--output',
    '--token',
    '--password',
    '--summary',
    '--full',
    '--target',
    '--verbose',
    '--yes',
  ]
  for (const option of apply.options!.filter(({ long }) => !omitted.includes(long!))) {
    const value = option.argChoices?.at(-1) ?? (option.required ? 'x y' : true)
    const isList = option.attributeName() === 'variables' || option.attributeName() === 'drift'
    const flags = { [option.attributeName()]: isList ? [value] : value }
    const text = value === true ? '' : ` ${value === 'x y' ? "'x y'" : value}`
    if (option.attributeName() === 'database') continue
    expect(renderApplyCommand(['my realms'], flags)).toBe(`regent apply 'my realms' ${option.long}${text}`)
  }
  expect(renderApplyCommand(['a.yaml'], { database: 'postgres://u:secret@h/d', password: 'secret' })).not.toContain(
    'secret',
  )
})

// Variables in documents: a command replaces none unless the command line allows it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ALL_VARIABLES, createVariableFilter } from '../../src/reconcile/read/variable-filter.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder({ REGENT_PASSWORD: 'S3CRET-1', ACME_NAME: 'Acme', OTHER: 'S3CRET-2' })
  await writeFile(join(cli.folder, 'secret'), 'S3CRET-3')
})
afterEach(() => cli.remove())

test('plan, validate and lint refuse variables and files by default', async () => {
  const values = ['$(env:REGENT_PASSWORD)', '$(env:OTHER)', '$(env:OTHER:-x)', '$(file:secret)', '$(env:$(env:OTHER))']
  const attributes = values.map((value, index) => `  a${index}: "${value}"\n`)
  await writeFile(join(cli.folder, 'realm.yaml'), `realm: demo\nattributes:\n${attributes.join('')}`)
  for (const command of [['plan'], ['plan', '--output', 'markdown'], ['validate'], ['lint']]) {
    const { code, out, err } = await cli.run(...command, 'realm.yaml')
    expect(code, `${command}`).toBe(1)
    for (const index of values.keys())
      expect(err).toMatch(new RegExp(`^realm.yaml:${index + 3}:.* is not allowed in documents`, 'm'))
    expect(out + err).not.toContain('S3CRET')
  }
}, 120_000)

test('--variables allows variables and files, but never the variables of Regent itself', async () => {
  const file = join(cli.folder, 'realm.yaml')
  await writeFile(file, 'realm: demo\ndisplayName: "$(env:ACME_NAME) $(file:secret)"\n')
  const plan = await cli.run('plan', 'realm.yaml', '--variables', 'env:ACME_*,file:.')
  expect(plan.out).toContain('Acme S3CRET-3')
  await writeFile(file, 'realm: demo\ndisplayName: "$(env:REGENT_PASSWORD)"\n')
  for (const list of ['env:REGENT_PASSWORD', 'env:REGENT_*', 'env:R*']) {
    const { code, out, err } = await cli.run('plan', 'realm.yaml', '--variables', list)
    expect({ code, leaks: (out + err).includes('S3CRET') }).toEqual({ code: 1, leaks: false })
  }
  const invalid = await cli.run('plan', 'realm.yaml', '--variables', 'PASSWORD')
  expect(invalid).toMatchObject({ code: 1, err: expect.stringContaining('must be like env:NAME') })
}, 60_000)

test('the default of a variable is used if the variable is not set', async () => {
  await writeFile(join(cli.folder, 'realm.yaml'), 'realm: demo\ndisplayName: "$(env:NOT_SET:-Demo)"\n')
  expect((await cli.run('plan', 'realm.yaml')).out).toContain('Demo')
})

test('documents in a folder of a development server may use every variable and file except its settings', () => {
  const isAllowed = createVariableFilter(ALL_VARIABLES)
  expect([isAllowed('env', 'OTHER'), isAllowed('file', '/etc/hostname')]).toEqual([true, true])
  expect([isAllowed('env', 'REGENT_PASSWORD'), isAllowed('env', 'regent_password')]).toEqual([false, false])
})

// What documents may take from whoever runs a command on them: nothing, unless the command line names it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ALL_VARIABLES, createVariableFilter } from '../../src/reconcile/read/variable-filter.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let at: CommandFolder
beforeEach(async () => {
  at = await createCommandFolder({ REGENT_PASSWORD: 'S3CRET-1', ACME_NAME: 'Acme', OTHER: 'S3CRET-2' })
  await writeFile(join(at.folder, 'secret'), 'S3CRET-3')
})
afterEach(() => at.remove())

test('plan, validate and lint show no variable and no file of the process', async () => {
  const values = ['$(env:REGENT_PASSWORD)', '$(env:OTHER)', '$(env:OTHER:-x)', '$(file:secret)', '$(env:$(env:OTHER))']
  const attributes = values.map((value, at) => `  a${at}: "${value}"\n`)
  await writeFile(join(at.folder, 'realm.yaml'), `realm: demo\nattributes:\n${attributes.join('')}`)
  for (const command of [['plan'], ['plan', '--output', 'markdown'], ['validate'], ['lint']]) {
    const { code, out, err } = await at.run(...command, 'realm.yaml')
    expect(code, `${command}`).toBe(1)
    for (const at of values.keys())
      expect(err).toMatch(new RegExp(`^realm.yaml:${at + 3}:.* is not allowed in documents here`, 'm'))
    expect(out + err).not.toContain('S3CRET')
  }
}, 120_000)

test('--variables names what documents get, and the variables of Regent itself are never given', async () => {
  const file = join(at.folder, 'realm.yaml')
  await writeFile(file, 'realm: demo\ndisplayName: "$(env:ACME_NAME) $(file:secret)"\n')
  const given = await at.run('plan', 'realm.yaml', '--variables', 'env:ACME_*,file:.')
  expect(given.out).toContain('Acme S3CRET-3')
  await writeFile(file, 'realm: demo\ndisplayName: "$(env:REGENT_PASSWORD)"\n')
  for (const list of ['env:REGENT_PASSWORD', 'env:REGENT_*', 'env:R*']) {
    const { code, out, err } = await at.run('plan', 'realm.yaml', '--variables', list)
    expect({ code, leaks: (out + err).includes('S3CRET') }).toEqual({ code: 1, leaks: false })
  }
  const wrong = await at.run('plan', 'realm.yaml', '--variables', 'PASSWORD')
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('must be like env:NAME') })
}, 60_000)

test('a default serves where its variable is not set', async () => {
  await writeFile(join(at.folder, 'realm.yaml'), 'realm: demo\ndisplayName: "$(env:NOT_SET:-Demo)"\n')
  expect((await at.run('plan', 'realm.yaml')).out).toContain('Demo')
})

test('a server in development gives documents in its folders everything but its own settings', () => {
  const allowed = createVariableFilter(ALL_VARIABLES)
  expect([allowed('env', 'OTHER'), allowed('file', '/etc/hostname')]).toEqual([true, true])
  expect([allowed('env', 'REGENT_PASSWORD'), allowed('env', 'regent_password')]).toEqual([false, false])
})

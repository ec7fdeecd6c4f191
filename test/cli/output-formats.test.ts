// The JSON of commands: each output is as the schema of its format describes it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutputSchema, type OutputFormatName, outputFormats } from '../../src/cli/output-formats.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeAll(async () => {
  cli = await createCommandFolder()
  await writeFile(
    join(cli.folder, 'acme.yaml'),
    'realm: acme\nclients: [{ clientId: web, redirectUris: ["https://*"] }]\n',
  )
  await writeFile(join(cli.folder, 'invalid.yaml'), 'realm: acme\nenabled: true\nnme: ACME\n')
  await cli.run('apply', 'acme.yaml')
  await writeFile(join(cli.folder, 'changed.yaml'), 'realm: acme\nclients: [{ clientId: web, name: Web }]\n')
  await cli.run('rollback', 'acme', 'r1', '--yes')
})
afterAll(() => cli.remove())

const ajv = new Ajv2020({ strict: false, validateFormats: false })

/** Asserts that a text is JSON of a format, and returns it. */
function parseAs(format: OutputFormatName, text: string): unknown {
  const json: unknown = JSON.parse(text)
  const validate = ajv.compile(createOutputSchema(format))
  expect(validate(json), JSON.stringify(validate.errors)).toBe(true)
  expect(json).toHaveProperty('formatVersion', 1)
  return json
}

test.each<[OutputFormatName, ...string[]]>([
  ['plan', 'plan', 'acme.yaml'],
  ['plan', 'apply', 'changed.yaml'],
  ['drift', 'drift'],
  ['history', 'history', 'acme'],
  ['validate', 'validate', 'acme.yaml'],
  ['lint', 'lint', 'acme.yaml'],
])('the JSON of format %s is as described: %s', async (format, ...args) => {
  const { out, err } = await cli.run(...args, '--output', 'json')
  expect(err).toBe('')
  parseAs(format, out)
})

test('an error is JSON on the standard error output, with file, line and column of each problem', async () => {
  const { code, out, err } = await cli.run('plan', 'invalid.yaml', '--output=json')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(parseAs('error', err)).toMatchObject({
    error: { problems: [{ file: 'invalid.yaml', line: 3, column: 1, message: expect.stringContaining('nme') }] },
  })
  const missing = await cli.run('history', 'nowhere', '--output', 'json')
  expect(parseAs('error', missing.err)).toMatchObject({
    error: { status: 404, message: expect.stringContaining('There is no realm nowhere.'), problems: [] },
  })
})

test('schema prints the schema of each format, and documents by default', async () => {
  for (const format of Object.keys(outputFormats) as OutputFormatName[]) {
    const { out } = await cli.run('schema', format)
    expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(createOutputSchema(format))))
  }
  const documents = await readFile(new URL('../../schema/realm.schema.json', import.meta.url), 'utf8')
  expect(JSON.parse((await cli.run('schema')).out)).toEqual(JSON.parse(documents))
})

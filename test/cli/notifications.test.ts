// Notifications of a server, at a real receiver: of a followed source, an administrator, and several receivers with templates.
import { createHmac } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readReceiversFile } from '../../src/cli/notification-receivers.ts'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder } from '../support/cli.ts'
import { createInbox } from '../support/inbox.ts'
import { freePort } from '../support/postgres.ts'

interface Post {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: the body of a notification, which the test checks
  readonly json: any
}

const posts = createInbox<Post>()
const receiver = createServer(async (request, response) => {
  const body = await text(request)
  response.end('ok')
  posts.put({ path: request.url!, headers: request.headers, body, json: JSON.parse(body) })
})
let cli: CommandFolder
let url: string
beforeAll(async () => {
  cli = await createCommandFolder()
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
})
afterAll(async () => {
  receiver.close()
  await cli?.remove()
})

const write = (file: string, content: string) => writeFile(join(cli.folder, file), content)
const ROLES = Array.from({ length: 30 }, (_, at) => `    - name: role-${at}\n`).join('')
const untilEvent = (path: string, event: string) =>
  posts.until((post) => post.path === path && post.json.event === event)

test('receivers are notified of what a source applies, of its refused and pending changes, and of drift', async () => {
  await write('secret', 'shared\n')
  await write(
    'receivers.yaml',
    `receivers:
  - url: ${url}/json
    secret: $(file:secret)
  - url: ${url}/slack
    format: slack
    events: [refused, pendingApproval, applied]
    realms: [ac*]
    templates:
      applied: ":rocket: {{ realm }} <!here> {{source}}: {{summary}}"
  - url: ${url}/other
    realms: [other]
`,
  )
  await write('acme.yaml', `realm: acme\ndisplayName: A & <B>\nroles:\n  realm:\n${ROLES}`)
  const port = await freePort()
  const base = `http://localhost:${port}`
  const settings = ['--notifications', 'receivers.yaml', '--port', String(port), '--hostname', base]
  const server = await cli.serve('--source', 'acme.yaml', ...settings)
  const flags = adminFlags(server.url)

  const applied = await untilEvent('/json', 'applied')
  const revision = applied.json.sources[0].revision
  expect(applied.json).toEqual({
    event: 'applied',
    at: expect.any(String),
    text: expect.stringMatching(/^Realm acme\nApplied: \d+ created, /),
    url: `${base}/console/master/realms/acme/history`,
    realm: 'acme',
    sources: [{ name: 'test', revision }],
    by: 'test',
    summary: expect.stringMatching(/^Applied: 3\d created, 0 updated, 0 deleted\.$/),
    objects: expect.arrayContaining([{ operation: 'create', kind: 'realm', key: ['acme'] }]),
  })
  expect(applied.headers).toMatchObject({
    'x-regent-event': 'applied',
    'x-hub-signature-256': `sha256=${createHmac('sha256', 'shared').update(applied.body).digest('hex')}`,
  })
  const slack = await posts.until(({ path }) => path === '/slack')
  expect(slack.json).toEqual({
    text: expect.stringMatching(/^:rocket: acme <!here> test: Applied: 3\d created, 0 updated, 0 deleted\.$/),
  })

  await write('acme.yaml', 'realm: acme\ndisplayName: A & <B>\nroles: <none>\n')
  const refused = await untilEvent('/json', 'refused')
  expect(refused.json).toMatchObject({
    source: 'test',
    realms: ['acme'],
    problems: [{ file: 'acme.yaml', line: 3, column: 1 }],
    url: `${base}/console/master/sources/test`,
  })
  const refusedText = await posts.until(({ path, json }) => path === '/slack' && json.text.includes('not applied'))
  expect(refusedText.json.text).toMatch(/^Source test was not applied.*\nacme\.yaml:3:1: /)
  expect(refusedText.json.text).toContain(`\n<${base}/console/master/sources/test|Open in the console>`)

  await write('acme.yaml', 'realm: acme\ndisplayName: A & <B>\n')
  const pending = await untilEvent('/json', 'pendingApproval')
  expect(pending.json).toMatchObject({
    realms: ['acme'],
    sources: [{ name: 'test' }],
    guards: [{ guard: 'deletions', message: expect.stringContaining('30') }],
    text: expect.stringContaining(`Approve it with "regent approve ${pending.json.plan}" until `),
  })
  expect(await cli.run('approve', pending.json.plan, ...flags)).toMatchObject({ code: 0 })
  const approved = await posts.until(({ path, json }) => path === '/json' && json.plan && json.event === 'applied')
  expect(approved.json).toMatchObject({ plan: pending.json.plan, approvedBy: 'admin', by: 'test' })

  const changed = { method: 'PUT', path: '/acme', body: { displayName: 'Changed' } }
  expect(await callAsAdmin(server.url, changed)).toMatchObject({ status: 204 })
  const drift = await untilEvent('/json', 'drift')
  expect(drift.json).toMatchObject({
    realm: 'acme',
    number: 1,
    events: [{ event: 'drift', kind: 'realm', path: 'displayName', live: 'Changed', by: { name: 'admin' } }],
    text: expect.stringContaining('realm acme: displayName was changed by admin'),
  })

  await mkdir(join(cli.folder, 'two'))
  for (const realm of ['more', 'less']) await write(`two/${realm}.yaml`, `realm: ${realm}\n`)
  expect(await cli.run('apply', 'two', '--name', 'two', ...flags)).toMatchObject({ code: 0 })
  await posts.until(({ path, json }) => path === '/json' && json.realm === 'more')
  await rm(join(cli.folder, 'two', 'more.yaml'))
  await cli.run('apply', 'two', '--name', 'two', ...flags)
  const deletion = await posts.until(({ path, json }) => path === '/json' && json.guards?.[0].guard === 'deletesRealm')
  expect(await cli.run('approve', deletion.json.plan, ...flags)).toMatchObject({ code: 0 })
  const deleted = await posts.until(
    ({ path, json }) => path === '/json' && json.realm === 'more' && json.objects[0]?.operation === 'delete',
  )
  expect(deleted.json).toMatchObject({ realm: 'more', by: 'admin', summary: expect.stringContaining('1 deleted') })
  expect(await server.stop()).toBe(0)
  const slackTexts = posts.all.filter(({ path }) => path === '/slack').map(({ json }) => json.text)
  expect(slackTexts.filter((line) => line.includes('realm more') || line.includes('Realm more'))).toEqual([])
  expect(posts.all.filter(({ path }) => path === '/other')).toEqual([])
})

describe('a file of receivers is refused', () => {
  const cases: readonly [text: string, message: string][] = [
    ['', 'is empty. Declare receivers, or omit --notifications.'],
    ['receivers: []', '1:1: receivers: must not be empty'],
    ['receiver: []', '1:1: unknown field receiver. Did you mean receivers?'],
    ['receivers:\n  - url: ftp://x', '2:5: receivers.0.url: must be an http or https URL'],
    ['receivers:\n  - url: http://x\n    event: [drift]', '3:5: unknown field event. Did you mean events?'],
    ['receivers:\n  - url: http://x\n    events: [drifted]', 'must be one of applied, pendingApproval, refused, drift'],
    ['receivers:\n  - url: http://x\n    format: teams', '3:5: receivers.0.format: must be json or slack'],
    ['receivers:\n  - url: http://x\n    templates:\n      drifted: x', '4:7: '],
    ['receivers:\n  - url: $(env:NO_SUCH_URL)', 'the environment variable is not set'],
    [
      'receivers:\n  - url: http://x\n    templates:\n      drift: "{{real}}"',
      '4:7: {{real}} is unknown: use {{text}}, {{event}}, {{realm}}',
    ],
  ]
  test.each(cases)('%j', async (content, message) => {
    const file = join(cli.folder, 'bad.yaml')
    await writeFile(file, content)
    const read = readReceiversFile(file, { env: {}, consoleUrl: undefined })
    await expect(read).rejects.toThrow(message)
  })
})

test('docs/notifications.md describes each event and each text of a template', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'notifications.md'), 'utf8')
  const { NOTIFIED_EVENTS, NOTIFICATION_TEXTS } = await import('../../src/service/context/notification-receiver.ts')
  for (const word of NOTIFIED_EVENTS) expect(page).toContain(`\n| \`${word}\` |`)
  for (const word of NOTIFICATION_TEXTS) expect(page).toContain(`\n| \`{{${word}}}\` |`)
})

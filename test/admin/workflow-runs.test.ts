// When workflows run: by schedules, by administrators, after restarts of the server, and for many users at a time.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { newDatabase, newRealm, openNewService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'
import { openWorkflowServer, runDueWorkflows, WAIT } from '../support/workflow-realm.ts'

const DAY = 24 * 3600
const server = await openWorkflowServer()
afterAll(() => server.close())

const setAttribute = (name: string, after?: string) => ({
  uses: 'set-user-attribute',
  with: { [name]: 'yes' },
  ...(after !== undefined && { after }),
})

test('a schedule starts a workflow at each interval, for as many users as its batch size who meet its condition', async () => {
  const realm = await server.createRealm()
  await realm.createWorkflow({
    if: 'has-user-attribute(team:it) and not has-user-attribute(seen)',
    schedule: { after: '1d', 'batch-size': 2 },
    steps: [setAttribute('seen')],
  })
  for (const username of ['user-a', 'user-b', 'user-c', 'user-d', 'user-e'])
    await realm.createUser({ username, attributes: { team: [username === 'user-e' ? 'hr' : 'it'] } })
  const countSeen = async () => (await realm.get('users?q=seen:yes')).length
  await server.run()
  expect(await countSeen()).toBe(0)
  for (const expected of [2, 4, 4]) {
    server.later(DAY)
    await server.run()
    await server.run()
    expect(await countSeen()).toBe(expected)
  }
})

test('a disabled or deleted workflow has no schedule', async () => {
  const realm = await server.createRealm()
  const workflow = { name: 'w', schedule: { after: '1d' }, steps: [setAttribute('seen')] }
  const disabled = await realm.createWorkflow(workflow)
  const deleted = await realm.createWorkflow({ ...workflow, name: 'deleted' })
  await realm.put(`workflows/${disabled}`, { ...workflow, enabled: false })
  await realm.delete(`workflows/${deleted}`)
  server.later(2 * DAY)
  await server.run()
  expect(await realm.get('users?q=seen:yes')).toEqual([])
})

test.each([
  ['100', 100],
  ['5000ms', 5],
  ['10d', 10 * DAY],
  ['PT1H', 3600],
  ['0', 0],
  ['-5', 0],
])('activation with notBefore=%s delays the first step by %i seconds', async (notBefore, seconds) => {
  const realm = await server.createRealm()
  const workflow = await realm.createWorkflow({ steps: [setAttribute('first'), WAIT] })
  const user = await realm.createUser()
  await realm.post(`workflows/${workflow}/activate/USERS/${user}?notBefore=${notBefore}`)
  const [scheduled] = await realm.get(`workflows/scheduled/${user}`)
  expect(scheduled.steps[0]['scheduled-at']).toBe(server.now().getTime() + seconds * 1000)
  expect(scheduled.steps[1]['scheduled-at']).toBe(server.now().getTime() + (seconds + 30 * DAY) * 1000)
  server.later(seconds)
  await server.run()
  expect((await realm.get(`users/${user}`)).attributes).toEqual({ first: ['yes'] })
})

test.each(['soon', '2030-01-01', '2030-01-01T00:00:00Z'])(
  'with the invalid notBefore %s, a workflow does not start',
  async (notBefore) => {
    const realm = await server.createRealm()
    const workflow = await realm.createWorkflow({})
    const user = await realm.createUser()
    await realm.post(`workflows/${workflow}/activate/USERS/${user}?notBefore=${notBefore}`)
    expect(await realm.listInProgress(user)).toEqual([])
  },
)

test('a migration moves executions to a step of the same or another workflow', async () => {
  const realm = await server.createRealm()
  const first = await realm.createWorkflow({ name: 'first', steps: [WAIT, setAttribute('end', '1d')] })
  const second = await realm.createWorkflow({
    name: 'second',
    if: 'has-user-attribute(team)',
    steps: [WAIT, setAttribute('relocated')],
  })
  const clients = await realm.createWorkflow({ name: 'clients', steps: [{ uses: 'disable-client', after: '1d' }] })
  const stepOf = async (workflow: string, at: number) => (await realm.get(`workflows/${workflow}`)).steps[at].id
  const migrate = async (from: string, to: string) => realm.post(`workflows/migrate?from=${from}&to=${to}`)
  const user = await realm.createUser({ attributes: { team: ['it'] } })
  await realm.post(`workflows/${first}/activate/USERS/${user}`)
  await migrate(await stepOf(first, 0), await stepOf(first, 1))
  const [inFirst] = await realm.get(`workflows/scheduled/${user}`)
  expect(inFirst.steps.map(({ status }: { status: string }) => status)).toEqual(['COMPLETED', 'PENDING'])
  await expect(migrate(await stepOf(first, 1), await stepOf(clients, 0))).rejects.toThrow('different resource types')
  await migrate(await stepOf(first, 1), await stepOf(second, 1))
  expect(await realm.listInProgress(user)).toEqual(['second'])
  await server.run()
  expect((await realm.get(`users/${user}`)).attributes).toEqual({ team: ['it'], relocated: ['yes'] })
  const other = await realm.createUser({ username: 'other' })
  await realm.post(`workflows/${first}/activate/USERS/${other}`)
  await expect(migrate(await stepOf(first, 0), await stepOf(second, 1))).rejects.toThrow('does not satisfy')
  await expect(migrate('nowhere', await stepOf(second, 1))).rejects.toThrow('Not a valid workflow resource: nowhere')
  await expect(realm.post('workflows/migrate')).rejects.toThrow("Both 'from' and 'to' step ids must be provided")
})

test('notify-user sends an email with the values of its placeholders, or the text for the next step', async () => {
  const realm = await server.createRealm()
  const message = 'Hello ${user.firstName}, <b>${realm.name}</b> ${workflow.daysUntilNextStep} ${user.none:-}'
  await realm.createWorkflow({
    on: 'user_created',
    steps: [
      { uses: 'notify-user', with: { message, subject: 'Own' } },
      { uses: 'notify-user', with: { to: 'chief@example.org', reason: 'holiday' } },
      { uses: 'disable-user', after: '3d' },
    ],
  })
  await realm.createUser({ firstName: 'Bob', email: 'bob@example.org' })
  await realm.createUser({ username: 'without-email' })
  await server.outbox.close()
  const reports = await server.run()
  expect(reports).toEqual([
    `Step 1 of the workflow w in the realm ${realm.name}: the user without-email has no email address`,
  ])
  const emails = await readOutbox(realm.name)
  expect(emails).toMatchObject([
    {
      to: 'bob@example.org',
      template: 'accountNotification',
      notification: { subject: 'Own', days: 0, placeholders: { 'user.firstName': 'Bob' } },
    },
    { to: 'chief@example.org', template: 'accountDisableNotification', values: { days: '3', reason: 'holiday' } },
    { to: 'chief@example.org', template: 'accountDisableNotification' },
  ])
})

/** Returns the emails in the outbox, by recipient and template. */
async function readOutbox(realm: string) {
  return server.service.read(SYSTEM, realm, async ({ tx, vault, realm: { number } }) => {
    const { rows } = await sql<{ body: string }>`select body from outbox where realm = ${number}`.execute(tx)
    const emails = rows.map(({ body }) => JSON.parse(vault.open(body)))
    return emails.toSorted((a, b) => `${a.to} ${a.template}`.localeCompare(`${b.to} ${b.template}`))
  })
}

test('after 40 days and a restart in between, each due step was executed once', async () => {
  let now = new Date('2030-01-01T00:00:00Z')
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
  const location = inject('databaseUrl') ? await newDatabase() : { folder }
  const open = () => openService({ location, key: new Uint8Array(32), clock: () => now })
  let service = await open()
  try {
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    const realm = await newRealm(service)
    const step = (at: number) => ({ uses: 'set-user-attribute', after: '10d', with: { step: String(at) } })
    const representation = { name: 'w', on: 'user_created', steps: [1, 2, 3, 4].map(step) }
    await service.write(SYSTEM, realm, (context) => writers.workflow.create(context, [{ representation }]))
    const user = { username: 'bob', enabled: true }
    await service.write(SYSTEM, realm, (context) => writers.user.create(context, [{ representation: user }]))
    const history: unknown[] = []
    for (let day = 0; day <= 45; day++) {
      await runDueWorkflows(service)
      const [bob] = await service.read(SYSTEM, realm, (context) => writers.user.list(context, { keys: [['bob']] }))
      history.push(bob!.representation.attributes ?? null)
      now = new Date(now.getTime() + DAY * 1000)
      if (day % 7 === 0) {
        await service.close()
        service = await open()
      }
    }
    expect([9, 10, 19, 20, 30, 40, 45].map((day) => history[day])).toEqual(
      [null, '1', '1', '2', '3', '4', '4'].map((value) => value && { step: [value] }),
    )
    const changes = await service.read(SYSTEM, realm, async ({ tx, realm: { number } }) =>
      sql`select from user_journal where realm = ${number} and actor ->> 'workflow' = 'w'`.execute(tx),
    )
    expect(changes.rows).toHaveLength(4)
  } finally {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  }
})

test('a step that is due for 1,000 users needs as many statements as for 10', async () => {
  const count = async (users: number) => {
    let statements = 0
    const counted = await openNewService({ onStatement: () => statements++ })
    await counted.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    const realm = await newRealm(counted)
    const steps = [{ uses: 'grant-role', with: { role: 'offline_access' } }, { uses: 'disable-user' }, WAIT]
    const workflow = { name: 'w', on: 'user_created', steps }
    await counted.write(SYSTEM, realm, (context) => writers.workflow.create(context, [{ representation: workflow }]))
    const names = Array.from({ length: users }, (_, at) => ({ representation: { username: `u-${at}`, enabled: true } }))
    await counted.write(SYSTEM, { realm, isLarge: true }, (context) => writers.user.create(context, names))
    statements = 0
    await runDueWorkflows(counted)
    const enabled = await counted.read(SYSTEM, realm, (context) => writers.user.list(context, {}))
    expect(enabled.filter(({ representation }) => representation.enabled === true)).toEqual([])
    await counted.close()
    return statements
  }
  const few = await count(10)
  // 1,000 users are two batches of 500.
  expect(await count(1000)).toBeLessThanOrEqual(2 * few)
})

test('a change by a workflow is drift that is only reported, with the workflow as its author', async () => {
  const { service } = server
  const realm = await newRealm(service)
  const document = {
    realm,
    workflows: [
      {
        name: 'leaver',
        on: 'user_role_granted(offline_access)',
        steps: [setAttribute('remaining'), { uses: 'set-user-attribute', with: { team: 'none' } }],
      },
    ],
    users: [{ username: 'bob', enabled: true, attributes: { team: ['it'] } }],
  }
  const source = createSource([document], realm)
  await applySource(service, source)
  const [bob] = await service.read(SYSTEM, realm, (context) => writers.user.list(context, { keys: [['bob']] }))
  await service.write(SYSTEM, realm, (context) =>
    writers.user.update(context, [{ live: bob!, set: {}, relations: { realmRoles: { add: [['offline_access']] } } }]),
  )
  await runDueWorkflows(service)
  const drift = await listDrift(service, SYSTEM, realm)
  expect(drift).toMatchObject([{ path: 'attributes.team', by: { kind: 'workflow', name: 'workflow leaver' } }])
  await applySource(service, source)
  const [after] = await service.read(SYSTEM, realm, (context) => writers.user.list(context, { keys: [['bob']] }))
  expect(after!.representation.attributes).toEqual({ team: ['none'], remaining: ['yes'] })
})

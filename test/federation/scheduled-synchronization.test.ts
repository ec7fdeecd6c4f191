// Users of directories are synchronized at intervals, once across servers.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { userStoreTasks } from '../../src/service/federation/synchronize.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { listObjects } from '../../src/service/objects/live-objects.ts'
import { startTaskRunner } from '../../src/service/tasks/scheduled-tasks.ts'
import { selectEntries } from '../../src/store/journal/journal.ts'
import { createStore, FOLDERS, renderUser } from '../support/directory.ts'
import { newName } from '../support/service.ts'
import { openServiceReplicas } from '../support/service-replicas.ts'
import { hasSlapd, startSlapd, type TestDirectory } from '../support/slapd.ts'

const HOUR = 3600
let now = new Date('2030-01-01T00:00:00Z')
const pass = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000)
}
const { service, other } = await openServiceReplicas(() => now)
let directory: TestDirectory
let realm: string
let runs: string[]
let reports: string[]

/** The handlers of the servers, which also record the types of the tasks of the realm. */
const handlers = Object.fromEntries(
  Object.entries(userStoreTasks).map(([type, handle]) => [
    type,
    (run: Parameters<typeof handle>[0]) => {
      if (run.realm === realm) runs.push(type)
      return handle(run)
    },
  ]),
)

/** Runs what is due in both servers. Returns the types of the tasks. */
async function runDue(): Promise<string[]> {
  runs = []
  const runners = [service, other].map((server) =>
    startTaskRunner(server, handlers, ({ message }) => {
      if (message.includes(realm)) reports.push(message)
    }),
  )
  for (const runner of runners) await runner.whenIdle()
  for (const runner of runners) await runner.close()
  return runs.sort()
}

async function changeStore(change: 'delete' | Readonly<Record<string, string>>): Promise<void> {
  await service.write(SYSTEM, realm, async (context) => {
    const components = await listObjects(context, 'component', {})
    const store = components.find(({ representation }) => representation.providerId === 'ldap')!
    if (change === 'delete') return writers.component.delete(context, [store])
    const set = Object.fromEntries(Object.entries(change).map(([name, value]) => [`config.${name}`, [value]]))
    await writers.component.update(context, [{ live: store, set }])
  })
}

const listUsernames = () =>
  service.read(SYSTEM, realm, async (context) =>
    (await listObjects(context, 'user', {})).map(({ key }) => key[0]).sort(),
  )

describe.skipIf(!hasSlapd)('with a directory', () => {
  beforeAll(async () => {
    directory = await startSlapd({ entries: [FOLDERS, renderUser('ann'), renderUser('bob')].join('\n') })
  })
  afterAll(() => directory?.remove())
  beforeEach(async () => {
    reports = []
    realm = newName()
    await service.createRealm(SYSTEM, { representation: { realm } }, async () => {})
    const { name, providerType, ...component } = createStore(directory.url, {
      fullSyncPeriod: String(24 * HOUR),
      changedSyncPeriod: String(HOUR),
    })
    const representation: Representation = { path: `${providerType}/${name}`, ...component }
    await service.write(SYSTEM, realm, (context) => writers.component.create(context, [{ representation }]))
  })

  test('two servers synchronize changed users once an hour, and all users once a day', async () => {
    expect(await runDue()).toEqual([])
    pass(HOUR)
    expect(await runDue()).toEqual(['user-store-changed-sync'])
    expect(await runDue()).toEqual([])
    pass(23 * HOUR)
    expect(await runDue()).toEqual(['user-store-changed-sync', 'user-store-full-sync'])
    expect(await listUsernames()).toEqual(['ann', 'bob'])
    expect(reports).toEqual([])
  })

  test('a changed interval counts from the last synchronization', async () => {
    await changeStore({ fullSyncPeriod: String(2 * HOUR), changedSyncPeriod: '-1' })
    pass(2 * HOUR)
    expect(await runDue()).toEqual(['user-store-full-sync'])
    await changeStore({ fullSyncPeriod: '60' })
    pass(60)
    expect(await runDue()).toEqual(['user-store-full-sync'])
  })

  test('a disabled or removed user store is not synchronized', async () => {
    for (const change of [{ enabled: 'false' }, 'delete'] as const) {
      await changeStore(change)
      pass(30 * 24 * HOUR)
      expect(await runDue()).toEqual([])
    }
    expect(await listUsernames()).toEqual([])
  })

  test('an enabled user store is synchronized again', async () => {
    await changeStore({ enabled: 'false' })
    await changeStore({ enabled: 'true' })
    pass(HOUR)
    expect(await runDue()).toEqual(['user-store-changed-sync'])
  })

  test('a synchronization that fails is reported, and retried after a minute', async () => {
    await changeStore({ connectionUrl: 'ldap://127.0.0.1:1', changedSyncPeriod: '-1' })
    pass(24 * HOUR)
    expect(await runDue()).toEqual(['user-store-full-sync'])
    expect(reports).toEqual([expect.stringContaining('The task user-store-full-sync')])
    await changeStore({ connectionUrl: directory.url })
    pass(60)
    expect(await runDue()).toEqual(['user-store-full-sync'])
    expect(await listUsernames()).toEqual(['ann', 'bob'])
  })

  test('the journal names the user federation provider as author', async () => {
    pass(24 * HOUR)
    await runDue()
    const actors = await service.read(SYSTEM, realm, async (context) => {
      const users = await listObjects(context, 'user', {})
      const objects = users.map(({ kind, id }) => ({ kind, object: id }))
      return (await selectEntries(context.tx, context.realm.number, { objects, isUserData: true })).map(
        ({ actor }) => actor,
      )
    })
    expect(actors).toContainEqual({ kind: 'federation', provider: 'directory' })
  })
})

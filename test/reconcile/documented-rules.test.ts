// A test for each situation of docs/rules.md, with its name.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { rollback } from '../../src/reconcile/history/history.ts'
import { createVariableFilter } from '../../src/reconcile/read/variable-filter.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { createObject, deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { createPlanClient } from '../support/plan-client.ts'
import {
  apply,
  exportDocument,
  getLive,
  plan,
  readClientSecret,
  realm,
  service,
  useNewRealmPerTest,
} from '../support/realm-documents.ts'
import { testServer } from '../support/server.ts'
import { newDatabase, newName } from '../support/service.ts'
import { ANN, applySource, createSource, listProblems, planText } from '../support/sources.ts'

useNewRealmPerTest()

const server = await testServer()

const rules = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8')
const documentedSituations = [...rules.matchAll(/^\| \d+ \| ([^|]+?) \|/gm)].map(([, situation]) => situation)
const testedSituations: string[] = []

/** Adds the test of a situation. */
function situation(name: string, work: () => Promise<void>): void {
  testedSituations.push(name)
  test(name, work)
}

const getSettings = async () => (await getLive('realm', realm)).representation
const listClientNames = async () => [...(await listLiveObjects(service, SYSTEM, realm, 'client')).keys()]
const expectDeleted = (...key: string[]) => expect(getLive('client', ...key)).rejects.toThrow(/there is no client/)
const shop = (fields: object = {}) => ({ clients: [{ clientId: 'shop', ...fields }] })
const createNamedSource = (name: string, document: object) => createSource([{ realm, ...document }], `${name}-${realm}`)
const listMessages = (error: unknown) => listProblems(error).map(({ message }) => message)

describe('several sources', () => {
  situation('two sources declare one realm', async () => {
    const both = [createNamedSource('platform', { displayName: 'One' }), createNamedSource('team', shop())]
    const { realms } = await applySources(service, SYSTEM, both)
    expect(realms).toHaveLength(1)
    expect(await listClientNames()).toContain('shop')
    await applySources(service, SYSTEM, [
      createNamedSource('platform', { displayName: 'Two' }),
      createNamedSource('team', { enabled: true }),
    ])
    expect((await getSettings()).displayName).toBe('Two')
    await expectDeleted('shop')
  })

  situation('two sources declare different values for one field', async () => {
    const both = [
      createNamedSource('platform', { displayName: 'One' }),
      createNamedSource('team', { displayName: 'Two' }),
    ]
    const refusal = await applySources(service, SYSTEM, both).catch(listMessages)
    expect(refusal).toEqual([
      expect.stringContaining(`displayName is declared differently at team-${realm}-1.yaml:`),
      expect.stringContaining(`displayName is declared differently at platform-${realm}-1.yaml:`),
    ])
    expect((await getSettings()).displayName).toBeUndefined()
  })

  situation('a source is not read in a run', async () => {
    await applySource(service, createNamedSource('platform', { displayName: 'One', ...shop() }))
    await applySource(service, createNamedSource('team', { clients: [{ clientId: 'till' }] }))
    expect(await listClientNames()).toEqual(expect.arrayContaining(['shop', 'till']))
    expect(await applySource(service, createNamedSource('team', { displayName: 'Two' })).catch(listMessages)).toEqual([
      expect.stringContaining(`displayName is declared differently by source platform-${realm}`),
    ])
  })

  situation('a folder is renamed', async () => {
    const before = createNamedSource('folder', shop({ name: 'Shop' }))
    await applySource(service, before)
    const renamedFolder = createNamedSource('renamed', shop({ name: 'Other' }))
    expect(await applySource(service, renamedFolder).catch(listMessages)).toEqual([
      expect.stringContaining(`--name ${before.name}`),
    ])
    const { id } = await getLive('client', 'shop')
    await applySource(service, { ...renamedFolder, name: before.name })
    expect(await getLive('client', 'shop')).toMatchObject({ id, representation: { name: 'Other' } })
  })

  situation('an object moves from one source to another', async () => {
    const declared = { ...shop({ name: 'Shop' }) }
    await applySources(service, SYSTEM, [
      createNamedSource('platform', { displayName: 'One', ...declared }),
      createNamedSource('team', { enabled: true }),
    ])
    const { id } = await getLive('client', 'shop')
    const sources = [
      createNamedSource('platform', { displayName: 'One' }),
      createNamedSource('team', { enabled: true, ...declared }),
    ]
    expect((await planSources(service, SYSTEM, sources)).realms[0]!.plan.actions).toEqual([])
    await applySources(service, SYSTEM, sources)
    expect((await getLive('client', 'shop')).id).toBe(id)
    await applySources(service, SYSTEM, [sources[0]!, createNamedSource('team', { enabled: true })])
    await expectDeleted('shop')
  })
})

describe('documents', () => {
  situation('a relation is managed element by element', async () => {
    const declare = (...names: string[]) => ({
      roles: { realm: [{ name: 'all', composites: { realm: names } }, { name: 'a' }, { name: 'b' }, { name: 'c' }] },
    })
    const getComposites = async () => (await getLive('role', 'all')).representation.composites
    await apply(declare('a', 'b'))
    const { id } = await getLive('role', 'c')
    const composite = await getLive('role', 'all')
    await service.write(ANN, realm, (context) =>
      writers.role.update(context, [
        { live: composite, set: {}, relations: { composites: { add: [['c']], remove: [['a']] } } },
      ]),
    )
    expect(id).toBeDefined()
    await apply(declare('a'))
    expect(await getComposites()).toEqual({ realm: ['a', 'c'] })
  })

  situation('a field is removed from the source', async () => {
    await apply({ displayName: 'One', loginTheme: 'mine' })
    await apply({ displayName: 'One' })
    expect((await getSettings()).loginTheme).toBeUndefined()
  })

  situation('a field that an administrator changed is removed from the source', async () => {
    await apply({ displayName: 'One', loginTheme: 'mine' })
    await updateObject(service, ANN, realm, 'realm', [realm], { loginTheme: 'theirs' })
    await apply({ displayName: 'One' })
    expect((await getSettings()).loginTheme).toBe('theirs')
    expect(await listDrift(service, SYSTEM, realm)).toEqual([])
  })

  situation('an object is declared with `renamedFrom`', async () => {
    await apply(shop({ name: 'Shop' }))
    const { id } = await getLive('client', 'shop')
    const renamed = { clients: [{ clientId: 'store', renamedFrom: 'shop', name: 'Shop' }] }
    await apply(renamed)
    expect((await getLive('client', 'store')).id).toBe(id)
    expect(await plan(renamed)).toContain('Nothing to do.')
  })

  situation('a secret is masked', async () => {
    await apply(shop({ secret: 'hush' }))
    expect(await plan(shop({ secret: '**********' }))).toMatch(
      /secret is masked; the live value is retained .*\nNothing to do\./,
    )
    await apply(shop({ secret: '**********' }))
    expect(await readClientSecret('shop')).toBe('hush')
  })

  situation('an export with other ids is applied', async () => {
    await apply(shop({ name: 'Shop' }))
    const { id } = await getLive('client', 'shop')
    const text = JSON.stringify(await exportDocument({ ids: true }))
    expect(text).toContain(id)
    expect(await plan(JSON.parse(text.replaceAll(/"id":"/g, '"id":"other-')))).toContain('Nothing to do.')
  })

  situation('a declared provider does not exist in Regent', async () => {
    const flow = {
      alias: 'ours',
      topLevel: true,
      authenticationExecutions: [{ authenticator: 'acme-step', requirement: 'REQUIRED' }],
    }
    expect(await plan({ authenticationFlows: [flow] })).toMatch(/acme-step/)
    await apply({ authenticationFlows: [flow] })
    expect(await plan({ authenticationFlows: [flow] })).toContain('Nothing to do.')
  })

  situation('a document uses a variable that the settings do not allow', async () => {
    const read = (text: string) =>
      substituteVariables(parseDocuments('a.yaml', text)[0]!, {
        env: { TEAM_SECRET: 'allowed', DATABASE_PASSWORD: 'hush' },
        readFile: () => 'hush',
        isAllowed: createVariableFilter(['env:TEAM_*']),
      }).value
    expect(read('displayName: $(env:TEAM_SECRET)')).toEqual({ displayName: 'allowed' })
    for (const variable of ['$(env:DATABASE_PASSWORD)', '$(env:DATABASE_PASSWORD:-none)', '$(file:/etc/passwd)'])
      expect(() => read(`displayName: "${variable}"`)).toThrow(/a\.yaml:1:.*is not allowed in documents/)
  })
})

describe('changes by REST and by users', () => {
  situation('a declared object is deleted by REST', async () => {
    await apply(shop({ name: 'Shop' }))
    await deleteObject(service, ANN, realm, 'client', 'shop')
    expect(await plan(shop({ name: 'Shop' }))).toMatch(/\+ client shop[\s\S]*ann/)
    await apply(shop({ name: 'Shop' }))
    expect((await getLive('client', 'shop')).representation.name).toBe('Shop')
  })

  situation('a declared object is renamed by REST', async () => {
    await apply(shop({ name: 'Shop' }))
    const { id } = await getLive('client', 'shop')
    await updateObject(service, ANN, realm, 'client', ['shop'], { clientId: 'store' })
    expect(await plan(shop({ name: 'Shop' }))).toMatch(/clientId: store → shop[\s\S]*ann/)
    await apply(shop({ name: 'Shop' }))
    expect((await getLive('client', 'shop')).id).toBe(id)
    await expectDeleted('store')
  })

  situation('an administrator creates an undeclared object', async () => {
    await apply(shop())
    await createObject(service, ANN, realm, 'client', { clientId: 'theirs' })
    expect(await plan(shop())).toContain('Nothing to do.')
    expect(await listClientNames()).toContain('theirs')
  })

  situation('a user changes their own password', async () => {
    const declare = (value: string) => ({ users: [{ username: 'ben', credentials: [{ type: 'password', value }] }] })
    await apply(declare('first'))
    const { id } = await getLive('user', 'ben')
    const getVersion = async () => (await getLive('user', 'ben')).version
    const self = { actor: { kind: 'user', realm, userId: id, user: 'ben', client: 'account' } } as const
    await updateObject(service, self, realm, 'user', ['ben'], { firstName: 'Ben' })
    const before = await getVersion()
    expect(await plan(declare('first'))).toContain('Nothing to do.')
    await apply(declare('first'))
    expect(await getVersion()).toBe(before)
    expect(await plan(declare('second'))).toContain('~ user ben')
  })
})

describe('secrets and keys', () => {
  situation('a secret is changed', async () => {
    await apply(shop({ secret: 'hush' }))
    const text = await plan(shop({ secret: 'psst' }))
    expect(text).toContain('secret')
    expect(text).not.toMatch(/hush|psst/)
    await apply(shop({ secret: 'psst' }))
    expect(await plan(shop({ secret: 'psst' }))).toContain('Nothing to do.')
  })

  situation('the key of the store is replaced', async () => {
    const { url } = await newDatabase()
    const folder = await mkdtemp(join(tmpdir(), 'regent-key-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const location = url === undefined ? { folder } : { url }
    const open = (fill: number) => openService({ location, key: Buffer.alloc(32, fill) })
    const first = await open(1)
    const declared = createSource([{ realm: 'acme', ...shop({ secret: 'hush' }) }])
    await applySource(first, declared)
    await first.replaceKey(Buffer.alloc(32, 2))
    await first.close()
    await expect(open(1)).rejects.toThrow(/protected by the key/)
    const second = await open(2)
    onTestFinished(() => second.close())
    expect(await planText(second, declared)).toContain('Nothing to do.')
    const { representation } = await getLiveObject(second, SYSTEM, 'acme', 'client', 'shop')
    expect(second.vault.open(String(representation.secret))).toBe('hush')
  })
})

describe('rollback', () => {
  situation('an administrator rolls back, and then the source changes', async () => {
    await apply({ displayName: 'One' })
    const at = await service.read(SYSTEM, realm, async ({ realm }) => realm.revision)
    await apply({ displayName: 'Bad' })
    await rollback(service, ANN, { realm, revision: at })
    expect((await getSettings()).displayName).toBe('One')
    const pushed = await apply({ displayName: 'Bad', ...shop() })
    expect(pushed.realms[0]).toMatchObject({ suspended: { revision: at, by: 'ann' } })
    expect((await getSettings()).displayName).toBe('One')
    expect((await apply({ displayName: 'One' })).realms[0]).not.toHaveProperty('suspended')
    await apply({ displayName: 'Two' })
    expect((await getSettings()).displayName).toBe('Two')
  })
})

describe('approvals', () => {
  let regent: ReturnType<typeof createPlanClient>
  beforeEach(() => {
    regent = createPlanClient(server, newName('source'))
  })
  const listUsernames = async (name: string) => [...(await listLiveObjects(service, SYSTEM, name, 'user')).keys()]

  situation('a self-registered user is declared', async () => {
    const self = { actor: { kind: 'user', user: 'eve', client: 'account' } } as const
    await createObject(service, self, realm, 'user', { username: 'eve', enabled: true })
    const declared = { realm, users: [{ username: 'eve', firstName: 'Eve' }] }
    const [pending] = (await regent.apply(declared)).realms
    expect(pending.pendingApproval.guards).toMatchObject([{ guard: 'adoption' }])
    expect((await getLive('user', 'eve')).representation.firstName).toBeUndefined()
    await regent.approve(pending.pendingApproval.plan)
    expect((await getLive('user', 'eve')).representation.firstName).toBe('Eve')
  })

  situation('a realm is removed from the source', async () => {
    const [removed, other] = [newName(), newName()]
    await regent.apply({ realm: removed, users: [{ username: 'ann' }] }, { realm: other })
    const { realms } = await regent.apply({ realm: other })
    const pending = realms.find(({ plan }: { plan: { realm: string } }) => plan.realm === removed)
    expect(pending.pendingApproval.guards).toMatchObject([{ guard: 'deletesRealm' }])
    expect(await listUsernames(removed)).toEqual(['ann'])
    await regent.approve(pending.pendingApproval.plan)
    await expect(listUsernames(removed)).rejects.toThrow('Realm not found')
  })

  situation('a declared realm is deleted by REST', async () => {
    const [empty, populated] = [newName(), newName()]
    const both = [{ realm: empty }, { realm: populated, users: [{ username: 'ann' }] }]
    await regent.apply(...both)
    for (const name of [empty, populated])
      expect((await server.call('DELETE', `/admin/realms/${name}`)).status).toBe(204)
    const { realms } = await regent.apply(...both)
    expect(await listUsernames(empty)).toEqual([])
    const pending = realms.find(({ plan }: { plan: { realm: string } }) => plan.realm === populated)
    expect(pending.pendingApproval.guards).toMatchObject([{ guard: 'recreatesRealm' }])
    await regent.approve(pending.pendingApproval.plan)
    expect(await listUsernames(populated)).toEqual(['ann'])
  })

  situation('a user registers between saving and applying a plan', async () => {
    await regent.apply({ realm, registrationAllowed: true, ...shop() })
    const { saved } = await regent.save({ realm, registrationAllowed: true, ...shop({ name: 'Shop' }) })
    await createObject(service, { actor: { kind: 'user', user: 'ben', client: 'shop' } }, realm, 'user', {
      username: 'ben',
    })
    expect((await regent.applySaved(saved.id)).status).toBe(200)
    expect((await getLive('client', 'shop')).representation.name).toBe('Shop')
    expect(await listUsernames(realm)).toEqual(['ben'])
  })
})

describe('built-in objects', () => {
  situation('a built-in flow is edited', async () => {
    const exportedRealm = (await exportDocument({ full: true })) as { authenticationFlows: { alias: string }[] }
    const flow = exportedRealm.authenticationFlows.find(({ alias }) => alias === 'direct grant')!
    const { id } = await getLive('authenticationFlow', 'direct grant')
    await apply({ authenticationFlows: [{ ...flow, description: 'Ours' }] })
    expect(await getLive('authenticationFlow', 'direct grant')).toMatchObject({
      id,
      representation: { description: 'Ours' },
    })
    await apply({ enabled: true })
    expect((await getLive('authenticationFlow', 'direct grant')).id).toBe(id)
  })
})

afterAll(() => expect(testedSituations.sort()).toEqual([...documentedSituations].sort()))

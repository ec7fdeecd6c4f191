// The situations that the rules of docs/rules.md decide: a test each, named as the situation there.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { substitute } from '../../src/realm-file/substitute.ts'
import { parseDocuments } from '../../src/realm-file/yaml/document.ts'
import { findDrift } from '../../src/reconcile/drift/drift.ts'
import { rollback } from '../../src/reconcile/history/history.ts'
import { allowedBy } from '../../src/reconcile/read/allowed.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { change, liveObject, liveObjects, make, remove } from '../support/changes.ts'
import { apply, exported, live, plan, realm, realmOfEachTest, service } from '../support/documents.ts'
import { plansOn } from '../support/plans.ts'
import { ANN, applyAs, planText, source } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newDatabase, newName } from '../support/service.ts'

realmOfEachTest()

const server = await testServer()

const rules = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8')
const listed = [...rules.matchAll(/^\| \d+ \| ([^|]+?) \|/gm)].map(([, situation]) => situation)
const tested: string[] = []

/** A test of the situation. */
function situation(name: string, work: () => Promise<void>): void {
  tested.push(name)
  test(name, work)
}

const settings = async () => (await live('realm', realm)).representation
const clientNames = async () => [...(await liveObjects(service, SYSTEM, realm, 'client')).keys()]
const isGone = (...key: string[]) => expect(live('client', ...key)).rejects.toThrow(/there is no client/)
const shop = (fields: object = {}) => ({ clients: [{ clientId: 'shop', ...fields }] })
const as = (name: string, document: object) => source([{ realm, ...document }], `${name}-${realm}`)
const problems = (error: unknown) =>
  (error as { problems: { message: string }[] }).problems.map(({ message }) => message)

describe('several sources', () => {
  situation('two sources state something of one realm', async () => {
    const both = [as('platform', { displayName: 'One' }), as('team', shop())]
    const { realms } = await applySources(service, SYSTEM, both)
    expect(realms).toHaveLength(1)
    expect(await clientNames()).toContain('shop')
    await applySources(service, SYSTEM, [as('platform', { displayName: 'Two' }), as('team', { enabled: true })])
    expect((await settings()).displayName).toBe('Two')
    await isGone('shop')
  })

  situation('two sources state one field differently', async () => {
    const both = [as('platform', { displayName: 'One' }), as('team', { displayName: 'Two' })]
    const refusal = await applySources(service, SYSTEM, both).catch(problems)
    expect(refusal).toEqual([
      expect.stringContaining(`displayName is stated differently at team-${realm}-1.yaml:`),
      expect.stringContaining(`displayName is stated differently at platform-${realm}-1.yaml:`),
    ])
    expect((await settings()).displayName).toBeUndefined()
  })

  situation('a source is not read in a run', async () => {
    await applyAs(service, as('platform', { displayName: 'One', ...shop() }))
    await applyAs(service, as('team', { clients: [{ clientId: 'till' }] }))
    expect(await clientNames()).toEqual(expect.arrayContaining(['shop', 'till']))
    expect(await applyAs(service, as('team', { displayName: 'Two' })).catch(problems)).toEqual([
      expect.stringContaining(`displayName is stated differently by source platform-${realm}`),
    ])
  })

  situation('a folder is called otherwise', async () => {
    const before = as('folder', shop({ name: 'Shop' }))
    await applyAs(service, before)
    const moved = as('moved', shop({ name: 'Other' }))
    expect(await applyAs(service, moved).catch(problems)).toEqual([expect.stringContaining(`--name ${before.name}`)])
    const { id } = await live('client', 'shop')
    await applyAs(service, { ...moved, name: before.name })
    expect(await live('client', 'shop')).toMatchObject({ id, representation: { name: 'Other' } })
  })

  situation('an object moves from one source to another', async () => {
    const stated = { ...shop({ name: 'Shop' }) }
    await applySources(service, SYSTEM, [
      as('platform', { displayName: 'One', ...stated }),
      as('team', { enabled: true }),
    ])
    const { id } = await live('client', 'shop')
    const moved = [as('platform', { displayName: 'One' }), as('team', { enabled: true, ...stated })]
    expect((await planSources(service, SYSTEM, moved)).realms[0]!.plan.actions).toEqual([])
    await applySources(service, SYSTEM, moved)
    expect((await live('client', 'shop')).id).toBe(id)
    await applySources(service, SYSTEM, [moved[0]!, as('team', { enabled: true })])
    await isGone('shop')
  })
})

describe('what documents say', () => {
  situation('a list is owned element by element', async () => {
    const stated = (...names: string[]) => ({
      roles: { realm: [{ name: 'all', composites: { realm: names } }, { name: 'a' }, { name: 'b' }, { name: 'c' }] },
    })
    const parts = async () => (await live('role', 'all')).representation.composites
    await apply(stated('a', 'b'))
    const { id } = await live('role', 'c')
    const composite = await live('role', 'all')
    const { writers } = await import('../../src/service/kinds/index.ts')
    await service.write(ANN, realm, (context) =>
      writers.role.update(context, [
        { live: composite, set: {}, relations: { composites: { add: [['c']], remove: [['a']] } } },
      ]),
    )
    expect(id).toBeDefined()
    await apply(stated('a'))
    expect(await parts()).toEqual({ realm: ['a', 'c'] })
  })

  situation('a field is stated no more', async () => {
    await apply({ displayName: 'One', loginTheme: 'mine' })
    await apply({ displayName: 'One' })
    expect((await settings()).loginTheme).toBeUndefined()
  })

  situation('a field is stated no more, and somebody changed it', async () => {
    await apply({ displayName: 'One', loginTheme: 'mine' })
    await change(service, ANN, realm, 'realm', [realm], { loginTheme: 'theirs' })
    await apply({ displayName: 'One' })
    expect((await settings()).loginTheme).toBe('theirs')
    expect(await findDrift(service, SYSTEM, realm)).toEqual([])
  })

  situation('an object is stated with the name that it had', async () => {
    await apply(shop({ name: 'Shop' }))
    const { id } = await live('client', 'shop')
    const renamed = { clients: [{ clientId: 'store', renamedFrom: 'shop', name: 'Shop' }] }
    await apply(renamed)
    expect((await live('client', 'store')).id).toBe(id)
    expect(await plan(renamed)).toContain('Nothing to do.')
  })

  situation('a secret is masked', async () => {
    await apply(shop({ secret: 'hush' }))
    expect(await plan(shop({ secret: '**********' }))).toMatch(
      /secret is masked; the live value is retained .*\nNothing to do\./,
    )
    await apply(shop({ secret: '**********' }))
    expect(service.vault.open(String((await live('client', 'shop')).representation.secret))).toBe('hush')
  })

  situation('an export with ids is applied where there are other ids', async () => {
    await apply(shop({ name: 'Shop' }))
    const { id } = await live('client', 'shop')
    const text = JSON.stringify(await exported({ ids: true }))
    expect(text).toContain(id)
    expect(await plan(JSON.parse(text.replaceAll(/"id":"/g, '"id":"other-')))).toContain('Nothing to do.')
  })

  situation('a provider is stated that Regent does not have', async () => {
    const flow = {
      alias: 'ours',
      topLevel: true,
      authenticationExecutions: [{ authenticator: 'acme-step', requirement: 'REQUIRED' }],
    }
    expect(await plan({ authenticationFlows: [flow] })).toMatch(/acme-step/)
    await apply({ authenticationFlows: [flow] })
    expect(await plan({ authenticationFlows: [flow] })).toContain('Nothing to do.')
  })

  situation('a variable is stated that the settings do not give to a source', async () => {
    const read = (text: string) =>
      substitute(parseDocuments('a.yaml', text)[0]!, {
        env: { TEAM_SECRET: 'own', DATABASE_PASSWORD: 'hush' },
        readFile: () => 'hush',
        allowed: allowedBy(['env:TEAM_*']),
      }).value
    expect(read('displayName: $(env:TEAM_SECRET)')).toEqual({ displayName: 'own' })
    for (const variable of ['$(env:DATABASE_PASSWORD)', '$(env:DATABASE_PASSWORD:-none)', '$(file:/etc/passwd)'])
      expect(() => read(`displayName: "${variable}"`)).toThrow(/a\.yaml:1:.*is not allowed in documents here/)
  })
})

describe('what others do', () => {
  situation('an object that is stated is deleted by REST', async () => {
    await apply(shop({ name: 'Shop' }))
    await remove(service, ANN, realm, 'client', 'shop')
    expect(await plan(shop({ name: 'Shop' }))).toMatch(/\+ client shop[\s\S]*ann/)
    await apply(shop({ name: 'Shop' }))
    expect((await live('client', 'shop')).representation.name).toBe('Shop')
  })

  situation('an object is called otherwise by REST', async () => {
    await apply(shop({ name: 'Shop' }))
    const { id } = await live('client', 'shop')
    await change(service, ANN, realm, 'client', ['shop'], { clientId: 'store' })
    expect(await plan(shop({ name: 'Shop' }))).toMatch(/clientId: store → shop[\s\S]*ann/)
    await apply(shop({ name: 'Shop' }))
    expect((await live('client', 'shop')).id).toBe(id)
    await isGone('store')
  })

  situation('somebody makes an object that nobody states', async () => {
    await apply(shop())
    await make(service, ANN, realm, 'client', { clientId: 'theirs' })
    expect(await plan(shop())).toContain('Nothing to do.')
    expect(await clientNames()).toContain('theirs')
  })

  situation('a person changes their own password', async () => {
    const stated = (value: string) => ({ users: [{ username: 'ben', credentials: [{ type: 'password', value }] }] })
    await apply(stated('first'))
    const { id } = await live('user', 'ben')
    const password = async () => (await live('user', 'ben')).version
    const own = { actor: { kind: 'person', realm, userId: id, user: 'ben', client: 'account' } } as const
    await change(service, own, realm, 'user', ['ben'], { firstName: 'Ben' })
    const before = await password()
    expect(await plan(stated('first'))).toContain('Nothing to do.')
    await apply(stated('first'))
    expect(await password()).toBe(before)
    expect(await plan(stated('second'))).toContain('~ user ben')
  })
})

describe('secrets and keys', () => {
  situation('a secret is another one', async () => {
    await apply(shop({ secret: 'hush' }))
    const text = await plan(shop({ secret: 'psst' }))
    expect(text).toContain('secret')
    expect(text).not.toMatch(/hush|psst/)
    await apply(shop({ secret: 'psst' }))
    expect(await plan(shop({ secret: 'psst' }))).toContain('Nothing to do.')
  })

  situation('the key of the store is another one', async () => {
    const { url } = await newDatabase()
    const folder = await mkdtemp(join(tmpdir(), 'regent-key-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const location = url === undefined ? { folder } : { url }
    const open = (fill: number) => openService({ location, key: Buffer.alloc(32, fill) })
    const first = await open(1)
    const stated = source([{ realm: 'kept', ...shop({ secret: 'hush' }) }])
    await applyAs(first, stated)
    await first.replaceKey(Buffer.alloc(32, 2))
    await first.close()
    await expect(open(1)).rejects.toThrow(/protected by the key/)
    const second = await open(2)
    onTestFinished(() => second.close())
    expect(await planText(second, stated)).toContain('Nothing to do.')
    const { representation } = await liveObject(second, SYSTEM, 'kept', 'client', 'shop')
    expect(second.vault.open(String(representation.secret))).toBe('hush')
  })
})

describe('going back', () => {
  situation('somebody goes back to a revision, and then comes a push', async () => {
    await apply({ displayName: 'One' })
    const at = await service.read(SYSTEM, realm, async ({ realm }) => realm.revision)
    await apply({ displayName: 'Bad' })
    await rollback(service, ANN, realm, at)
    expect((await settings()).displayName).toBe('One')
    const pushed = await apply({ displayName: 'Bad', ...shop() })
    expect(pushed.realms[0]).toMatchObject({ suspended: { revision: at, by: 'ann' } })
    expect((await settings()).displayName).toBe('One')
    expect((await apply({ displayName: 'One' })).realms[0]).not.toHaveProperty('held')
    await apply({ displayName: 'Two' })
    expect((await settings()).displayName).toBe('Two')
  })
})

describe('what waits for a person', () => {
  let regent: ReturnType<typeof plansOn>
  beforeEach(() => {
    regent = plansOn(server, newName('source'))
  })
  const people = async (of: string) => [...(await liveObjects(service, SYSTEM, of, 'user')).keys()]

  situation('a person is stated who made their own account', async () => {
    const self = { actor: { kind: 'person', user: 'eve', client: 'account' } } as const
    await make(service, self, realm, 'user', { username: 'eve', enabled: true })
    const stated = { realm, users: [{ username: 'eve', firstName: 'Eve' }] }
    const [waiting] = (await regent.apply(stated)).realms
    expect(waiting.pendingApproval.guards).toMatchObject([{ guard: 'adoption' }])
    expect((await live('user', 'eve')).representation.firstName).toBeUndefined()
    await regent.approve(waiting.pendingApproval.plan)
    expect((await live('user', 'eve')).representation.firstName).toBe('Eve')
  })

  situation('a realm is stated no more', async () => {
    const [one, other] = [newName(), newName()]
    await regent.apply({ realm: one, users: [{ username: 'ann' }] }, { realm: other })
    const { realms } = await regent.apply({ realm: other })
    const waiting = realms.find(({ plan }: { plan: { realm: string } }) => plan.realm === one)
    expect(waiting.pendingApproval.guards).toMatchObject([{ guard: 'deletesRealm' }])
    expect(await people(one)).toEqual(['ann'])
    await regent.approve(waiting.pendingApproval.plan)
    await expect(people(one)).rejects.toThrow('Realm not found')
  })

  situation('a realm that is stated is deleted by REST', async () => {
    const [empty, peopled] = [newName(), newName()]
    const both = [{ realm: empty }, { realm: peopled, users: [{ username: 'ann' }] }]
    await regent.apply(...both)
    for (const one of [empty, peopled]) expect((await server.call('DELETE', `/admin/realms/${one}`)).status).toBe(204)
    const { realms } = await regent.apply(...both)
    expect(await people(empty)).toEqual([])
    const waiting = realms.find(({ plan }: { plan: { realm: string } }) => plan.realm === peopled)
    expect(waiting.pendingApproval.guards).toMatchObject([{ guard: 'recreatesRealm' }])
    await regent.approve(waiting.pendingApproval.plan)
    expect(await people(peopled)).toEqual(['ann'])
  })

  situation('a plan is saved, and people sign up before it is applied', async () => {
    await regent.apply({ realm, registrationAllowed: true, ...shop() })
    const { saved } = await regent.save({ realm, registrationAllowed: true, ...shop({ name: 'Shop' }) })
    await make(service, { actor: { kind: 'person', user: 'ben', client: 'shop' } }, realm, 'user', { username: 'ben' })
    expect((await regent.carryOut(saved.id)).status).toBe(200)
    expect((await live('client', 'shop')).representation.name).toBe('Shop')
    expect(await people(realm)).toEqual(['ben'])
  })
})

describe('built-in objects', () => {
  situation('a flow that came with the realm is edited', async () => {
    const whole = (await exported({ full: true })) as { authenticationFlows: { alias: string }[] }
    const flow = whole.authenticationFlows.find(({ alias }) => alias === 'direct grant')!
    const { id } = await live('authenticationFlow', 'direct grant')
    await apply({ authenticationFlows: [{ ...flow, description: 'Ours' }] })
    expect(await live('authenticationFlow', 'direct grant')).toMatchObject({
      id,
      representation: { description: 'Ours' },
    })
    await apply({ enabled: true })
    expect((await live('authenticationFlow', 'direct grant')).id).toBe(id)
  })
})

afterAll(() => expect(tested.sort()).toEqual([...listed].sort()))

// The past of a realm: its revisions, what lies between two of them, and the way back.
import { describe, expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { explainObject } from '../../src/reconcile/history/explain-object.ts'
import { diffRevisions, listHistory, rollback } from '../../src/reconcile/history/history.ts'
import { renderActions, renderOutcome } from '../../src/reconcile/report/text-report.ts'
import type { Context } from '../../src/service/context/context.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { resumeSourceInRealm } from '../../src/service/sources/source-records.ts'
import { createObject, deleteObject, updateObject } from '../support/live-objects.ts'
import { apply, exportDocument, getLive, plan, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

const read = <T>(work: (context: Context) => Promise<T>) => service.read(SYSTEM, realm, work)
const revisions = () => read((context) => listHistory(context, {}))
const revision = async () => (await revisions())[0]!.number
const back = (revision: number, dryRun = false) => rollback(service, ANN, { realm, revision, dryRun })
const whole = () => exportDocument({ full: true, ids: true, secrets: true })

const stated = {
  displayName: 'One',
  roles: { realm: [{ name: 'staff' }, { name: 'all', composites: { realm: ['staff'] } }] },
  clients: [{ clientId: 'shop', name: 'Shop', redirectUris: ['https://shop.example/*'], secret: 'secret' }],
  groups: [{ name: 'fruit', realmRoles: ['staff'], subGroups: [{ name: 'apple' }] }],
}

test('each transaction that changes configuration is a revision, with who did it and what was applied', async () => {
  await apply(stated)
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
  const [changed, applied, made] = await revisions()
  expect(changed).toMatchObject({ actor: { user: 'ann' }, created: 0, updated: 1, deleted: 0, sources: null })
  // Made and changed by one apply: everything is counted once.
  expect(applied).toMatchObject({ created: 5, updated: 1, deleted: 0 })
  expect(applied).toMatchObject({ actor: { kind: 'source' }, sources: [{ name: realm, revision: expect.any(String) }] })
  expect(made).toMatchObject({ number: 1, created: 1 })
})

test('what lies between two revisions is told object by object, in both directions', async () => {
  await apply(stated)
  const before = await revision()
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
  await createObject(service, ANN, realm, 'role', { name: 'new' })
  await deleteObject(service, ANN, realm, 'role', 'all')
  const between = (from: number, to?: number) =>
    read(async (context) => renderActions(await diffRevisions(context, from, to)))
  expect(await between(before)).toBe(
    ['  ~ client shop', '      name: Shop → Other', '  + role new', '  - role all'].join('\n'),
  )
  expect(await between(await revision(), before)).toBe(
    ['  ~ client shop', '      name: Other → Shop', '  - role new', '  + role all', '      composites: +staff'].join(
      '\n',
    ),
  )
  await expect(between(before + 100)).rejects.toThrow(`realm ${realm} has no revision r${before + 100}`)
})

describe('a rollback', () => {
  test('gives back what was there: settings, objects with their ids, relations and trees', async () => {
    await apply(stated)
    const [before, at] = [await whole(), await revision()]
    await apply({ ...stated, displayName: 'Two', clients: [] })
    await updateObject(service, ANN, realm, 'role', ['staff'], { name: 'people', description: 'all' })
    await updateObject(service, ANN, realm, 'group', ['/fruit'], { path: '/food' })
    await deleteObject(service, ANN, realm, 'group', '/food/apple')
    await createObject(service, ANN, realm, 'group', { path: '/nuts' })
    await createObject(service, ANN, realm, 'clientScope', { name: 'new', protocol: 'openid-connect' })
    await updateObject(service, ANN, realm, 'realm', [realm], { 'attributes.colour': 'red' })
    const shown = renderOutcome({ realms: [await back(at, true)], notes: [] }, 'planned')
    expect(shown).toContain('+ client shop')
    expect(shown).toContain('name: people → staff')
    await back(at)
    // The journal has digests of secrets only: a client that is made again has another one.
    const known = (value: object) =>
      JSON.parse(
        JSON.stringify(value, (key, one) => (/^(secret|client\.secret\.creation\.time)$/.test(key) ? undefined : one)),
      )
    expect(known(await whole())).toEqual(known(before))
  })

  test('is a revision of its own, from which there is a way back too', async () => {
    await apply(stated)
    const at = await revision()
    await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
    const changed = await revision()
    await back(at)
    expect((await getLive('client', 'shop')).representation.name).toBe('Shop')
    await back(changed)
    expect((await getLive('client', 'shop')).representation.name).toBe('Other')
    expect((await revisions()).length).toBeGreaterThanOrEqual(4)
  })

  test('leaves secrets as they are, and lists them', async () => {
    await apply(stated)
    const at = await revision()
    await updateObject(service, ANN, realm, 'client', ['shop'], { secret: 'canary', name: 'Other' })
    const { plan } = await back(at)
    expect(plan.notes.map(({ message }) => message)).toEqual([
      'client shop: secret is not restored, since the journal stores no secrets. The live value stays.',
    ])
    expect(service.vault.open(String((await getLive('client', 'shop')).representation.secret))).toBe('canary')
  })

  test('holds the sources: a push is planned and not applied, until it states the same or somebody resumes', async () => {
    await apply(stated)
    const at = await revision()
    const pushed = { ...stated, displayName: 'Bad' }
    await apply(pushed)
    await back(at)
    const held = await apply({ ...pushed, clients: [] })
    expect(held.realms[0]).toMatchObject({ suspended: { revision: at, by: 'ann' } })
    expect(renderOutcome(held, 'applied')).toMatch(
      /displayName: One → Bad[\s\S]*suspended: ann rolled back to r\d+[\s\S]*Nothing to do\.$/,
    )
    expect((await getLive('realm', realm)).representation.displayName).toBe('One')
    // What was pushed last says what is live: it goes on.
    expect((await apply(stated)).realms[0]).not.toHaveProperty('held')
    await apply(pushed)
    expect((await getLive('realm', realm)).representation.displayName).toBe('Bad')
    await back(at)
    await service.write(ANN, realm, (context) => resumeSourceInRealm(context, realm))
    await apply(pushed)
    expect((await getLive('realm', realm)).representation.displayName).toBe('Bad')
  })

  test('by whoever works on the store itself is that of a person: what its source states comes back when that goes on', async () => {
    await apply(stated)
    const at = await revision()
    const pushed = { ...stated, displayName: 'Bad' }
    await apply(pushed)
    await rollback(service, SYSTEM, { realm, revision: at })
    expect((await apply(pushed)).realms[0]).toMatchObject({ suspended: { revision: at, by: 'operator' } })
    await service.write(SYSTEM, realm, (context) => resumeSourceInRealm(context, realm))
    await apply(pushed)
    expect((await getLive('realm', realm)).representation.displayName).toBe('Bad')
  })

  test('to what is live does nothing, and holds nothing by showing it', async () => {
    await apply(stated)
    const at = await revision()
    await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
    await back(at, true)
    expect((await getLive('client', 'shop')).representation.name).toBe('Other')
    expect(await listDrift(service, SYSTEM, realm)).toHaveLength(1)
    await apply(stated)
    expect(await plan(stated)).toContain('Nothing to do.')
  })
})

test('why something is as it is: file, line and revision that state it, or who changed it', async () => {
  await apply({ displayName: 'One', clients: [{ clientId: 'shop', name: 'Shop', secret: 'canary' }] })
  await updateObject(service, ANN, realm, 'client', ['shop'], { description: 'by hand' })
  const { fields, by } = await read((context) => explainObject(context, 'clients/shop'))
  const of = (path: string) => fields.find((one) => one.path === path)
  expect(by).toMatchObject({ kind: 'source', name: realm })
  expect(of('name')).toMatchObject({
    value: 'Shop',
    declarations: [{ source: realm, file: `${realm}-1.yaml`, line: 5 }],
    by: { kind: 'source', name: realm, revision: expect.stringMatching(/^\w{12}$/) },
  })
  expect(of('description')).toMatchObject({
    value: 'by hand',
    declarations: [],
    by: { name: 'ann', client: 'admin-cli' },
  })
  expect(JSON.stringify(fields)).not.toContain('canary')
  const setting = await read((context) => explainObject(context, 'displayName'))
  expect(setting.fields).toMatchObject([{ path: 'displayName', value: 'One', declarations: [{ line: 2 }] }])
  await expect(read((context) => explainObject(context, 'clients/shop/nam'))).rejects.toThrow('Did you mean name?')
  await expect(read((context) => explainObject(context, 'clients/none'))).rejects.toThrow('client none does not exist')
})

// The history of a realm: revisions, differences between them, and rollback.
import { describe, expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { explainObject } from '../../src/reconcile/history/explain-object.ts'
import { diffRevisions, listHistory, rollback } from '../../src/reconcile/history/history.ts'
import { renderAttribution } from '../../src/reconcile/model/attribution.ts'
import { renderActions, renderOutcome } from '../../src/reconcile/report/text-report.ts'
import type { Context } from '../../src/service/context/context.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { resumeSourceInRealm } from '../../src/service/sources/source-records.ts'
import { createObject, deleteObject, updateObject } from '../support/live-objects.ts'
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
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

const read = <T>(work: (context: Context) => Promise<T>) => service.read(SYSTEM, realm, work)
const listRevisions = () => read((context) => listHistory(context, {}))
const getRevision = async () => (await listRevisions())[0]!.number
const rollBack = (revision: number, dryRun = false) => rollback(service, ANN, { realm, revision, dryRun })
const exportFully = () => exportDocument({ full: true, ids: true, secrets: true })

const declared = {
  displayName: 'One',
  roles: { realm: [{ name: 'staff' }, { name: 'all', composites: { realm: ['staff'] } }] },
  clients: [{ clientId: 'shop', name: 'Shop', redirectUris: ['https://shop.example/*'], secret: 'secret' }],
  groups: [{ name: 'fruit', realmRoles: ['staff'], subGroups: [{ name: 'apple' }] }],
}

test('each transaction that changes configuration is a revision with its actor, sources and numbers of changes', async () => {
  await apply(declared)
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
  const [changed, applied, created] = await listRevisions()
  expect(changed).toMatchObject({ actor: { user: 'ann' }, created: 0, updated: 1, deleted: 0, sources: null })
  // An object that one apply creates and changes counts once.
  expect(applied).toMatchObject({ created: 5, updated: 1, deleted: 0 })
  expect(applied).toMatchObject({ actor: { kind: 'source' }, sources: [{ name: realm, revision: expect.any(String) }] })
  expect(created).toMatchObject({ number: 1, created: 1 })
})

test('the difference between two revisions lists the changes of each object, in both directions', async () => {
  await apply(declared)
  const before = await getRevision()
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
  await createObject(service, ANN, realm, 'role', { name: 'new' })
  await deleteObject(service, ANN, realm, 'role', 'all')
  const renderDiff = (from: number, to?: number) =>
    read(async (context) => renderActions(await diffRevisions(context, from, to)))
  expect(await renderDiff(before)).toBe(
    ['  ~ client shop', '      name: Shop → Other', '  + role new', '  - role all'].join('\n'),
  )
  expect(await renderDiff(await getRevision(), before)).toBe(
    ['  ~ client shop', '      name: Other → Shop', '  - role new', '  + role all', '      composites: staff'].join(
      '\n',
    ),
  )
  await expect(renderDiff(before + 100)).rejects.toThrow(`realm ${realm} has no revision r${before + 100}`)
})

test('a run that changes only users attributes no earlier revision to its source', async () => {
  await apply(declared)
  await service.write(SYSTEM, realm, (context) =>
    writers.clientScope.create(context, [{ representation: { name: 'new', protocol: 'openid-connect' } }]),
  )
  await apply({ ...declared, users: [{ username: 'ben' }] })
  const [latest] = await listRevisions()
  expect(latest).toMatchObject({ actor: { kind: 'system' }, sources: null })
})

describe('a rollback', () => {
  test('reports the number of users that it does not restore', async () => {
    await apply({ ...declared, users: [{ username: 'ann' }, { username: 'ben' }, { username: 'zoe' }] })
    const at = await getRevision()
    const messages = async () => (await rollBack(at, true)).plan.notes.map(({ message }) => message)
    expect(await messages()).toEqual([])
    await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
    await deleteObject(service, ANN, realm, 'user', 'ben')
    expect(await messages()).toEqual([`1 user has changed since r${at}. A rollback does not restore users.`])
    await updateObject(service, ANN, realm, 'user', ['ann'], { firstName: 'Ann' })
    expect(await messages()).toEqual([`2 users have changed since r${at}. A rollback does not restore users.`])
  })

  test('announces the sessions that shorter lifespans end', async () => {
    await apply({ ...declared, ssoSessionMaxLifespan: 600 })
    const at = await getRevision()
    await updateObject(service, ANN, realm, 'realm', [realm], {
      ssoSessionMaxLifespan: 6000,
      ssoSessionIdleTimeout: 60,
    })
    expect((await rollBack(at, true)).plan.notes).toEqual([
      { message: `realm ${realm}: ssoSessionMaxLifespan gets shorter. Sessions that exceed it end.` },
    ])
  })

  test('restores settings, objects with their ids, relations and trees', async () => {
    await apply(declared)
    const [before, at] = [await exportFully(), await getRevision()]
    await apply({ ...declared, displayName: 'Two', clients: [] })
    await updateObject(service, ANN, realm, 'role', ['staff'], { name: 'employees', description: 'all' })
    await updateObject(service, ANN, realm, 'group', ['/fruit'], { path: '/food' })
    await deleteObject(service, ANN, realm, 'group', '/food/apple')
    await createObject(service, ANN, realm, 'group', { path: '/nuts' })
    await createObject(service, ANN, realm, 'clientScope', { name: 'new', protocol: 'openid-connect' })
    await updateObject(service, ANN, realm, 'realm', [realm], { 'attributes.colour': 'red' })
    const text = renderOutcome({ realms: [await rollBack(at, true)], notes: [] }, 'planned')
    expect(text).toContain('+ client shop')
    expect(text).toMatch(/name: +employees → staff/)
    await rollBack(at)
    // The journal contains digests of secrets only, so a client that is created again gets a new secret.
    const withoutSecrets = (value: object) =>
      JSON.parse(
        JSON.stringify(value, (key, field) =>
          /^(secret|client\.secret\.creation\.time)$/.test(key) ? undefined : field,
        ),
      )
    expect(withoutSecrets(await exportFully())).toEqual(withoutSecrets(before))
  })

  test('is named as such wherever the author of its changes is', async () => {
    await apply({ displayName: 'One' })
    const at = await getRevision()
    await apply({ displayName: 'Two' })
    await rollBack(at)
    const rendered = expect.stringMatching(`^ann \\(rollback to r${at}\\) via `)
    const [drift] = await listDrift(service, SYSTEM, realm)
    const { fields } = await read((context) => explainObject(context, 'displayName'))
    for (const { by } of [drift!, fields[0]!]) expect(renderAttribution(by!)).toEqual(rendered)
    expect(await plan({ displayName: 'Two' })).toContain(`a change by ann (rollback to r${at}) via `)
    expect((await listRevisions())[0]!.actor).toMatchObject({ user: 'ann', rolledBackTo: at })
  })

  test('creates a revision, and can itself be rolled back', async () => {
    await apply(declared)
    const at = await getRevision()
    await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
    const changed = await getRevision()
    await rollBack(at)
    expect((await getLive('client', 'shop')).representation.name).toBe('Shop')
    await rollBack(changed)
    expect((await getLive('client', 'shop')).representation.name).toBe('Other')
    expect((await listRevisions()).length).toBeGreaterThanOrEqual(4)
  })

  test('does not restore secrets, and lists them', async () => {
    await apply(declared)
    const at = await getRevision()
    await updateObject(service, ANN, realm, 'client', ['shop'], { secret: 'canary', name: 'Other' })
    const { plan } = await rollBack(at)
    expect(plan.notes.map(({ message }) => message)).toEqual([
      'client shop: secret is not restored, since the journal stores no secrets. The live value stays.',
    ])
    expect(await readClientSecret('shop')).toBe('canary')
  })

  test('suspends the sources: their changes are not applied until they declare the restored values or an administrator resumes them', async () => {
    await apply(declared)
    const at = await getRevision()
    const pushed = { ...declared, displayName: 'Bad' }
    await apply(pushed)
    await rollBack(at)
    const suspended = await apply({ ...pushed, clients: [] })
    expect(suspended.realms[0]).toMatchObject({ suspended: { revision: at, by: 'ann' } })
    expect(renderOutcome(suspended, 'applied')).toMatch(
      /displayName: One → Bad[\s\S]*suspended: ann rolled back to r\d+[\s\S]*Nothing was applied, since a rollback suspended the sources of \S+\. To resume: "regent source resume \S+"$/,
    )
    expect((await getLive('realm', realm)).representation.displayName).toBe('One')
    // The source declares the live values, so it is resumed.
    expect((await apply(declared)).realms[0]).not.toHaveProperty('suspended')
    await apply(pushed)
    expect((await getLive('realm', realm)).representation.displayName).toBe('Bad')
    await rollBack(at)
    await service.write(ANN, realm, (context) => resumeSourceInRealm(context, realm))
    await apply(pushed)
    expect((await getLive('realm', realm)).representation.displayName).toBe('Bad')
  })

  test('by a caller with direct access to the store suspends the sources too, until an administrator resumes them', async () => {
    await apply(declared)
    const at = await getRevision()
    const pushed = { ...declared, displayName: 'Bad' }
    await apply(pushed)
    await rollback(service, SYSTEM, { realm, revision: at })
    expect((await apply(pushed)).realms[0]).toMatchObject({ suspended: { revision: at, by: 'operator' } })
    await service.write(SYSTEM, realm, (context) => resumeSourceInRealm(context, realm))
    await apply(pushed)
    expect((await getLive('realm', realm)).representation.displayName).toBe('Bad')
  })

  test('as a dry run changes nothing, and does not suspend the sources', async () => {
    await apply(declared)
    const at = await getRevision()
    await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Other' })
    await rollBack(at, true)
    expect((await getLive('client', 'shop')).representation.name).toBe('Other')
    expect(await listDrift(service, SYSTEM, realm)).toHaveLength(1)
    await apply(declared)
    expect(await plan(declared)).toContain('Nothing to do.')
  })
})

test('a field is explained by the file, line and revision that declare it, or by the administrator who changed it', async () => {
  await apply({ displayName: 'One', clients: [{ clientId: 'shop', name: 'Shop', secret: 'canary' }] })
  await updateObject(service, ANN, realm, 'client', ['shop'], { description: 'by hand' })
  const { fields, by } = await read((context) => explainObject(context, 'clients/shop'))
  const findField = (path: string) => fields.find((field) => field.path === path)
  expect(by).toMatchObject({ kind: 'source', name: realm })
  expect(findField('name')).toMatchObject({
    value: 'Shop',
    declarations: [{ source: realm, file: `${realm}-1.yaml`, line: 5 }],
    by: { kind: 'source', name: realm, revision: expect.stringMatching(/^\w{12}$/) },
  })
  expect(findField('description')).toMatchObject({
    value: 'by hand',
    declarations: [],
    by: { name: 'ann', client: 'admin-cli' },
  })
  expect(JSON.stringify(fields)).not.toContain('canary')
  const role = { name: 'editor', clientRole: true }
  await apply({
    displayName: 'One',
    clients: [{ clientId: 'shop', name: 'Shop', secret: 'canary' }],
    roles: { realm: [{ name: 'staff' }], client: { shop: [role] } },
    groups: [{ name: 'staff', subGroups: [{ name: 'night', attributes: { a: ['1'] } }] }],
  })
  // In the steps of a realm file, and in those of the admin API.
  for (const [path, key] of [
    ['roles/realm/staff', ['staff']],
    ['roles/staff', ['staff']],
    ['roles/client/shop/editor', ['client', 'shop', 'editor']],
    ['clients/shop/roles/editor', ['client', 'shop', 'editor']],
    ['groups/staff/night', ['/staff/night']],
    ['groups/%2Fstaff%2Fnight/attributes', ['/staff/night']],
  ] as const)
    expect(await read((context) => explainObject(context, path))).toMatchObject({ key })
  const setting = await read((context) => explainObject(context, 'displayName'))
  expect(setting.fields).toMatchObject([{ path: 'displayName', value: 'One', declarations: [{ line: 2 }] }])
  await expect(read((context) => explainObject(context, 'clients/shop/nam'))).rejects.toThrow(
    `The client shop in the realm ${realm} has no field nam. Did you mean name?`,
  )
  await expect(read((context) => explainObject(context, 'clients/none'))).rejects.toThrow(
    `The realm ${realm} has no client none. Check the path.`,
  )
})

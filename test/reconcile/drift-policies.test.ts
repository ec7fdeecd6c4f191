// What becomes of drift is settled by the source, by kind and path; where it settles nothing, by what is usual.
import { expect, test } from 'vitest'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, updateObject } from '../support/live-objects.ts'
import { getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

useNewRealmPerTest()

type Rules = NonNullable<SourceSettings['drift']>

const shop = (fields: object) => ({ clients: [{ clientId: 'shop', ...fields }] })
const under = (drift: Rules | undefined, document: object) => ({
  ...toRealmSource(document),
  ...(drift && { settings: { drift } }),
})
const apply = (drift: Rules | undefined, document: object) => applySource(service, under(drift, document))
const plan = async (drift: Rules | undefined, document: object) =>
  renderOutcome(await planSources(service, SYSTEM, [under(drift, document)]), 'planned')
const drifts = async () => (await listDrift(service, SYSTEM, realm)).map(({ path, policy }) => [path, policy])
const nameOf = async () => (await getLive('client', 'shop')).representation.name

test('a rule reports what would be put back, of that kind and path; the last rule that matches counts', async () => {
  const stated = shop({ name: 'Stated', description: 'stated', attributes: { colour: 'red' } })
  const rules: Rules = [
    { policy: 'report' },
    { kind: 'client', policy: 'correct' },
    { kind: 'client', path: 'name', policy: 'report' },
    { kind: 'client', path: 'attributes', policy: 'report' },
    { kind: 'role', path: 'description', policy: 'selfHeal' },
  ]
  await apply(rules, stated)
  await updateObject(service, ANN, realm, 'client', ['shop'], {
    name: 'Theirs',
    description: 'theirs',
    'attributes.colour': 'blue',
  })
  expect(await drifts()).toEqual([
    ['name', 'report'],
    ['description', 'correct'],
    ['attributes.colour', 'report'],
  ])
  await apply(rules, stated)
  expect((await getLive('client', 'shop')).representation).toMatchObject({
    name: 'Theirs',
    description: 'stated',
    attributes: { colour: 'blue' },
  })
  expect(await drifts()).toEqual([
    ['name', 'report'],
    ['attributes.colour', 'report'],
  ])
})

test('a rule puts back what would only be reported: a secret, and whether somebody may log in', async () => {
  const stated = { ...shop({ secret: 'stated' }), users: [{ username: 'ann', enabled: true }] }
  const rules: Rules = [{ policy: 'correct' }]
  await apply(rules, stated)
  await updateObject(service, ANN, realm, 'client', ['shop'], { secret: 'theirs' })
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: false })
  await apply(rules, stated)
  expect(service.vault.open(String((await getLive('client', 'shop')).representation.secret))).toBe('stated')
  expect((await getLive('user', 'ann')).representation.enabled).toBe(true)
  expect(await drifts()).toEqual([])
})

test('what is adopted stays and is no drift, until the source states something new', async () => {
  const { statements } = await testService()
  const rules: Rules = [{ kind: 'client', path: 'name', policy: 'accept' }]
  await apply(rules, shop({ name: 'Stated' }))
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
  expect(await drifts()).toEqual([])
  expect(await plan(rules, shop({ name: 'Stated' }))).toMatch(
    /! client shop: name was changed to Theirs by ann .*; accepted until the document declares another value\nNothing to do\./,
  )
  await apply(rules, shop({ name: 'Stated' }))
  expect((await statements(() => apply(rules, shop({ name: 'Stated' })))).length).toBeLessThanOrEqual(2)
  expect(await drifts()).toEqual([])
  // Another field is none of it.
  await apply(rules, shop({ name: 'Stated', description: 'stated' }))
  expect(await nameOf()).toBe('Theirs')
  await apply(rules, shop({ name: 'New', description: 'stated' }))
  expect(await nameOf()).toBe('New')
})

test('an object that somebody deleted is not made again where that is adopted or reported', async () => {
  const stated = { roles: { realm: [{ name: 'adopted' }] }, ...shop({}) }
  const rules: Rules = [
    { kind: 'role', policy: 'accept' },
    { kind: 'client', policy: 'report' },
  ]
  await apply(rules, stated)
  await deleteObject(service, ANN, realm, 'role', 'adopted')
  await deleteObject(service, ANN, realm, 'client', 'shop')
  for (let at = 0; at < 2; at++) {
    expect(await drifts()).toEqual([[undefined, 'report']])
    await apply(rules, stated)
  }
  await expect(getLive('role', 'adopted')).rejects.toThrow()
  await expect(getLive('client', 'shop')).rejects.toThrow()
  // Without the rules, both are made again.
  await apply(undefined, stated)
  await getLive('role', 'adopted')
  await getLive('client', 'shop')
})

test.each(['report', 'accept'] as const)('what a rule says to %s is put back once the rule is gone', async (policy) => {
  const stated = shop({ name: 'Stated', defaultClientScopes: ['email', 'profile'] })
  await apply([{ policy }], stated)
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
  await apply([{ policy }], stated)
  await apply([{ policy }, { kind: 'role', policy: 'correct' }], stated)
  expect(await nameOf()).toBe('Theirs')
  expect(await plan(undefined, stated)).toMatch(/name: Theirs → Stated {2}corrects a change by ann/)
  await apply(undefined, stated)
  expect(await nameOf()).toBe('Stated')
  expect(await drifts()).toEqual([])
})

test('selfHeal is put back like any drift, and drift says so', async () => {
  const rules: Rules = [{ kind: 'client', policy: 'selfHeal' }]
  await apply(rules, shop({ name: 'Stated' }))
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
  expect(await drifts()).toEqual([['name', 'selfHeal']])
  await apply(rules, shop({ name: 'Stated' }))
  expect(await nameOf()).toBe('Stated')
})

test('where several sources state a field, the policy that interferes least decides', async () => {
  const one = { ...createSource([{ realm, ...shop({ name: 'Stated', description: 'one' }) }], `${realm}-one`) }
  const other = {
    ...createSource([{ realm, ...shop({ name: 'Stated' }) }], `${realm}-other`),
    settings: { drift: [{ policy: 'report' as const }] },
  }
  await applySources(service, SYSTEM, [one, other])
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs', description: 'theirs' })
  await applySources(service, SYSTEM, [one, other])
  expect((await getLive('client', 'shop')).representation).toMatchObject({ name: 'Theirs', description: 'one' })
})

// Drift policies: a source sets them by kind and path. Without a rule, the default policy applies.
import { expect, test } from 'vitest'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, updateObject } from '../support/live-objects.ts'
import {
  getLive,
  readClientSecret,
  realm,
  service,
  toRealmSource,
  useNewRealmPerTest,
} from '../support/realm-documents.ts'
import { testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

useNewRealmPerTest()

type Rules = NonNullable<SourceSettings['drift']>

const shop = (fields: object) => ({ clients: [{ clientId: 'shop', ...fields }] })
const withRules = (drift: Rules | undefined, document: object) => ({
  ...toRealmSource(document),
  ...(drift && { settings: { drift } }),
})
const apply = (drift: Rules | undefined, document: object) => applySource(service, withRules(drift, document))
const plan = async (drift: Rules | undefined, document: object) =>
  renderOutcome(await planSources(service, SYSTEM, [withRules(drift, document)]), 'planned')
const listPolicies = async () => (await listDrift(service, SYSTEM, realm)).map(({ path, policy }) => [path, policy])
const getName = async () => (await getLive('client', 'shop')).representation.name

test('the last rule that matches kind and path determines whether drift is reported or corrected', async () => {
  const declared = shop({ name: 'Declared', description: 'declared', attributes: { colour: 'red' } })
  const rules: Rules = [
    { policy: 'report' },
    { kind: 'client', policy: 'correct' },
    { kind: 'client', path: 'name', policy: 'report' },
    { kind: 'client', path: 'attributes', policy: 'report' },
    { kind: 'role', path: 'description', policy: 'selfHeal' },
  ]
  await apply(rules, declared)
  await updateObject(service, ANN, realm, 'client', ['shop'], {
    name: 'Theirs',
    description: 'theirs',
    'attributes.colour': 'blue',
  })
  expect(await listPolicies()).toEqual([
    ['name', 'report'],
    ['description', 'correct'],
    ['attributes.colour', 'report'],
  ])
  await apply(rules, declared)
  expect((await getLive('client', 'shop')).representation).toMatchObject({
    name: 'Theirs',
    description: 'declared',
    attributes: { colour: 'blue' },
  })
  expect(await listPolicies()).toEqual([
    ['name', 'report'],
    ['attributes.colour', 'report'],
  ])
})

test('the policy correct applies to secrets and `enabled` of users too, whose drift is only reported by default', async () => {
  const declared = { ...shop({ secret: 'declared' }), users: [{ username: 'ann', enabled: true }] }
  const rules: Rules = [{ policy: 'correct' }]
  await apply(rules, declared)
  await updateObject(service, ANN, realm, 'client', ['shop'], { secret: 'theirs' })
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: false })
  await apply(rules, declared)
  expect(await readClientSecret('shop')).toBe('declared')
  expect((await getLive('user', 'ann')).representation.enabled).toBe(true)
  expect(await listPolicies()).toEqual([])
})

test('an accepted change is no drift, and is retained until the source declares another value', async () => {
  const { statements } = await testService()
  const rules: Rules = [{ kind: 'client', path: 'name', policy: 'accept' }]
  await apply(rules, shop({ name: 'Declared' }))
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
  expect(await listPolicies()).toEqual([])
  expect(await plan(rules, shop({ name: 'Declared' }))).toMatch(
    /! client shop: name was changed to Theirs by ann .*; accepted until the document declares another value\nNothing to do\./,
  )
  await apply(rules, shop({ name: 'Declared' }))
  expect((await statements(() => apply(rules, shop({ name: 'Declared' })))).length).toBeLessThanOrEqual(2)
  expect(await listPolicies()).toEqual([])
  // A new declaration of another field does not affect it.
  await apply(rules, shop({ name: 'Declared', description: 'declared' }))
  expect(await getName()).toBe('Theirs')
  await apply(rules, shop({ name: 'New', description: 'declared' }))
  expect(await getName()).toBe('New')
})

test('a deleted object is not created again if its policy is accept or report', async () => {
  const declared = { roles: { realm: [{ name: 'accepted' }] }, ...shop({}) }
  const rules: Rules = [
    { kind: 'role', policy: 'accept' },
    { kind: 'client', policy: 'report' },
  ]
  await apply(rules, declared)
  await deleteObject(service, ANN, realm, 'role', 'accepted')
  await deleteObject(service, ANN, realm, 'client', 'shop')
  for (let at = 0; at < 2; at++) {
    expect(await listPolicies()).toEqual([[undefined, 'report']])
    await apply(rules, declared)
  }
  await expect(getLive('role', 'accepted')).rejects.toThrow()
  await expect(getLive('client', 'shop')).rejects.toThrow()
  // Without the rules, both are created again.
  await apply(undefined, declared)
  await getLive('role', 'accepted')
  await getLive('client', 'shop')
})

test.each(['report', 'accept'] as const)(
  'drift with the policy %s is corrected once the rule is removed',
  async (policy) => {
    const declared = shop({ name: 'Declared', defaultClientScopes: ['email', 'profile'] })
    await apply([{ policy }], declared)
    await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
    await apply([{ policy }], declared)
    await apply([{ policy }, { kind: 'role', policy: 'correct' }], declared)
    expect(await getName()).toBe('Theirs')
    expect(await plan(undefined, declared)).toMatch(/name: Theirs → Declared {2}corrects a change by ann/)
    await apply(undefined, declared)
    expect(await getName()).toBe('Declared')
    expect(await listPolicies()).toEqual([])
  },
)

test('drift with the policy selfHeal is listed with its policy, and corrected by an apply', async () => {
  const rules: Rules = [{ kind: 'client', policy: 'selfHeal' }]
  await apply(rules, shop({ name: 'Declared' }))
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
  expect(await listPolicies()).toEqual([['name', 'selfHeal']])
  await apply(rules, shop({ name: 'Declared' }))
  expect(await getName()).toBe('Declared')
})

test('if several sources declare a field, the policy that intervenes least applies', async () => {
  const correcting = { ...createSource([{ realm, ...shop({ name: 'Declared', description: 'one' }) }], `${realm}-one`) }
  const reporting = {
    ...createSource([{ realm, ...shop({ name: 'Declared' }) }], `${realm}-other`),
    settings: { drift: [{ policy: 'report' as const }] },
  }
  await applySources(service, SYSTEM, [correcting, reporting])
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs', description: 'theirs' })
  await applySources(service, SYSTEM, [correcting, reporting])
  expect((await getLive('client', 'shop')).representation).toMatchObject({ name: 'Theirs', description: 'one' })
})

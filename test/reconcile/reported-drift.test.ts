// Drift that is only reported: what people and guesses at their passwords do, and what administrators change while things run.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, updateObject } from '../support/live-objects.ts'
import { apply, getLive, plan, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { ANN, applySource } from '../support/sources.ts'

useNewRealmPerTest()

const { call } = await testServer()
const BEN: Caller = { actor: { kind: 'user', realm: 'any', userId: 'ben', user: 'ben', client: 'account' } }
const person = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'Ann', lastName: 'Example' }
const drift = async () => (await listDrift(service, SYSTEM, realm)).map(({ path, live, by }) => [path, live, by?.name])

const guess = (password: string) =>
  call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=password&client_id=admin-cli&username=ann&password=${password}`,
  })

test('a log-in, a wrong password and a lockout for good make no plan, and the lockout is drift', async () => {
  const settings = { enabled: true, bruteForceProtected: true, permanentLockout: true, failureFactor: 2 }
  const stated = { ...settings, users: [{ ...person, credentials: [{ type: 'password', value: 'right' }] }] }
  await apply(stated)
  expect((await guess('right')).status).toBe(200)
  expect(await drift()).toEqual([])
  for (let at = 0; at < 3; at++) expect((await guess(`wrong${at}`)).status).toBe(400)
  expect((await getLive('user', 'ann')).representation.enabled).toBe(false)
  expect(await drift()).toEqual([['enabled', false, expect.anything()]])
  expect(await plan(stated)).toMatch(
    /! user ann: enabled was changed to false by .*; reported only\n( {2}lint: .*\n)*Nothing to do\./,
  )
  await apply(stated)
  expect((await getLive('user', 'ann')).representation.enabled).toBe(false)
})

test('drift that is left alone is shown until it is gone, and costs later runs nothing', async () => {
  const { statements } = await testService()
  const stated = { users: [{ ...person, lastName: 'Stated' }] }
  await apply(stated)
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: false })
  await apply(stated)
  expect(await drift()).toEqual([['enabled', false, 'ann']])
  expect((await statements(() => apply(stated))).length).toBeLessThanOrEqual(2)
  // Another field of the same person is put back, and this one stays.
  await updateObject(service, ANN, realm, 'user', ['ann'], { lastName: 'Changed' })
  await apply(stated)
  expect((await getLive('user', 'ann')).representation).toMatchObject({ enabled: false, lastName: 'Stated' })
  expect(await drift()).toEqual([['enabled', false, 'ann']])
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: true })
  expect(await drift()).toEqual([])
  await apply(stated)
  expect(await drift()).toEqual([])
})

test('what is left alone is written when what is stated changes', async () => {
  await apply({ users: [{ ...person, enabled: false }] })
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: true })
  await apply({ users: [{ ...person, enabled: false }] })
  expect((await getLive('user', 'ann')).representation.enabled).toBe(true)
  await apply({ users: [person] })
  expect(await drift()).toEqual([])
  await apply({ users: [{ ...person, enabled: false }] })
  expect((await getLive('user', 'ann')).representation.enabled).toBe(false)
})

test('a secret that an administrator changed stays, and is shown without its value', async () => {
  const stated = { clients: [{ clientId: 'shop', secret: 'stated' }] }
  await apply(stated)
  await updateObject(service, ANN, realm, 'client', ['shop'], { secret: 'canary' })
  const text = await plan(stated)
  expect(text).toMatch(/! client shop: secret was changed by ann .*; reported only/)
  expect(text).not.toContain('canary')
  await apply(stated)
  expect(service.vault.open(String((await getLive('client', 'shop')).representation.secret))).toBe('canary')
  // A rotation of what is stated is a change, and wins.
  await apply({ clients: [{ clientId: 'shop', secret: 'rotated' }] })
  expect(service.vault.open(String((await getLive('client', 'shop')).representation.secret))).toBe('rotated')
})

test('what people change of themselves stays: names, groups that they leave, and that they are gone', async () => {
  const stated = { groups: [{ name: 'staff' }], users: [{ ...person, groups: ['/staff'] }] }
  await apply(stated)
  await updateObject(service, BEN, realm, 'user', ['ann'], { lastName: 'Own' })
  expect(await plan(stated)).toMatch(/lastName was changed to Own by ben/)
  await apply(stated)
  expect((await getLive('user', 'ann')).representation.lastName).toBe('Own')
  await deleteObject(service, BEN, realm, 'user', 'ann')
  expect(await plan(stated)).toMatch(/! user ann was deleted by ben .*; it is not created again\nNothing to do\./)
  await apply(stated)
  await apply(stated)
  expect(await drift()).toEqual([[undefined, undefined, 'ben']])
  await expect(getLive('user', 'ann')).rejects.toThrow()
  // Whoever states somebody else of that name means somebody new.
  await applySource(service, toRealmSource({ groups: [{ name: 'staff' }] }))
  await apply(stated)
  expect((await getLive('user', 'ann')).representation.lastName).toBe('Example')
})

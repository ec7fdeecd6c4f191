// Drift that is only reported by default: changes by users and lockouts, and some changes by administrators.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, updateObject } from '../support/live-objects.ts'
import { logInWithPassword } from '../support/password-login.ts'
import {
  apply,
  getLive,
  plan,
  readClientSecret,
  realm,
  service,
  toRealmSource,
  useNewRealmPerTest,
} from '../support/realm-documents.ts'
import { testService } from '../support/service.ts'
import { ANN, applySource } from '../support/sources.ts'

useNewRealmPerTest()

const BEN: Caller = { actor: { kind: 'user', realm: 'any', userId: 'ben', user: 'ben', client: 'account' } }
const declaredUser = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'Ann', lastName: 'Example' }
const listDriftFields = async () =>
  (await listDrift(service, SYSTEM, realm)).map(({ path, live, by }) => [path, live, by?.name])

const logIn = (password: string) => logInWithPassword(realm, { username: 'ann', password })

test('a login and a permanent lockout leave the plan empty, and the lockout is reported as drift', async () => {
  const settings = { enabled: true, bruteForceProtected: true, permanentLockout: true, failureFactor: 2 }
  const declared = { ...settings, users: [{ ...declaredUser, credentials: [{ type: 'password', value: 'right' }] }] }
  await apply(declared)
  expect((await logIn('right')).status).toBe(200)
  expect(await listDriftFields()).toEqual([])
  for (let at = 0; at < 3; at++) expect((await logIn(`wrong${at}`)).status).toBe(400)
  expect((await getLive('user', 'ann')).representation.enabled).toBe(false)
  expect(await listDriftFields()).toEqual([['enabled', false, expect.anything()]])
  expect(await plan(declared)).toMatch(
    /! user ann: enabled was changed to false by .*; reported only\n( {2}lint: .*\n)*Nothing to do\./,
  )
  await apply(declared)
  expect((await getLive('user', 'ann')).representation.enabled).toBe(false)
})

test('reported drift is listed until it is resolved, and later runs execute at most two statements', async () => {
  const { statements } = await testService()
  const declared = { users: [{ ...declaredUser, lastName: 'Declared' }] }
  await apply(declared)
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: false })
  await apply(declared)
  expect(await listDriftFields()).toEqual([['enabled', false, 'ann']])
  expect((await statements(() => apply(declared))).length).toBeLessThanOrEqual(2)
  // Drift of another field of the user is corrected; this field is retained.
  await updateObject(service, ANN, realm, 'user', ['ann'], { lastName: 'Changed' })
  await apply(declared)
  expect((await getLive('user', 'ann')).representation).toMatchObject({ enabled: false, lastName: 'Declared' })
  expect(await listDriftFields()).toEqual([['enabled', false, 'ann']])
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: true })
  expect(await listDriftFields()).toEqual([])
  await apply(declared)
  expect(await listDriftFields()).toEqual([])
})

test('a field with reported drift is written when its declaration changes', async () => {
  await apply({ users: [{ ...declaredUser, enabled: false }] })
  await updateObject(service, ANN, realm, 'user', ['ann'], { enabled: true })
  await apply({ users: [{ ...declaredUser, enabled: false }] })
  expect((await getLive('user', 'ann')).representation.enabled).toBe(true)
  await apply({ users: [declaredUser] })
  expect(await listDriftFields()).toEqual([])
  await apply({ users: [{ ...declaredUser, enabled: false }] })
  expect((await getLive('user', 'ann')).representation.enabled).toBe(false)
})

test('a secret that an administrator changed is retained, and the plan reports it without its value', async () => {
  const declared = { clients: [{ clientId: 'shop', secret: 'declared' }] }
  await apply(declared)
  await updateObject(service, ANN, realm, 'client', ['shop'], { secret: 'canary' })
  const text = await plan(declared)
  expect(text).toMatch(/! client shop: secret was changed by ann .*; reported only/)
  expect(text).not.toContain('canary')
  await apply(declared)
  expect(await readClientSecret('shop')).toBe('canary')
  // A new declared secret overwrites it.
  await apply({ clients: [{ clientId: 'shop', secret: 'rotated' }] })
  expect(await readClientSecret('shop')).toBe('rotated')
})

test('changes by users to their accounts are retained, also the deletion of an account', async () => {
  const declared = { groups: [{ name: 'staff' }], users: [{ ...declaredUser, groups: ['/staff'] }] }
  await apply(declared)
  await updateObject(service, BEN, realm, 'user', ['ann'], { lastName: 'Other' })
  expect(await plan(declared)).toMatch(/lastName was changed to Other by ben/)
  await apply(declared)
  expect((await getLive('user', 'ann')).representation.lastName).toBe('Other')
  await deleteObject(service, BEN, realm, 'user', 'ann')
  expect(await plan(declared)).toMatch(/! user ann was deleted by ben .*; it is not created again\nNothing to do\./)
  await apply(declared)
  await apply(declared)
  expect(await listDriftFields()).toEqual([[undefined, undefined, 'ben']])
  await expect(getLive('user', 'ann')).rejects.toThrow()
  // After the user was removed from the source, a new declaration means a new user.
  await applySource(service, toRealmSource({ groups: [{ name: 'staff' }] }))
  await apply(declared)
  expect((await getLive('user', 'ann')).representation.lastName).toBe('Example')
})

// A source that knows why it does not state something any more: what becomes of that, and of what hangs on it.
import { beforeEach, expect, test } from 'vitest'
import type { Unstated } from '../../src/reconcile/read/unstated.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { sourcesOf } from '../../src/service/sources/sources.ts'
import { liveObject } from '../support/changes.ts'
import { source } from '../support/reconcile.ts'
import { newName, testService } from '../support/service.ts'

let service: Service
let realm: string
let files: string[]

beforeEach(async () => {
  ;({ service } = await testService())
  realm = newName()
  files = Array.from({ length: 6 }, (_, at) => `${realm}-${at + 1}.yaml`)
})

const protocolMappers = [
  { name: 'aud', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config: {} },
]

/** A realm in the first file, and a client with a mapper in each of the others, less those of files that are not read. */
function state(unstated: Unstated = {}, guards?: object) {
  const clients = ['a', 'b', 'c', 'd', 'e'].map((clientId) => ({
    realm,
    clients: [{ clientId, name: 'Stated', protocolMappers }],
  }))
  const whole = source([{ realm, enabled: true }, ...clients], realm)
  const left = Object.values(unstated).flat()
  const documents = whole.documents.filter(({ file }) => !left.includes(file))
  return { ...whole, documents, unstated, ...(guards && { settings: { guards } }) }
}

const apply = (...states: ReturnType<typeof source>[]) => applySources(service, SYSTEM, states)
const isThere = (client: string) =>
  liveObject(service, SYSTEM, realm, 'client', client).then(
    () => true,
    () => false,
  )
const owned = async () => (await service.read(SYSTEM, realm, sourcesOf)).map(({ objects }) => objects)
const actions = ({ realms: [first] }: Awaited<ReturnType<typeof apply>>) =>
  first!.plan.actions.map(({ operation, key }) => `${operation} ${key.join(' ')}`)

test('what cannot be applied now stays as it was, and vetoes, also where nothing else is stated any more', async () => {
  await apply(state())
  expect(await owned()).toEqual([11])
  expect(actions(await apply(state({ kept: [files[1]!] })))).toEqual([])
  const other = source([{ realm, clients: [{ clientId: 'a', name: 'Of others' }] }], `other-${realm}`)
  await expect(apply(state({ kept: [files[1]!] }), other)).rejects.toThrow(`stated differently by source ${realm}`)
  expect(actions(await apply(state({ kept: files.slice(1), released: [files[0]!] })))).toEqual([])
  expect(await owned()).toEqual([10])
  expect(actions(await apply(state()))).toEqual([])
  expect(await owned()).toEqual([11])
})

test('what is let go of stays as it is, and is nobody’s', async () => {
  await apply(state())
  expect(actions(await apply(state({ released: [files[1]!] })))).toEqual([])
  expect(await isThere('a')).toBe(true)
  expect(await owned()).toEqual([9])
})

test('what somebody deleted goes without being asked for, and what only vanished waits', async () => {
  await apply(state())
  const guards = { deletions: 0 }
  const vanished = { ...state({ released: [files[1]!, files[2]!] }, guards), unstated: {} }
  expect((await apply(vanished)).realms[0]!.pendingApproval?.guards[0]?.message).toMatch(/^deletes 4 objects/)
  expect(await isThere('a')).toBe(true)
  const meant = state({ deleted: [files[1]!, files[2]!] }, guards)
  expect(actions(await apply(meant))).toContain('delete a')
  expect(await isThere('a')).toBe(false)
})

test('of a source that would know who deleted it, whatever vanished waits, however little, but for what was let be before', async () => {
  await apply(state())
  const there = files.slice(2)
  const left = { ...state({ released: [files[1]!] }), unstated: { there: [files[0]!, ...there] } }
  const { pendingApproval } = (await apply(left)).realms[0]!
  expect(pendingApproval?.guards).toMatchObject([
    { guard: 'deletions', message: expect.stringMatching(/^deletes 2 objects whose declaration/) },
  ])
  expect(await isThere('a')).toBe(true)
  expect(actions(await apply({ ...state(), unstated: { there: files } }))).toEqual([])
  await apply({ ...left, settings: { prune: 'none' } })
  expect(actions(await apply({ ...left, settings: {} }))).toContain('delete a')
})

test('a realm that somebody deleted goes with all that stands in it, and one that vanished waits', async () => {
  await apply(state())
  const nothing = { ...state(), documents: [], unstated: {} }
  expect((await apply(nothing)).realms[0]!.pendingApproval?.guards[0]?.guard).toBe('deletesRealm')
  expect(actions(await apply({ ...nothing, unstated: { deleted: [files[0]!] } }))).toEqual([`delete ${realm}`])
  expect((await service.find([realm])).length).toBe(0)
})

// Removals: the source knows why it no longer declares something, which decides what happens to it and its dependents.
import { beforeEach, expect, test } from 'vitest'
import type { Removals } from '../../src/reconcile/read/removals.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listRealmSources } from '../../src/service/sources/source-records.ts'
import { getLive, realm, service, useNewRealmNamePerTest } from '../support/realm-documents.ts'
import { createSource } from '../support/sources.ts'

useNewRealmNamePerTest()

let files: string[]

beforeEach(() => {
  files = Array.from({ length: 6 }, (_, at) => `${realm}-${at + 1}.yaml`)
})

const protocolMappers = [
  { name: 'aud', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config: {} },
]

/** A realm in the first file, and a client with a mapper in each other file, without the files in `removals`. */
function toSource(removals: Removals = {}, guards?: object) {
  const clients = ['a', 'b', 'c', 'd', 'e'].map((clientId) => ({
    realm,
    clients: [{ clientId, name: 'Declared', protocolMappers }],
  }))
  const allFiles = createSource([{ realm, enabled: true }, ...clients], realm)
  const omitted = Object.values(removals).flat()
  const documents = allFiles.documents.filter(({ file }) => !omitted.includes(file))
  return { ...allFiles, documents, removals, ...(guards && { settings: { guards } }) }
}

const apply = (...states: ReturnType<typeof createSource>[]) => applySources(service, SYSTEM, states)
const isLive = (client: string) =>
  getLive('client', client).then(
    () => true,
    () => false,
  )
const countManaged = async () => (await service.read(SYSTEM, realm, listRealmSources)).map(({ objects }) => objects)
const listActions = ({ realms: [first] }: Awaited<ReturnType<typeof apply>>) =>
  first!.plan.actions.map(({ operation, key }) => `${operation} ${key.join(' ')}`)

test('retained objects stay unchanged, and conflict with other declarations of another source', async () => {
  await apply(toSource())
  expect(await countManaged()).toEqual([11])
  expect(listActions(await apply(toSource({ retained: [files[1]!] })))).toEqual([])
  const other = createSource([{ realm, clients: [{ clientId: 'a', name: 'Of others' }] }], `other-${realm}`)
  await expect(apply(toSource({ retained: [files[1]!] }), other)).rejects.toThrow(
    `declared differently by ${files[1]}:4. Declare it once`,
  )
  expect(listActions(await apply(toSource({ retained: files.slice(1), released: [files[0]!] })))).toEqual([])
  expect(await countManaged()).toEqual([10])
  expect(listActions(await apply(toSource()))).toEqual([])
  expect(await countManaged()).toEqual([11])
})

test('released objects stay unchanged and become unmanaged', async () => {
  await apply(toSource())
  expect(listActions(await apply(toSource({ released: [files[1]!] })))).toEqual([])
  expect(await isLive('a')).toBe(true)
  expect(await countManaged()).toEqual([9])
})

test('objects of a deleted file are deleted without an approval, those of a missing file need one', async () => {
  await apply(toSource())
  const guards = { deletions: 0 }
  const missing = { ...toSource({ released: [files[1]!, files[2]!] }, guards), removals: {} }
  expect((await apply(missing)).realms[0]!.pendingApproval?.guards[0]?.message).toMatch(/^deletes 4 objects/)
  expect(await isLive('a')).toBe(true)
  const deleted = toSource({ deleted: [files[1]!, files[2]!] }, guards)
  expect(listActions(await apply(deleted))).toContain('delete a')
  expect(await isLive('a')).toBe(false)
})

test('a single object of a missing file needs an approval, unless it was retained before', async () => {
  await apply(toSource())
  const existing = files.slice(2)
  const missing = { ...toSource({ released: [files[1]!] }), removals: { existing: [files[0]!, ...existing] } }
  const { pendingApproval } = (await apply(missing)).realms[0]!
  expect(pendingApproval?.guards).toMatchObject([
    { guard: 'deletions', message: expect.stringMatching(/^deletes 2 objects whose declaration/) },
  ])
  expect(await isLive('a')).toBe(true)
  expect(listActions(await apply({ ...toSource(), removals: { existing: files } }))).toEqual([])
  await apply({ ...missing, settings: { prune: 'none' } })
  expect(listActions(await apply({ ...missing, settings: {} }))).toContain('delete a')
})

test('the realm of a deleted file is deleted with its content, that of a missing file needs an approval', async () => {
  await apply(toSource())
  const nothing = { ...toSource(), documents: [], removals: {} }
  expect((await apply(nothing)).realms[0]!.pendingApproval?.guards[0]?.guard).toBe('deletesRealm')
  expect(listActions(await apply({ ...nothing, removals: { deleted: [files[0]!] } }))).toEqual([`delete ${realm}`])
  expect((await service.findRealms([realm])).length).toBe(0)
})

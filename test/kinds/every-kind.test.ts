// What is true of every kind, from the table of kinds: nothing here is about one of them.
import { beforeAll, describe, expect, test } from 'vitest'
import { flatten, getField, isSameValue } from '../../src/kinds/compare.ts'
import type { Field } from '../../src/kinds/fields.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Json, Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import { describeObject as called, type TreeObject } from '../../src/kinds/tree.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { getDriftPolicy } from '../../src/service/journal/drift-policy.ts'
import { updateObject, getLiveObject, listLiveObjects, deleteObject } from '../support/changes.ts'
import { ANN, applySource, planText, createSource } from '../support/reconcile.ts'
import { toDocument, toKey, creatingFields, toName, createSampleObject, listSettableFields, consistentFields, createSampleObjects } from '../support/samples.ts'
import { newName, testService } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = (await testService()).service
})

const state = (realm: string, objects: readonly TreeObject[], settings: Representation = {}) =>
  createSource([toDocument(realm, objects, settings)], realm)

describe.each((Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm'))('%s', (name) => {
  const kind = kinds[name]
  const fields = listSettableFields(name)
  const key = toKey(name, 'x')
  const own = (more: Representation = {}) => createSampleObject(name, 'x', more)
  const live = (realm: string, at: Key = key) => getLiveObject(service, SYSTEM, realm, name, ...at)
  const without = (realm: string) => state(realm, createSampleObjects())
  const having = (realm: string, more: Representation = {}) => state(realm, [...createSampleObjects(), own(more)])
  const all = (): Representation => Object.fromEntries(fields.map(([field, , [first]]) => [field, first]))

  test('is made, and then there is nothing to do', async () => {
    const realm = newName()
    await applySource(service, without(realm))
    expect(await planText(service, having(realm))).toContain(`+ ${called(name, key)}`)
    await applySource(service, having(realm))
    expect(await planText(service, having(realm))).toContain('Nothing to do.')
    expect((await live(realm)).key).toEqual(key)
  })

  test('has every field that is stated, after creation and after a change of it alone', async () => {
    const realm = newName()
    await applySource(service, having(realm))
    for (const [field, description, [first, second]] of fields) {
      await applySource(service, having(realm, { [field]: first }))
      expectStated(name, field, description, first, (await live(realm)).representation)
      const next = having(realm, { [field]: second })
      expect(await planText(service, next), field).toContain(`~ ${called(name, key)}`)
      await applySource(service, next)
      expectStated(name, field, description, second, (await live(realm)).representation)
      expect(await planText(service, next), field).toContain('Nothing to do.')
    }
  })

  test('is called drift where somebody changed a field, and put back unless that is only reported', async () => {
    const realm = newName()
    const changeable = fields.filter(
      ([, { relation, appliedOnChange: once, storedSeparately: apart }]) => !relation && !once && !apart,
    )
    for (const [field, , [first, second]] of changeable) {
      const stated = having(realm, { [field]: first })
      await applySource(service, stated)
      const changed = flatten(kind, { [field]: second })
      await updateObject(service, ANN, realm, name, key, changed)
      const drift = (await listDrift(service, SYSTEM, realm)).filter((one) => one.kind === name)
      expect(drift.map(({ path, by }) => [path?.split('.')[0], by?.name])).toContainEqual([field, 'ann'])
      await applySource(service, stated)
      if (getDriftPolicy([], { kind: name, path: field, by: undefined }) === 'report') {
        expect(await listDrift(service, SYSTEM, realm), field).toEqual(drift)
        await updateObject(service, ANN, realm, name, key, flatten(kind, { [field]: first }))
      }
      expect(await listDrift(service, SYSTEM, realm), field).toEqual([])
    }
  })

  test('keeps its id where somebody renamed it, and is called as before', async () => {
    const realm = newName()
    await applySource(service, having(realm))
    const { id } = await live(realm)
    await updateObject(service, ANN, realm, name, key, { [kind.naturalKey]: toName(name, 'renamed') })
    await applySource(service, having(realm))
    expect((await live(realm)).id).toBe(id)
  })

  test('is made again where somebody deleted it', async () => {
    const realm = newName()
    await applySource(service, having(realm))
    await deleteObject(service, ANN, realm, name, ...key)
    expect(await planText(service, having(realm))).toContain('was deleted by ann')
    await applySource(service, having(realm))
    await live(realm)
  })

  test('goes when no document states it any more', async () => {
    const realm = newName()
    await applySource(service, having(realm))
    expect(await planText(service, without(realm))).toContain(`- ${called(name, key)}`)
    await applySource(service, without(realm))
    expect((await listLiveObjects(service, SYSTEM, realm, name)).has(key.at(-1)!)).toBe(false)
  })

  const referring = fields.filter(([field, { refersTo }]) => refersTo && !creatingFields.includes(`${name}.${field}`))
  test.runIf(referring.length)('is refused with the place where it names what is not there', async () => {
    const realm = newName()
    await applySource(service, having(realm))
    for (const [field, , [first]] of referring) {
      const broken = JSON.parse(JSON.stringify(first).replace(/"(\/?)[ab]"(?!:)/, '"$1nowhere"')) as Json
      const stated = having(realm, { [field]: broken })
      // What stands in the object that it names cannot name another.
      if (!JSON.stringify(stated.documents[0]!.value).includes('nowhere')) continue
      await expect(applySource(service, stated), field).rejects.toThrow(
        /-1\.yaml:\d+:\d+: .*nowhere.* does not exist/,
      )
    }
  })

  test('comes back from an export with every field, and an export has nothing to do', async () => {
    const realm = newName()
    const full = having(realm, { ...all(), ...consistentFields[name] })
    await applySource(service, full)
    const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true, secrets: true }))
    expect(await planText(service, createSource([exported], `${realm} exported`))).toContain('Nothing to do.')
  })
})

test('a realm has every setting that is stated, and gives back what is stated no more', async () => {
  const fields = listSettableFields('realm')
  const realm = newName()
  for (const which of [0, 1] as const) {
    const settings = Object.fromEntries(fields.map(([field, , values]) => [field, values[which]]))
    const stated = state(realm, createSampleObjects(), settings)
    await applySource(service, stated)
    const { representation } = await getLiveObject(service, SYSTEM, realm, 'realm')
    for (const [field, description, values] of fields)
      expectStated('realm', field, description, values[which], representation)
    expect(await planText(service, stated)).toContain('Nothing to do.')
  }
  await applySource(service, state(realm, createSampleObjects()))
  const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context))
  expect(Object.keys(exported).filter((field) => fields.some(([name]) => name === field))).toEqual([])
})

/** Whether the live object says what is stated; what is only applied, and kept elsewhere, is not shown. */
function expectStated(
  name: KindName,
  field: string,
  { secret, appliedOnChange: once }: Field,
  value: Json,
  live: Representation,
): void {
  if (secret === true && once) return
  const kind = kinds[name]
  const now = flatten(kind, live)
  for (const [path, one] of Object.entries(flatten(kind, { [field]: value }))) {
    if (getField(kind, path).relation) {
      expect(now[path], path).toEqual(expect.arrayContaining(one as unknown[]))
    } else if (!isSealed(now[path]))
      expect(isSameValue(getField(kind, path), one, now[path] ?? null), `${path}: ${JSON.stringify(now[path])}`).toBe(
        true,
      )
  }
}

function isSealed(value: Json | undefined): boolean {
  return typeof value === 'string' && value.startsWith('sealed:')
}

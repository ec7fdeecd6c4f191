// Properties of every kind in the table of kinds.
import { beforeAll, describe, expect, test } from 'vitest'
import { flatten, getField, isSameValue } from '../../src/kinds/compare.ts'
import type { Field } from '../../src/kinds/fields.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Json, Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import { describeObject, type TreeObject } from '../../src/kinds/tree.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { getDriftPolicy } from '../../src/service/journal/drift-policy.ts'
import { deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { takeSample } from '../support/property-options.ts'
import {
  consistentFields,
  createSampleObject,
  createSampleObjects,
  creatingFields,
  listSettableFields,
  toDocument,
  toKey,
  toName,
} from '../support/samples.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

let service: Service
beforeAll(async () => {
  service = (await testService()).service
})

const state = (realm: string, objects: readonly TreeObject[], settings: Representation = {}) =>
  createSource([toDocument(realm, objects, settings)], realm)

const described = (Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm')

describe.each(takeSample(described))('%s', (name) => {
  const kind = kinds[name]
  const fields = listSettableFields(name)
  const key = toKey(name, 'x')
  const createObject = (more: Representation = {}) => createSampleObject(name, 'x', more)
  const live = (realm: string, at: Key = key) => getLiveObject(service, SYSTEM, realm, name, ...at)
  const withoutObject = (realm: string) => state(realm, createSampleObjects())
  const withObject = (realm: string, more: Representation = {}) =>
    state(realm, [...createSampleObjects(), createObject(more)])
  const allFields = (): Representation => Object.fromEntries(fields.map(([field, , [first]]) => [field, first]))

  test('is created, and the next plan is empty', async () => {
    const realm = newName()
    await applySource(service, withoutObject(realm))
    expect(await planText(service, withObject(realm))).toContain(`+ ${describeObject(name, key)}`)
    await applySource(service, withObject(realm))
    expect(await planText(service, withObject(realm))).toContain('Nothing to do.')
    expect((await live(realm)).key).toEqual(key)
  })

  test('has every declared field, after its creation and after a change of only that field', async () => {
    const realm = newName()
    await applySource(service, withObject(realm))
    for (const [field, description, [first, second]] of fields) {
      await applySource(service, withObject(realm, { [field]: first }))
      expectDeclared(name, field, description, first, (await live(realm)).representation)
      const next = withObject(realm, { [field]: second })
      expect(await planText(service, next), field).toContain(`~ ${describeObject(name, key)}`)
      await applySource(service, next)
      expectDeclared(name, field, description, second, (await live(realm)).representation)
      expect(await planText(service, next), field).toContain('Nothing to do.')
    }
  })

  test('has drift when an administrator changes a field, which is corrected unless it is only reported', async () => {
    const realm = newName()
    const changeable = fields.filter(
      ([, { relation, appliedOnChange, storedSeparately }]) => !relation && !appliedOnChange && !storedSeparately,
    )
    for (const [field, , [first, second]] of changeable) {
      const source = withObject(realm, { [field]: first })
      await applySource(service, source)
      const changed = flatten(kind, { [field]: second })
      await updateObject(service, ANN, realm, name, key, changed)
      const drift = (await listDrift(service, SYSTEM, realm)).filter((entry) => entry.kind === name)
      expect(drift.map(({ path, by }) => [path?.split('.')[0], by?.name])).toContainEqual([field, 'ann'])
      await applySource(service, source)
      if (getDriftPolicy([], { kind: name, path: field, by: undefined }) === 'report') {
        expect(await listDrift(service, SYSTEM, realm), field).toEqual(drift)
        await updateObject(service, ANN, realm, name, key, flatten(kind, { [field]: first }))
      }
      expect(await listDrift(service, SYSTEM, realm), field).toEqual([])
    }
  })

  test('keeps its id when an administrator renames it, and gets its name back', async () => {
    const realm = newName()
    await applySource(service, withObject(realm))
    const { id } = await live(realm)
    await updateObject(service, ANN, realm, name, key, { [kind.naturalKey]: toName(name, 'renamed') })
    await applySource(service, withObject(realm))
    expect((await live(realm)).id).toBe(id)
  })

  test('is created again when an administrator deletes it', async () => {
    const realm = newName()
    await applySource(service, withObject(realm))
    await deleteObject(service, ANN, realm, name, ...key)
    expect(await planText(service, withObject(realm))).toContain('was deleted by ann')
    await applySource(service, withObject(realm))
    await live(realm)
  })

  test('is deleted when no document declares it any more', async () => {
    const realm = newName()
    await applySource(service, withObject(realm))
    expect(await planText(service, withoutObject(realm))).toContain(`- ${describeObject(name, key)}`)
    await applySource(service, withoutObject(realm))
    expect((await listLiveObjects(service, SYSTEM, realm, name)).has(key.at(-1)!)).toBe(false)
  })

  const referring = fields.filter(([field, { refersTo }]) => refersTo && !creatingFields.includes(`${name}.${field}`))
  test.runIf(referring.length)(
    'is refused at the position of a reference to an object that does not exist',
    async () => {
      const realm = newName()
      await applySource(service, withObject(realm))
      for (const [field, , [first]] of referring) {
        const broken = JSON.parse(JSON.stringify(first).replace(/"(\/?)[ab]"(?!:)/, '"$1nowhere"')) as Json
        const source = withObject(realm, { [field]: broken })
        // A field of the referenced object itself cannot refer to another one.
        if (!JSON.stringify(source.documents[0]!.value).includes('nowhere')) continue
        await expect(applySource(service, source), field).rejects.toThrow(
          /-1\.yaml:\d+:\d+: .*nowhere.* does not exist/,
        )
      }
    },
  )

  test('is exported with every field, and applying the export changes nothing', async () => {
    const realm = newName()
    const full = withObject(realm, { ...allFields(), ...consistentFields[name] })
    await applySource(service, full)
    const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true, secrets: true }))
    expect(await planText(service, createSource([exported], `${realm} exported`))).toContain('Nothing to do.')
  })
})

test('a realm has every declared setting, and the default of those that are removed from the source', async () => {
  const fields = listSettableFields('realm')
  const realm = newName()
  for (const index of [0, 1] as const) {
    const settings = Object.fromEntries(fields.map(([field, , values]) => [field, values[index]]))
    const source = state(realm, createSampleObjects(), settings)
    await applySource(service, source)
    const { representation } = await getLiveObject(service, SYSTEM, realm, 'realm')
    for (const [field, description, values] of fields)
      expectDeclared('realm', field, description, values[index], representation)
    expect(await planText(service, source)).toContain('Nothing to do.')
  }
  await applySource(service, state(realm, createSampleObjects()))
  const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context))
  expect(Object.keys(exported).filter((field) => fields.some(([name]) => name === field))).toEqual([])
})

/** Expects the declared value in the live object. Secrets that are only applied on change are not in its representation. */
function expectDeclared(
  name: KindName,
  field: string,
  { secret, appliedOnChange }: Field,
  value: Json,
  live: Representation,
): void {
  if (secret === true && appliedOnChange) return
  const kind = kinds[name]
  const liveFields = flatten(kind, live)
  for (const [path, declared] of Object.entries(flatten(kind, { [field]: value }))) {
    const liveValue = liveFields[path] ?? null
    if (getField(kind, path).relation) {
      expect(liveValue, path).toEqual(expect.arrayContaining(declared as unknown[]))
    } else if (!isSealed(liveValue))
      expect(isSameValue(getField(kind, path), declared, liveValue), `${path}: ${JSON.stringify(liveValue)}`).toBe(true)
  }
}

function isSealed(value: Json | undefined): boolean {
  return typeof value === 'string' && value.startsWith('sealed:')
}

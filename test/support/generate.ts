// Realms for properties: objects of every kind with fields from the table of kinds, which refer to one another.
import fc from 'fast-check'
import { flatten } from '../../src/kinds/compare.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import type { TreeObject } from '../../src/kinds/tree.ts'
import { listReferences } from '../../src/reconcile/model/references.ts'
import { creatingFields, listSettableFields, consistentFields, createSampleObjects } from './samples.ts'

/** A realm that can be stated: its settings and its objects. */
export interface GeneratedRealm {
  readonly settings: Representation
  readonly objects: readonly TreeObject[]
}

/** Some of the objects that samples know, each with some of its fields; what nobody states is not referred to. */
export const generatedRealms: fc.Arbitrary<GeneratedRealm> = fc
  .record({
    settings: generateFields('realm'),
    objects: fc.tuple(...createSampleObjects().map(generateObject)).map((all) => all.filter((one) => one !== undefined)),
  })
  .map(({ settings, objects }) => {
    const whole = withExistingParents(objects)
    const there = new Set(whole.map(({ kind, key }) => formatAddress(kind, key)))
    return {
      settings: withExistingReferences(there, 'realm', [], settings),
      objects: whole.map((one) => ({
        ...one,
        representation: withExistingReferences(there, one.kind, one.key, one.representation),
      })),
    }
  })

function generateObject(object: TreeObject): fc.Arbitrary<TreeObject | undefined> {
  const { kind } = object
  return fc.option(
    generateFields(kind).map((fields) => ({
      ...object,
      representation: { ...object.representation, ...fields, ...consistentFields[kind] },
    })),
    { nil: undefined, freq: 1 },
  )
}

/** Mostly a few fields, each with one of its two values. */
function generateFields(kind: KindName): fc.Arbitrary<Representation> {
  const fields = listSettableFields(kind)
  return fc
    .uniqueArray(
      fc.record({ at: fc.nat(Math.max(0, fields.length - 1)), which: fc.constantFrom(0 as const, 1 as const) }),
      {
        maxLength: Math.min(4, fields.length),
        selector: ({ at }) => at,
      },
    )
    .map((chosen) =>
      Object.fromEntries(chosen.map(({ at, which }) => [fields[at]![0], fields[at]![2][which]] as const)),
    )
}

/** What stands below something that is not stated goes with it. */
function withExistingParents(objects: readonly TreeObject[]): TreeObject[] {
  const there = new Set(objects.map(({ kind, key }) => formatAddress(kind, key)))
  const standing = objects.filter(
    ({ key }) => key.length === 1 || there.has(formatAddress(key[0] as KindName, key.slice(1, -1))),
  )
  return standing.length === objects.length ? standing : withExistingParents(standing)
}

/** The fields that refer to nothing but what is there. */
function withExistingReferences(
  there: ReadonlySet<string>,
  kind: KindName,
  key: Key,
  representation: Representation,
): Representation {
  const resolves = (field: string) =>
    creatingFields.includes(`${kind}.${field}`) ||
    Object.entries(flatten(kinds[kind], { [field]: representation[field]! })).every(([path, value]) =>
      listReferences({ kind, key }, path, value).every(({ to, key: target }) => there.has(formatAddress(to, target))),
    )
  return Object.fromEntries(Object.entries(representation).filter(([field]) => resolves(field)))
}

function formatAddress(kind: KindName, key: Key): string {
  return JSON.stringify([kind, ...key])
}

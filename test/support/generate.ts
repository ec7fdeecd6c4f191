// Realms for properties: objects of every kind with fields from the table of kinds, which refer to one another.
import fc from 'fast-check'
import { flatten } from '../../src/kinds/compare.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import type { TreeObject } from '../../src/kinds/tree.ts'
import { references } from '../../src/reconcile/model/references.ts'
import { making, settableFields, together, world } from './samples.ts'

/** A realm that can be stated: its settings and its objects. */
export interface GeneratedRealm {
  readonly settings: Representation
  readonly objects: readonly TreeObject[]
}

/** Some of the objects that samples know, each with some of its fields; what nobody states is not referred to. */
export const generatedRealms: fc.Arbitrary<GeneratedRealm> = fc
  .record({
    settings: someFields('realm'),
    objects: fc.tuple(...world().map(someObject)).map((all) => all.filter((one) => one !== undefined)),
  })
  .map(({ settings, objects }) => {
    const whole = withParents(objects)
    const there = new Set(whole.map(({ kind, key }) => addressOf(kind, key)))
    return {
      settings: referringTo(there, 'realm', [], settings),
      objects: whole.map((one) => ({
        ...one,
        representation: referringTo(there, one.kind, one.key, one.representation),
      })),
    }
  })

function someObject(object: TreeObject): fc.Arbitrary<TreeObject | undefined> {
  const { kind } = object
  return fc.option(
    someFields(kind).map((fields) => ({
      ...object,
      representation: { ...object.representation, ...fields, ...together[kind] },
    })),
    { nil: undefined, freq: 1 },
  )
}

/** Mostly a few fields, each with one of its two values. */
function someFields(kind: KindName): fc.Arbitrary<Representation> {
  const fields = settableFields(kind)
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
function withParents(objects: readonly TreeObject[]): TreeObject[] {
  const there = new Set(objects.map(({ kind, key }) => addressOf(kind, key)))
  const standing = objects.filter(
    ({ key }) => key.length === 1 || there.has(addressOf(key[0] as KindName, key.slice(1, -1))),
  )
  return standing.length === objects.length ? standing : withParents(standing)
}

/** The fields that refer to nothing but what is there. */
function referringTo(
  there: ReadonlySet<string>,
  kind: KindName,
  key: Key,
  representation: Representation,
): Representation {
  const resolves = (field: string) =>
    making.includes(`${kind}.${field}`) ||
    Object.entries(flatten(kinds[kind], { [field]: representation[field]! })).every(([path, value]) =>
      references(kinds[kind], key, path, value).every(({ to, key: target }) => there.has(addressOf(to, target))),
    )
  return Object.fromEntries(Object.entries(representation).filter(([field]) => resolves(field)))
}

function addressOf(kind: KindName, key: Key): string {
  return JSON.stringify([kind, ...key])
}

// Generates realms for property tests: objects of every kind with fields from the table of kinds, and references.
import fc from 'fast-check'
import { flatten } from '../../src/kinds/compare.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import type { TreeObject } from '../../src/kinds/tree.ts'
import { listReferences } from '../../src/reconcile/model/references.ts'
import { consistentFields, createSampleObjects, creatingFields, listSettableFields } from './samples.ts'

/** A realm to declare: settings and objects. */
export interface GeneratedRealm {
  readonly settings: Representation
  readonly objects: readonly TreeObject[]
}

/** Generates realms with some sample objects, each with some of its fields, and references to existing objects only. */
export const generatedRealms: fc.Arbitrary<GeneratedRealm> = fc
  .record({
    settings: generateFields('realm'),
    objects: fc
      .tuple(...createSampleObjects().map(generateObject))
      .map((all) => all.filter((object) => object !== undefined)),
  })
  .map(({ settings, objects }) => {
    const complete = withExistingParents(objects)
    const existing = new Set(complete.map(({ kind, key }) => formatAddress(kind, key)))
    return {
      settings: withExistingReferences(existing, 'realm', [], settings),
      objects: complete.map((object) => ({
        ...object,
        representation: withExistingReferences(existing, object.kind, object.key, object.representation),
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

/** Generates at most four fields, each with one of its two sample values. */
function generateFields(kind: KindName): fc.Arbitrary<Representation> {
  const fields = listSettableFields(kind)
  return fc
    .uniqueArray(
      fc.record({ at: fc.nat(Math.max(0, fields.length - 1)), value: fc.constantFrom(0 as const, 1 as const) }),
      {
        maxLength: Math.min(4, fields.length),
        selector: ({ at }) => at,
      },
    )
    .map((chosen) =>
      Object.fromEntries(chosen.map(({ at, value }) => [fields[at]![0], fields[at]![2][value]] as const)),
    )
}

/** Returns the objects whose parents exist. */
function withExistingParents(objects: readonly TreeObject[]): TreeObject[] {
  const existing = new Set(objects.map(({ kind, key }) => formatAddress(kind, key)))
  const withParent = objects.filter(
    ({ key }) => key.length === 1 || existing.has(formatAddress(key[0] as KindName, key.slice(1, -1))),
  )
  return withParent.length === objects.length ? withParent : withExistingParents(withParent)
}

/** Returns the fields whose references resolve. */
function withExistingReferences(
  existing: ReadonlySet<string>,
  kind: KindName,
  key: Key,
  representation: Representation,
): Representation {
  const resolves = (field: string) =>
    creatingFields.includes(`${kind}.${field}`) ||
    Object.entries(flatten(kinds[kind], { [field]: representation[field]! })).every(([path, value]) =>
      listReferences({ kind, key }, path, value).every(({ to, key: target }) =>
        existing.has(formatAddress(to, target)),
      ),
    )
  return Object.fromEntries(Object.entries(representation).filter(([field]) => resolves(field)))
}

function formatAddress(kind: KindName, key: Key): string {
  return JSON.stringify([kind, ...key])
}

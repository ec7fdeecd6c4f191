// Plans note each value of the table of effects that is not enforced, with its effect, its reason and its position.
import { beforeAll, expect, test } from 'vitest'
import { effects } from '../../src/kinds/effects/index.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { describeObject, type TreeObject } from '../../src/kinds/tree.ts'
import type { SourcePosition } from '../../src/lib/source-position.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { createSampleObject, createSampleObjects, getSampleValues, toDocument } from '../support/samples.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'
import {
  asksForSomething,
  createRowObject,
  divideRows,
  listParents,
  listUnenforcedRows,
  titleRow,
  toDeclaredPath,
  toRealmObject,
  type UnenforcedRow,
  undeclarableRows,
} from '../support/unenforced-rows.ts'

/** A note of a plan, with the line of its position. */
interface LocatedNote {
  readonly message: string
  readonly effect: string | undefined
  readonly line: string
}

/** A row, the object that declares it, and the notes about it. */
interface PlannedRow {
  readonly row: UnenforcedRow
  readonly object: TreeObject
  readonly notes: readonly LocatedNote[]
}

let service: Service
const realm = newName()
const rows = listUnenforcedRows()
const planned: PlannedRow[] = []

beforeAll(async () => {
  service = (await testService()).service
  await applySource(service, createSource([toDocument(realm, createSampleObjects())], `${realm}-samples`))
  const declarable = rows.filter((row) => !(titleRow(row) in undeclarableRows))
  for (const batch of divideRows(declarable)) {
    const objects = batch.map((row, at) => createRowObject(row, `row-${at}`))
    const notes = await planObjects(objects)
    planned.push(...batch.map((row, at) => ({ row, object: objects[at]!, notes: notes[at]! })))
  }
})

/** Plans objects, each in a file of its own, and returns the notes about each. */
async function planObjects(objects: readonly TreeObject[]): Promise<LocatedNote[][]> {
  const source = createSource(objects.map(toObjectDocument), realm)
  const { realms } = await planSources(service, SYSTEM, [source])
  const notes = Map.groupBy(realms[0]!.plan.notes, ({ position }) => position?.file)
  return source.files.map(({ file, text }) => {
    const lines = text.split('\n')
    const toLine = (position: SourcePosition) => lines[position.line - 1]!
    return (notes.get(file) ?? []).map(({ message, effect, position }) => ({
      message,
      effect,
      line: toLine(position!),
    }))
  })
}

const toObjectDocument = (object: TreeObject): object =>
  object.kind === 'realm'
    ? toDocument(realm, [], object.representation)
    : toDocument(realm, [...listParents(object.key), object])

/** Whether objects of the kind have no effect at all, which their notes say. */
const isWithoutEffect = (kind: KindName) => effects[kind][kinds[kind].naturalKey]?.effect === 'stored only'

/** Returns parts of the note of a row: of its message, and of the line at its position. */
function describeNote({ row, object }: PlannedRow) {
  const { kind, provider, effect } = row
  const subject = describeObject(kind, kind === 'realm' ? [realm] : object.key)
  const name = toDeclaredPath(row)
  const state = effect.effect === 'refused' ? 'not enforced' : effect.effect
  if (provider)
    return {
      subject,
      end: `Regent does not have the ${provider.label} ${provider.id}; ${effect.reason}`,
      place: provider.id,
    }
  if (isWithoutEffect(kind)) return { subject, end: ` is ${state}; ${effect.reason}`, place: kinds[kind].naturalKey }
  const isKey = kinds[kind].fields[name.split('.')[0]!]!.type === 'map'
  return {
    subject,
    name,
    end: `${state}; ${effect.reason}`,
    place: isKey ? name.slice(name.indexOf('.') + 1) : name.split('.')[0]!,
  }
}

/** Whether the plan has the note of the row. It may name further values that have the same reason. */
function hasNote(planned: PlannedRow): boolean {
  const { subject, name = '', end, place } = describeNote(planned)
  return planned.notes.some(
    ({ message, effect, line }) =>
      effect === planned.row.effect.effect &&
      message.startsWith(subject) &&
      message.includes(name) &&
      message.endsWith(end) &&
      line.includes(place),
  )
}

test.each(Object.keys(kinds) as KindName[])('plans note each value of the kind %s that is not enforced', (kind) => {
  const rowsOfKind = planned.filter(({ row }) => row.kind === kind && asksForSomething(row))
  expect(rowsOfKind.filter((row) => !hasNote(row)).map(({ row }) => titleRow(row))).toEqual([])
})

test.each(Object.entries(undeclarableRows))('a document with %s is refused', async (title, error) => {
  const row = rows.find((row) => titleRow(row) === title)!
  await expect(planObjects([createRowObject(row, 'row')])).rejects.toThrow(error)
})

test('plans do not note values that ask for nothing: steps of unused flows, and values of every realm', () => {
  const silent = planned.filter(({ row }) => !asksForSomething(row))
  expect(silent.length).toBeGreaterThan(0)
  expect(silent.filter(({ notes }) => notes.length).map(({ row }) => titleRow(row))).toEqual([])
})

/** Legacy fields that documents may contain, and that are read as other fields. */
const convertedFields = ['client.defaultRoles', 'client.directGrantsOnly', 'user.applicationRoles']

test('plans note each legacy field, which is dropped', async () => {
  const fields = (Object.keys(kinds) as KindName[]).flatMap((kind) =>
    Object.entries(kinds[kind].fields).flatMap(([name, field]) =>
      field.legacy && !convertedFields.includes(`${kind}.${name}`) ? [{ kind, name, field }] : [],
    ),
  )
  const objects = fields.map(({ kind, name, field }, at) => {
    const value = { [name]: getSampleValues(`${kind}.${name}`, field)[0] }
    return kind === 'realm' ? toRealmObject(value) : createSampleObject(kind, `legacy-${at}`, value)
  })
  const notes = await planObjects(objects)
  const isNoted = ({ name }: { readonly name: string }, at: number) =>
    notes[at]!.some(
      ({ message, effect, line }) => effect === 'dropped' && message.startsWith(name) && line.includes(name),
    )
  expect(fields.filter((field, at) => !isNoted(field, at)).map(({ kind, name }) => `${kind}.${name}`)).toEqual([])
})

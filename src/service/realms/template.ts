// What comes with every new realm, prepared once per process: rows in which the realm's name and the ids are filled in.
import { randomUUID } from 'node:crypto'
import { filled, idPlace } from '../../kinds/built-in/index.ts'
import { creation, flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { creationOrder } from '../../kinds/order.ts'
import { address, type TreeObject } from '../../kinds/tree.ts'
import { insertTree, type NewTree } from '../../store/new-tree.ts'
import { recordset } from '../../store/objects.ts'
import type { WriteContext } from '../context/context.ts'
import { unlessTaken } from '../objects/conflicts.ts'
import { type ReferenceIds, referenceIds } from '../objects/references.ts'
import { relationElements, rowOf } from '../objects/rows.ts'
import { EXECUTIONS, executionRows } from './authentication-executions.ts'

/** Objects of a tree as they are kept, but for the name of their realm and their ids. */
export interface Template {
  /** Kind and key of each object, as a text; an object has the id of its place in this list. */
  readonly keys: string
  /** How many ids there are: those of steps follow those of objects. */
  readonly ids: number
  readonly tree: NewTree
}

/** A template filled in: its objects with their ids, and the rows to write. */
export interface Instance {
  readonly made: readonly { readonly kind: KindName; readonly id: string; readonly key: Key }[]
  readonly tree: NewTree
}

/**
 * The template of objects whose realm is called `ANY_REALM`: as they are stated, without what the services of the kinds add
 * to a new object of a person. Secrets have no place in it, since they would be the same everywhere.
 */
export function templateOf(objects: readonly TreeObject[]): Template {
  const sorted = creationOrder.flatMap((kind) => objects.filter((one) => one.kind === kind))
  const idsOf = Map.groupBy(
    sorted.map(({ kind, key }, at) => ({ kind, key: JSON.stringify(key), id: idPlace(at) })),
    ({ kind }) => kind,
  )
  const ids: ReferenceIds = new Map(
    [...idsOf].map(([kind, own]) => [kind, new Map(own.map(({ key, id }) => [key, id]))]),
  )
  const idOf = (kind: KindName, key: Key) => ids.get(kind)?.get(JSON.stringify(key)) ?? ''
  const made = sorted.map(({ kind, key, representation }) => ({
    kind,
    key,
    id: idOf(kind, key),
    flat: creation(kinds[kind], flatten(kinds[kind], representation)),
    parent: key.length > 1 ? { kind: key[0] as KindName, id: idOf(key[0] as KindName, key.slice(1, -1)) } : undefined,
  }))
  const byKind = [...Map.groupBy(made, ({ kind }) => kind)]
  let count = sorted.length
  const flows = made.flatMap(({ id, key, flat }) => {
    const steps = (flat[EXECUTIONS] ?? []) as Representation[]
    return steps.length
      ? [{ flow: { id, key }, stated: steps.map((step) => ({ ...step, id: idPlace(count++) })), live: [] }]
      : []
  })
  const namesOf = (kind: KindName) => ids.get(kind) ?? new Map<string, string>()
  const objectRows = byKind.map(([kind, own]) => ({
    kind,
    rows: recordset(
      kind,
      own.map(({ id, flat, parent }) => ({
        ...rowOf(kinds[kind], id, flat, referenceIds(kinds[kind], flat, ids)),
        ...(parent && { parent }),
      })),
    ),
  }))
  return {
    keys: JSON.stringify(sorted.map(({ kind, key }) => ({ kind, key }))),
    ids: count,
    tree: {
      objects: objectRows,
      executions: JSON.stringify(executionRows(flows, namesOf('authenticationFlow'), namesOf('authenticatorConfig'))),
      relations: byKind.flatMap(([kind, own]) =>
        relationElements(kinds[kind], own, ids).map(({ field, elements }) => ({
          kind,
          field,
          elements: JSON.stringify(elements),
        })),
      ),
    },
  }
}

/** What the template says of the realm of that name; `wished`: ids by address. */
export function instance(
  { keys, ids: count, tree }: Template,
  realm: string,
  wished: ReadonlyMap<string, string> = new Map(),
): Instance {
  const objects = JSON.parse(filled(keys, realm)) as { kind: KindName; key: Key }[]
  const made = objects.map(({ kind, key }) => ({ kind, key, id: wished.get(address(kind, key)) ?? randomUUID() }))
  const steps = Array.from({ length: count - made.length }, () => randomUUID())
  const ids = [...made.map(({ id }) => id), ...steps]
  const fill = (text: string) => filled(text, realm, ids)
  return {
    made,
    tree: {
      objects: tree.objects.map(({ kind, rows }) => ({ kind, rows: fill(rows) })),
      executions: fill(tree.executions),
      relations: tree.relations.map(({ elements, ...one }) => ({ ...one, elements: fill(elements) })),
    },
  }
}

/** Makes the objects in the context's realm. Throws conflict or duplicate where a name or an id is taken. One statement. */
export async function createInstance({ tx, realm, version }: WriteContext, { tree }: Instance): Promise<void> {
  // Of what is made together, only the client in master meets others.
  await unlessTaken(kinds.client, 'create', () => insertTree(tx, realm.number, { version, tree }))
}

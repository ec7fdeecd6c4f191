// Where stated objects stand in their document. Of a realm of many people only the line of each is kept: the rest is found
// in the document when somebody asks, which few do.
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key, Kind } from '../../kinds/kind.ts'
import { splitTree, type TreeObject } from '../../kinds/tree.ts'
import type { Path, Position } from '../../lib/position.ts'
import { recent } from '../../lib/timing/recent.ts'
import { type Report, wellFormed } from '../form.ts'
import { type StatedList, statedComponents, statedLists } from '../lists.ts'
import { type Reshaped, reshape } from '../reshape.ts'
import type { Document } from './document.ts'
import type { Notice } from './problem.ts'

/** A document cut into the objects that it states. */
export interface Cut {
  readonly shaped: Reshaped
  /** The realm first. */
  readonly tree: readonly TreeObject[]
  /** Those of them that the document states itself. */
  readonly stated: readonly TreeObject[]
  readonly notices: readonly Notice[]
  /** The lists of objects that the document states. */
  readonly lists: readonly StatedList[]
}

/** Objects of documents that stay cut. */
const KEPT = 5_000

const cuts = recent<Document, Cut>(KEPT)

/** Cuts a document, and reports by its place in it what cannot be cut. */
export function cutUp(document: Document, report: Report): Cut {
  const managed = document.value as Representation
  const shaped = reshape(document, managed, report)
  const there: Report = (path, message, unknown) => report(shaped.originOf(path), message, unknown)
  const formed = wellFormed(shaped.realm, there)
  const tree = splitTree(formed)
  const stated = tree.filter(({ path }) => isStated(document, shaped.originOf(path)))
  const isWritten = (path: Path) => {
    const written = shaped.originOf(path)
    return isStated(document, written) && Array.isArray(valueAt(managed, written))
  }
  const components = isStated(document, ['components']) ? statedComponents(managed.components) : []
  const cut = {
    shaped,
    tree,
    stated,
    notices: shaped.notices,
    lists: [...statedLists(formed, isWritten), ...components],
  }
  return cuts(document, stated.length, () => cut)
}

function valueAt(value: Representation, path: Path): unknown {
  return path.reduce<unknown>((node, step) => (node as Representation | null)?.[step], value)
}

/** Whether the document states what stands at the path, and does not only say where something belongs. */
export function isStated({ states = [] }: Document, path: Path): boolean {
  return states.every((step, at) => path[at] === step)
}

/** Where one object stands. */
export class Origin {
  readonly #document: Document
  readonly #number: number
  readonly #line: number
  readonly #column: number

  /** Of the object of that number among those that the document states; the position is the object's own. */
  constructor(document: Document, number: number, { line, column }: Position) {
    this.#document = document
    this.#number = number
    this.#line = line
    this.#column = column
  }

  get position(): Position {
    return { file: this.#document.file, line: this.#line, column: this.#column }
  }

  /** Where its parent is named; without a parent field, where the object itself stands. */
  get parentPosition(): Position {
    const [{ parentField }, place] = this.#found()
    return place(parentField === undefined ? [] : [parentField])
  }

  /** The position of a field, or of the place in its value that names an object of that key. */
  locate(path: string, key?: Key): Position {
    const [kind, place, representation] = this.#found()
    const own = steps(kind, path)
    return place(key ? [...own, ...within(kind, own, representation, key)] : own)
  }

  /** A line of its file, from 1. */
  line(number: number): string {
    return this.#document.line(number)
  }

  #found(): [kind: Kind, place: (path: Path) => Position, representation: Representation] {
    const { shaped, stated } = cuts(this.#document, 0, () => cutUp(this.#document, () => {}))
    const { kind, path, representation } = stated[this.#number]!
    return [kinds[kind], (rest) => shaped.locate([...path, ...rest]), representation]
  }
}

/** The steps to a flat path in the representation. */
export function steps(kind: Kind, path: string): Path {
  const dot = path.indexOf('.')
  return dot < 0 || !kind.fields[path.slice(0, dot)] ? [path] : [path.slice(0, dot), path.slice(dot + 1)]
}

/** The steps from a field to where its value names an object. */
function within(kind: Kind, [name, ...rest]: Path, representation: Representation, key: Key): Path {
  const field = kind.fields[String(name)]
  const group = !field?.relation || field.type === 'set' ? [] : key.length === 1 ? ['realm'] : key.slice(0, -1)
  const value = [name!, ...rest, ...group].reduce<unknown>(
    (node, step) => (node as Representation)?.[step],
    representation,
  )
  return [...group, ...(pathOf(value, key.at(-1)!) ?? [])]
}

function pathOf(value: unknown, text: string): Path | undefined {
  if (value === null || typeof value !== 'object') return String(value) === text ? [] : undefined
  for (const [step, one] of Object.entries(value)) {
    const rest = pathOf(one, text)
    if (rest) return [step, ...rest]
  }
  return undefined
}

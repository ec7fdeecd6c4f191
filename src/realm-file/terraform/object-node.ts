// The tree that a document is built from: each object with its fields, and lists of the objects in it.
import { isList, isObject, type Json, type Representation } from '../../kinds/json.ts'

/** The path of a field: its names, or a text with slashes between them. */
export type FieldPath = string | readonly string[]

/** An object of a document. Lists of objects are found by the name of an object, whatever adds to it first. */
export class ObjectNode {
  #fields: Representation
  readonly #children = new Map<string, { readonly list: readonly string[]; readonly node: ObjectNode }>()

  constructor(fields: Representation) {
    this.#fields = fields
  }

  /** Returns the object of a list with a key. It gets the fields that it lacks, whichever resource came first. */
  getChild(list: FieldPath, key: string, fields: Representation): ObjectNode {
    const path = toNames(list)
    const id = JSON.stringify([path, key])
    const child = this.#children.get(id) ?? { list: path, node: new ObjectNode({}) }
    this.#children.set(id, child)
    child.node.#fields = { ...fields, ...child.node.#fields }
    return child.node
  }

  /** Sets a field. */
  set(path: FieldPath, value: Json): void {
    this.#fields = update(this.#fields, toNames(path), () => value)
  }

  /** Adds texts to a field with a set. */
  add(path: FieldPath, ...texts: readonly string[]): void {
    this.#fields = update(this.#fields, toNames(path), (value) => [
      ...new Set([...(isList(value) ? value : []), ...texts]),
    ])
  }

  /** Returns the object with all objects in it. */
  toRepresentation(): Representation {
    return [...this.#children.values()].reduce(
      (object, { list, node }) =>
        update(object, list, (value) => [...(isList(value) ? value : []), node.toRepresentation()]),
      this.#fields,
    )
  }
}

const toNames = (path: FieldPath): readonly string[] => (typeof path === 'string' ? path.split('/') : path)

function update(
  object: Representation,
  [name = '', ...rest]: readonly string[],
  change: (value: Json | undefined) => Json,
): Representation {
  const value = object[name]
  return { ...object, [name]: rest.length ? update(isObject(value) ? value : {}, rest, change) : change(value) }
}

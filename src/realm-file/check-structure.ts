// Checks the structure of a realm before it is split into objects: the split would lose what is not an object.
import { kinds } from '../kinds/index.ts'
import { isList, isObject, type Json, type Representation } from '../kinds/json.ts'
import { getPluralTitle, type Key, type Kind } from '../kinds/kind.ts'
import { RENAMED_FROM, readName, readParentKey } from '../kinds/tree.ts'
import { findNearestWord } from '../lib/nearest-word.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { addArticle, describeDeclaredObject, describeType, joinWords } from './message-words.ts'

/** Reports a problem at a path of the document. `isUnknownField`: an unknown field, which can be ignored. */
export type ReportProblem = (path: DocumentPath, message: string, isUnknownField?: true) => void

/** The position of an object in the tree of a realm. */
interface NodePosition {
  readonly path: DocumentPath
  /** The kind and key of the parent; empty for the realm. */
  readonly parentKey: Key
}

/** The position of a list, or of lists grouped by parent. */
interface ListPosition extends NodePosition {
  /** The name in messages of the object that contains the list, and of the field. */
  readonly owner: string
  readonly field: string
}

/** Reports what is not structured as a realm with objects. Returns the realm without it. */
export function checkStructure(realm: Representation, report: ReportProblem): Representation {
  return new StructureCheck(report).checkObject(kinds.realm, realm, { path: [], parentKey: [] })
}

class StructureCheck {
  readonly #report: ReportProblem

  constructor(report: ReportProblem) {
    this.#report = report
  }

  checkObject(kind: Kind, node: Representation, { path, parentKey }: NodePosition): Representation {
    const key = [...parentKey, readName(kind, node)]
    const owner = describeDeclaredObject(kind.name, key)
    this.#checkNames(kind, node, { path, owner })
    const checked = { ...node }
    for (const [field, name] of Object.entries(kind.children)) {
      const value = node[field]
      if (value === undefined || value === null) continue
      const child = kinds[name]
      const childrenKey = kind.name === 'realm' ? [] : [kind.name, ...key]
      const position = { path: [...path, field], owner, field, parentKey: childrenKey }
      checked[field] = child.parentOptional
        ? this.#checkGroups(child, value, position)
        : this.#checkList(child, value, position)
    }
    return checked
  }

  /** Checks the id and the former name, which no schema does. */
  #checkNames(kind: Kind, node: Representation, { path, owner }: { path: DocumentPath; owner: string }): void {
    const id = node[kind.idField]
    if (id !== undefined && id !== null && (typeof id !== 'string' || id === ''))
      this.#report([...path, kind.idField], `${owner}: ${kind.idField} must be a string, not ${describeType(id)}`)
    const formerName = node[RENAMED_FROM]
    if (formerName !== undefined && (typeof formerName !== 'string' || formerName === ''))
      this.#report(
        [...path, RENAMED_FROM],
        `${owner}: ${RENAMED_FROM} must be the former name, not ${describeType(formerName)}`,
      )
  }

  #checkList(child: Kind, value: Json, { path, owner, field, parentKey }: ListPosition): Json {
    const example = `"- ${child.naturalKey}: <name>"`
    if (!isList(value)) {
      const advice = `begin each ${child.title} with ${example}`
      this.#report(path, `${owner}: ${field} must be a list, not ${describeType(value)}: ${advice}`)
      return null
    }
    return value.map((element, at) => {
      if (element === null) return null
      if (isObject(element)) return this.#checkElement(child, element, { path: [...path, at], parentKey })
      const problem = `${field}[${at}] must be an object, not ${describeType(element)}`
      this.#report([...path, at], `${owner}: ${problem}: begin it with ${example}`)
      return null
    })
  }

  #checkElement(child: Kind, node: Representation, { path, parentKey: listParentKey }: NodePosition): Json {
    const { parents, parentField } = child
    const parentKey = readParentKey(child, node, listParentKey)
    if (parentField !== undefined && (node[parentField] ?? '') === '') {
      const { title, naturalKey } = kinds[parents[0]!]
      const name = describeDeclaredObject(child.name, [...parentKey, readName(child, node)])
      this.#report(path, `${name} needs ${addArticle(title)}: add "${parentField}: <${naturalKey}>"`)
    }
    return this.checkObject(child, node, { path, parentKey })
  }

  /** Checks lists that are grouped by parent: `{realm: [...], client: {<client>: [...]}}`. */
  #checkGroups(child: Kind, value: Json, position: ListPosition): Json {
    const { path, owner, field } = position
    if (!isObject(value)) {
      const parentAdvice = child.parents.map(
        (parent) => `those of a ${kinds[parent].title} under "${parent}" and its name`,
      )
      const advice = `put ${getPluralTitle(child)} of the realm under "realm", ${parentAdvice.join(', ')}`
      this.#report(path, `${owner}: ${field} must be an object, not ${describeType(value)}: ${advice}`)
      return null
    }
    return mapValues(value, (group, name) => {
      const groupPosition = { path: [...path, name], owner, field: `${field}.${name}`, parentKey: [] }
      return name === 'realm'
        ? this.#checkList(child, group, groupPosition)
        : this.#checkGroup(child, group, { ...groupPosition, group: name })
    })
  }

  #checkGroup(child: Kind, value: Json, { group, ...position }: ListPosition & { readonly group: string }): Json {
    const { path, owner, field } = position
    const parent = child.parents.find((name) => name === group)
    if (!parent) {
      const groups = ['realm', ...child.parents]
      const intended = findNearestWord(group, groups)
      const advice =
        intended === undefined ? `: the fields are ${joinWords(groups, 'and')}` : `; did you mean ${intended}?`
      this.#report(path, `${owner}: unknown field ${field}${advice}`, true)
      return null
    }
    if (!isObject(value)) {
      const advice = `put each list under the name of its ${kinds[parent].title}`
      this.#report(path, `${owner}: ${field} must be an object, not ${describeType(value)}: ${advice}`)
      return null
    }
    return mapValues(value, (list, name) =>
      this.#checkList(child, list, {
        path: [...path, name],
        owner,
        field: `${field}.${name}`,
        parentKey: [parent, name],
      }),
    )
  }
}

function mapValues(object: Representation, change: (value: Json, key: string) => Json): Representation {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, value === null ? null : change(value, key)]),
  )
}

// Edits the files of a source so that they declare live values. Each edit is checked: the files must declare the same as before, except for
// the accepted value. An edit that does not pass this check is not made.
import { isSameValue, readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, isObject, type Json, readPath } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { toRelationValue } from '../../kinds/relations.ts'
import { describeObject, findParent, formatAddress } from '../../kinds/tree.ts'
import type { DocumentPath, SourcePosition } from '../../lib/source-position.ts'
import { toFieldPath } from '../../realm-file/object-origin.ts'
import { type DeclaredObject, parseRealm } from '../../realm-file/parse-realm.ts'
import { isEncryptedText } from '../../realm-file/sops-metadata.ts'
import { getSplitDocument } from '../../realm-file/split-document.ts'
import { escapeVariables, substituteVariables, transformTextsByPath } from '../../realm-file/substitute-variables.ts'
import type { VariableOptions } from '../../realm-file/variables.ts'
import { createDocument, type Document } from '../../realm-file/yaml/document.ts'
import { EditError, type MapPlace, YamlEditor } from '../../realm-file/yaml/edit-yaml.ts'
import { createOffsetLookup } from '../../realm-file/yaml/locator.ts'
import { DocumentError } from '../../realm-file/yaml/problem.ts'
import type { AcceptedDrift, SourceEdit } from './accept.ts'

/** Reads the documents of texts, by the names of their files. */
export type ReadDocuments = (texts: ReadonlyMap<string, string>) => Promise<readonly Document[]>

/** The source whose files are edited. */
export interface EditedSource {
  readonly name: string
  readonly realm: string
  /** The texts of its files. */
  readonly texts: ReadonlyMap<string, string>
  readonly read: ReadDocuments
}

/** A place that was not edited. */
export interface RemainingEdit {
  readonly position?: SourcePosition
  readonly message: string
}

/** The outcome of the edits. */
export interface EditedFiles {
  /** The new texts of the changed files. */
  readonly texts: ReadonlyMap<string, string>
  /** The number of edits. */
  readonly count: number
  readonly remaining: readonly RemainingEdit[]
}

/** Edits files so that they declare what was accepted. Writes nothing. Throws DocumentError where the files are invalid. */
export async function editFiles({ document, edits }: AcceptedDrift, source: EditedSource): Promise<EditedFiles> {
  const editor = await FileEditor.open(source)
  for (const edit of edits) await editor.accept(edit)
  if (document) await editor.add(substituteVariables(createDocument('accepted', document), NO_VARIABLES))
  return editor.finish()
}

/** The document has escaped texts, and no variables. */
const NO_VARIABLES: VariableOptions = { env: {}, readFile: undefined, isAllowed: () => false }

/** A change that an edit may make: of a field, of an object that is removed, or of objects that are added. */
type ExpectedChange =
  | { readonly object: string; readonly path: string; readonly isDeclared: (value: Json | undefined) => boolean }
  | { readonly removed: string; readonly file: string }
  | { readonly added: ReadonlySet<string> }

/** A field to set, and whether files declare it as expected. */
interface FieldToSet {
  readonly path: string
  readonly value: Json
  readonly isDeclared: (parsed: Json | undefined) => boolean
}

/** The objects that files declare, by file and address, with NUL between them. */
type FileDeclarations = ReadonlyMap<string, DeclaredObject>

class FileEditor {
  readonly #source: EditedSource
  readonly #texts: Map<string, string>
  #state: FileDeclarations
  #count = 0
  /** The addresses of objects whose declarations were removed. */
  readonly #removed: string[] = []
  readonly #remaining: RemainingEdit[] = []

  static async open(source: EditedSource): Promise<FileEditor> {
    return new FileEditor(source, await readState(source, source.texts))
  }

  constructor(source: EditedSource, state: FileDeclarations) {
    this.#source = source
    this.#texts = new Map(source.texts)
    this.#state = state
  }

  finish(): EditedFiles {
    const changed = [...this.#texts].filter(([file, text]) => this.#source.texts.get(file) !== text)
    return { texts: new Map(changed), count: this.#count, remaining: this.#remaining }
  }

  /** Makes the edit of a drifted field or of a deleted object, or adds it to those that remain. */
  async accept(edit: SourceEdit): Promise<void> {
    const { kind, key, path, file, line } = edit
    const name = `${describeObject(kind, key)}${path === undefined ? '' : `: ${path}`}`
    const objects = this.#list(formatAddress(kind, key)).filter(({ fields }) => path === undefined || path in fields)
    const object = objects.find(({ origin }) => origin.position.file === file) ?? objects[0]
    const position = object && path !== undefined ? object.origin.locate(path) : { file, line, column: 1 }
    const remain = (reason: string) => {
      this.#remaining.push({ position, message: `${name} ${reason}` })
    }
    if (edit.source !== this.#source.name) return remain(`is declared by the source ${edit.source}: edit its files`)
    if (!object && path === undefined && this.#removed.some((address) => isBelow(key, address))) return
    if (!object) return remain('is not declared in these files: pass its file or folder')
    if (path === undefined)
      return this.#remove(objects, (problem) =>
        remain(`was deleted, and its declaration cannot be removed here, since ${problem}: remove it by hand`),
      )
    if (edit.encrypted) return remain('is encrypted: set the live value with "sops edit"')
    if (!('declared' in edit)) return remain('is a secret: declare the new one, or a variable')
    const { declared = null, live = null } = edit
    const current = object.fields[path]
    if (isDeclaredAs({ kind, path }, current, live)) return
    if (!isDeclaredAs({ kind, path }, current, declared))
      return remain('has another value in the file than the applied one: apply the file, or edit it by hand')
    const problem = await this.#setField(object, {
      ...{ path, value: live },
      isDeclared: (parsed) => isDeclaredAs({ kind, path }, parsed, live),
    })
    if (problem !== undefined) remain(`cannot be edited here, since ${problem}: edit it by hand`)
  }

  /** Removes the declarations of a deleted object from all files. */
  async #remove(objects: readonly DeclaredObject[], remain: (problem: string) => void): Promise<void> {
    for (const object of objects) {
      const removed = formatAddress(object.kind, object.key)
      const change = { removed, file: object.origin.position.file }
      const problem = await this.#try(object, change, [(editor, offset) => editor.removeElement(offset)])
      if (problem === undefined) this.#removed.push(removed)
      else remain(problem)
    }
  }

  /** Adds unmanaged objects and fields of a document, or adds them to those that remain. */
  async add(document: Document): Promise<void> {
    const { objects } = parseRealm(document)
    const { declared, converted } = getSplitDocument(document)
    const paths = declared.map(({ path }) => converted.toDocumentPath(path))
    const added = new Map(objects.map(({ kind, key }, at) => [formatAddress(kind, key), at]))
    for (const [at, object] of objects.entries()) {
      const address = formatAddress(object.kind, object.key)
      const existing = this.#find(address)
      if (existing) await this.#addFields(existing, object, readPath(document.value, paths[at]!))
      else if (!this.#isBelowNew(object.key, added))
        await this.#addObject(object, { document, path: paths[at]!, paths, added })
    }
  }

  #isBelowNew(key: Key, added: ReadonlyMap<string, number>): boolean {
    const parent = findParent(key)
    if (!parent) return false
    const address = formatAddress(parent.kind, parent.key)
    return added.has(address) && !this.#find(address)
  }

  async #addFields(
    existing: DeclaredObject,
    { kind, key, fields }: DeclaredObject,
    representation: Json | undefined,
  ): Promise<void> {
    for (const [path, value] of Object.entries(fields)) {
      if (path === kinds[kind].naturalKey || existing.fields[path] !== undefined) continue
      const written = readPath(representation, toFieldPath(kinds[kind], path)) ?? value
      const problem = await this.#setField(existing, {
        ...{ path, value: written },
        isDeclared: (parsed) => JSON.stringify(parsed) === JSON.stringify(value),
      })
      if (problem !== undefined)
        this.#remaining.push({
          position: existing.origin.position,
          message: `${describeObject(kind, key)}: ${path} cannot be added here, since ${problem}: declare it by hand`,
        })
    }
  }

  async #addObject(
    { kind, key }: DeclaredObject,
    {
      document,
      path,
      paths,
      added,
    }: {
      readonly document: Document
      readonly path: DocumentPath
      readonly paths: readonly DocumentPath[]
      readonly added: ReadonlyMap<string, number>
    },
  ): Promise<void> {
    const parent = findParent(key) ?? { kind: 'realm' as const, key: [this.#source.realm] }
    const parentAddress = formatAddress(parent.kind, parent.key)
    const parentAt = added.get(parentAddress)
    const value = transformTextsByPath(readPath(document.value, path) ?? null, escapeVariables)
    const keys = path.slice(parentAt === undefined ? 0 : paths[parentAt]!.length).map(String)
    const isElement = typeof path.at(-1) === 'number'
    const below = [...added.keys()].filter(
      (address) =>
        address === formatAddress(kind, key) || address.includes(JSON.stringify([kind, ...key]).slice(1, -1)),
    )
    const change: ExpectedChange = { added: new Set(below) }
    const sibling = [...this.#state.values()].findLast(
      (object) => object.kind === kind && JSON.stringify(object.key.slice(0, -1)) === JSON.stringify(key.slice(0, -1)),
    )
    const container = this.#find(parentAddress) ?? this.#find(formatAddress('realm', [this.#source.realm]))
    let problem: string | undefined = 'no file declares its realm'
    if (sibling && isElement)
      problem = await this.#try(sibling, change, [(editor, offset) => editor.addSibling(offset, value)])
    if (problem !== undefined && container)
      problem = await this.#try(
        container,
        change,
        listMapEdits((editor, place, prefix) =>
          isElement
            ? editor.addElement(place, [...prefix, ...keys.slice(0, -1)], value)
            : editor.setMember(place, [...prefix, ...keys], value),
        ),
      )
    if (problem !== undefined)
      this.#remaining.push({
        ...(container && { position: container.origin.position }),
        message: `${describeObject(kind, key)} is unmanaged and cannot be added here, since ${problem}: declare it by hand`,
      })
  }

  /** Sets a field of an object. Returns the problem if that is not possible. */
  async #setField(object: DeclaredObject, { path, value, isDeclared }: FieldToSet): Promise<string | undefined> {
    const { kind, key } = object
    const keys = toFieldPath(kinds[kind], path).map(String)
    const written = transformTextsByPath(value, escapeVariables)
    const change: ExpectedChange = {
      object: formatAddress(kind, key),
      path,
      isDeclared,
    }
    return this.#try(
      object,
      change,
      listMapEdits((editor, place, prefix) => {
        const source = editor.readSource(place, [...prefix, ...keys])
        if (source?.includes('$(')) throw new EditError('it has a variable')
        if (isEncryptedText(source?.replace(/^["']/, ''))) throw new EditError('it is encrypted')
        return editor.setMember(place, [...prefix, ...keys], written)
      }),
    )
  }

  /** Returns the declarations of an object in all files. */
  #list(address: string): DeclaredObject[] {
    return [...this.#state].flatMap(([name, object]) => (getAddress(name) === address ? [object] : []))
  }

  /** Returns the declaration of an object; of several the one with most fields. */
  #find(address: string): DeclaredObject | undefined {
    const countFields = ({ fields }: DeclaredObject) => Object.keys(fields).length
    return this.#list(address).toSorted((first, second) => countFields(second) - countFields(first))[0]
  }

  /** Makes the first of several edits after which the files declare what is expected. Returns the problem of the first one if there is none. */
  async #try(
    { origin: { position } }: DeclaredObject,
    change: ExpectedChange,
    edits: readonly ((editor: YamlEditor, offset: number) => string)[],
  ): Promise<string | undefined> {
    const { file } = position
    const text = this.#texts.get(file)!
    const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
    const content = text.slice(mark.length)
    const problems: string[] = []
    for (const edit of edits) {
      try {
        const edited = mark + edit(new YamlEditor(content), createOffsetLookup(content)(position))
        const texts = new Map([...this.#texts, [file, edited]])
        const state = await readState(this.#source, texts)
        if (isExpected(this.#state, state, change)) {
          this.#texts.set(file, edited)
          this.#state = state
          this.#count += 1
          return undefined
        }
        problems.push('an edit there would change other values')
      } catch (error) {
        if (!(error instanceof EditError || error instanceof DocumentError)) throw error
        problems.push(
          error instanceof EditError ? error.message : `the file would be refused (${error.message.split('\n')[0]})`,
        )
      }
    }
    return problems[0]
  }
}

/** An edit of the mapping of an object, which is below the keys in its place: in a resource, below `spec`. */
type MapEdit = (editor: YamlEditor, place: MapPlace, prefix: readonly string[]) => string

/** Returns the edits of the mapping at an offset, and of the mapping below the key there. */
const listMapEdits = (edit: MapEdit) =>
  [false, true].map((isKey) => (editor: YamlEditor, offset: number) => {
    const place = { offset, isKey }
    return edit(editor, place, editor.readSource(place, ['apiVersion']) === undefined ? [] : ['spec'])
  })

async function readState({ realm, read }: EditedSource, texts: ReadonlyMap<string, string>): Promise<FileDeclarations> {
  const realms = (await read(texts))
    .map((document) => parseRealm(document, 'warn'))
    .filter(({ name }) => name === realm)
  return new Map(
    realms.flatMap(({ objects }) =>
      objects.map((object) => [`${object.origin.position.file}\0${formatAddress(object.kind, object.key)}`, object]),
    ),
  )
}

/** A field of a kind. */
interface FieldOfKind {
  readonly kind: KindName
  readonly path: string
}

/** Whether a parsed value is declared like a value of an edit, which has relations by the names of objects. */
function isDeclaredAs({ kind, path }: FieldOfKind, parsed: Json | undefined, value: Json): boolean {
  const { field } = resolveField(kinds[kind], path)
  if (parsed === undefined) return false
  if (!field.relation || value === null) return isSameValue(field, parsed, value)
  return formatSorted(toRelationValue(field, readKeys(parsed))) === formatSorted(value)
}

/** Returns a value as JSON with sorted lists and members. */
function formatSorted(value: Json): string {
  if (isList(value)) return `[${value.map(formatSorted).sort().join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${formatSorted(member)}`)
  return `{${members.sort().join(',')}}`
}

/** Returns the address in the name of a declaration. */
const getAddress = (name: string): string => name.slice(name.indexOf('\0') + 1)

/** Whether files declare after an edit what they declared before it, except for the expected change. */
function isExpected(before: FileDeclarations, after: FileDeclarations, change: ExpectedChange): boolean {
  const names = new Set([...before.keys(), ...after.keys()])
  const isOnly = [...names].every((name) => {
    const address = getAddress(name)
    const [former, current] = [before.get(name), after.get(name)]
    if (!former) return 'added' in change && change.added.has(address)
    if (!current) return 'removed' in change && (address === change.removed || isBelow(former.key, change.removed))
    const isChanged = 'path' in change && address === change.object
    return toText(former, isChanged ? change.path : undefined) === toText(current, isChanged ? change.path : undefined)
  })
  if (!isOnly) return false
  if ('removed' in change) return !after.has(`${change.file}\0${change.removed}`)
  if ('added' in change)
    return [...change.added].every((address) => [...after.keys()].some((name) => getAddress(name) === address))
  return [...after].some(
    ([name, { fields }]) => getAddress(name) === change.object && change.isDeclared(fields[change.path]),
  )
}

function isBelow(key: Key, address: string): boolean {
  const parent = findParent(key)
  return parent !== undefined && (formatAddress(parent.kind, parent.key) === address || isBelow(parent.key, address))
}

/** Returns what an object declares as text, without one field. */
function toText({ id, renamedFrom, fields, maskedSecrets }: DeclaredObject, omitted: string | undefined): string {
  const entries = Object.entries(fields).filter(([path]) => path !== omitted)
  return JSON.stringify([id, renamedFrom, entries.sort(([a], [b]) => (a < b ? -1 : 1)), maskedSecrets])
}

// A realm as another server has it, as the document to live with: what must be stated so that its creation gives the same.
import { defaultRoleOf } from '../../kinds/built-in/index.ts'
import { assemble, type FlatFields, isGenerated, resolve } from '../../kinds/compare.ts'
import { componentName } from '../../kinds/component.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, type Json, type Representation } from '../../kinds/json.ts'
import { MASK } from '../../kinds/mask.ts'
import { creationOrder } from '../../kinds/order.ts'
import { parseRealm, type StatedObject } from '../parse.ts'
import { escapeVariables, mapTexts } from '../substitute.ts'
import { valueDocument } from '../yaml/document.ts'
import { following } from './following.ts'
import { minimal, type WrittenObject } from './minimal.ts'
import { documentOf } from './written.ts'

/** What is written besides. */
export interface MoveOptions {
  /** Secrets that are shown, also those that are made up. */
  readonly secrets?: boolean | undefined
  /** The ids of all objects. */
  readonly ids?: boolean | undefined
}

/** Keycloak: components of this type keep people, who name them by id. */
const USER_STORE = 'org.keycloak.storage.UserStorageProvider'

/**
 * The least that must be stated of a whole realm, as another server with this API gives it; `from`: what messages call that
 * server. Secrets that it masks stay masked, unless they are made up. People keep their ids, which applications know them by.
 * Gives also what is left out, since it is not known. Pure. Throws DocumentError.
 */
export function movedIn(
  from: string,
  realm: Representation,
  options: MoveOptions = {},
): { document: Representation; notices: readonly string[] } {
  const { name, objects, notices } = parseRealm(valueDocument(from, realm), 'warn')
  const inOrder = creationOrder.flatMap((kind) => objects.filter((one) => one.kind === kind).sort(byKey))
  const written = inOrder.map((one) => writtenOf(one, options))
  const said = written.map(({ kind, key, fields }) => ({ kind, key, representation: assemble(kinds[kind], fields) }))
  const document = {
    ...documentOf(minimal(name, written, following(said)).map(withoutUnknown)),
    ...otherDefaultRole(name, realm),
  }
  return {
    document: mapTexts(document, [], escapeVariables) as Representation,
    notices: notices.map(({ message }) => message),
  }
}

/** A server of an earlier version says nothing of settings that it does not have: they are as in any new realm. */
function withoutUnknown({ fields, ...one }: WrittenObject): WrittenObject {
  const isUnknown = ([path, value]: [string, Json]) =>
    value === null && one.kind === 'realm' && resolve(kinds.realm, path).field.type !== 'map'
  return { ...one, fields: Object.fromEntries(Object.entries(fields).filter((field) => !isUnknown(field))) }
}

function writtenOf(
  { kind: name, key, id, fields, masked }: StatedObject,
  { secrets, ids }: MoveOptions,
): WrittenObject {
  const kind = kinds[name]
  const mask = (path: string) => (resolve(kind, path).field.setValues ? [MASK] : MASK)
  const all: FlatFields = { ...fields, ...Object.fromEntries(masked.map((path) => [path, mask(path)])) }
  const object = assemble(kind, all)
  const own = Object.entries(all).filter(
    ([path, value]) =>
      !(kind.fields[path]?.once && isEmpty(value)) &&
      (!isGenerated(kind, path, object) || (secrets && !masked.includes(path))),
  )
  const isKnownById = kind.people ? fields.serviceAccountClientId == null : isUserStore(name, key.at(-1)!)
  return { kind: name, key, id: ids || isKnownById ? id : undefined, fields: Object.fromEntries(own) }
}

function byKey({ key: a }: StatedObject, { key: b }: StatedObject): number {
  const [one, other] = [a.join('\0'), b.join('\0')]
  return one < other ? -1 : Number(one > other)
}

function isUserStore(kind: string, name: string): boolean {
  return kind === 'component' && componentName(name).providerType === USER_STORE
}

/** The role that everybody has, where it is not called as in every new realm. */
function otherDefaultRole(realm: string, { defaultRole }: Representation): Representation {
  const name = (defaultRole as Representation | null | undefined)?.name ?? null
  return name === null || name === defaultRoleOf(realm) ? {} : { defaultRole: { name } }
}

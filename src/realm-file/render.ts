// A realm as one document: an export. Stable in order; secrets are masked unless they are asked for.

import { defaultRoleOf } from '../kinds/built-in/index.ts'
import { assemble, type FlatFields, flatten, isGenerated, isSecret, resolve } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Kind, Representation } from '../kinds/kind.ts'
import { MASK } from '../kinds/mask.ts'
import { creationOrder } from '../kinds/order.ts'
import { joinTree } from '../kinds/tree.ts'
import { demand } from '../service/administrators.ts'
import type { Context } from '../service/context.ts'
import { credentialsOf } from '../service/credentials.ts'
import { writers } from '../service/index.ts'
import type { LiveObject } from '../service/live.ts'
import { defaultRoleName } from '../service/roles.ts'
import { changeTexts } from '../service/secrets.ts'
import { type Following, minimal } from './minimal.ts'
import { shapedForExport } from './reshape.ts'
import { escapeVariables, mapTexts } from './substitute.ts'

/** What an export shows besides the rest. */
export interface ExportOptions {
  /** Secrets in the clear, for a full round trip; otherwise masked. */
  readonly secrets?: boolean
  /** Ids, which creation honours and nothing compares. */
  readonly ids?: boolean
  /** Everything, also what creation would give. */
  readonly full?: boolean
}

/**
 * The realm as a document in the form of Keycloak's realm export: what must be stated so that its creation gives the same.
 * A constant number of statements.
 */
export async function exportRealm(context: Context, options: ExportOptions = {}): Promise<Representation> {
  demand(context, 'administer-realm')
  const objects: LiveObject[] = []
  for (const kind of creationOrder) {
    const found = byParent(await writers[kind].list(context, {}))
    objects.push(...(kind === 'user' && options.secrets ? await withCredentials(context, found) : found))
  }
  const written = objects.map((one) => writtenOf(context, one, options))
  const needed = options.full ? written : minimal(context.realm.name, written, following(objects))
  const tree = joinTree(
    needed.map(({ kind, key, id, fields }) => ({
      kind,
      key,
      ...(id !== undefined && { id }),
      representation: representationOf(kinds[kind], fields),
      path: [],
    })),
  )
  // A text that looks like a variable must come back as it is.
  const named = { ...shapedForExport(tree), ...(await otherDefaultRole(context)) }
  return mapTexts(inOrder(named), [], escapeVariables) as Representation
}

/** The role that everybody has, where it is not called as in every new realm. A few statements. */
async function otherDefaultRole(context: Context): Promise<Representation> {
  const name = await defaultRoleName(context)
  return name === undefined || name === defaultRoleOf(context.realm.name) ? {} : { defaultRole: { name } }
}

/** In a list of the realm, the objects of one parent stand together: their own names may repeat. */
function byParent(objects: readonly LiveObject[]): readonly LiveObject[] {
  if (objects[0] && kinds[objects[0].kind].parentField === undefined) return objects
  return objects.toSorted((a, b) => Number(a.key.at(-2)! > b.key.at(-2)!) - Number(a.key.at(-2)! < b.key.at(-2)!))
}

/** Nobody compares what people log in with: it is read only where it is shown. */
async function withCredentials(context: Context, people: readonly LiveObject[]): Promise<LiveObject[]> {
  const credentials = await credentialsOf(context, people)
  return people.map((live) => {
    const own = credentials.get(live.id)
    return own ? { ...live, representation: { ...live.representation, credentials: own } } : live
  })
}

function writtenOf(context: Context, { kind: name, key, id, representation }: LiveObject, options: ExportOptions) {
  const kind = kinds[name]
  const flat = Object.entries(flatten(kind, representation)).map(([path, value]): [string, Json] => {
    if (!isSecret(kind, path)) return [path, value]
    return [path, changeTexts(value, (secret) => (options.secrets ? context.vault.open(secret) : MASK))]
  })
  // What is made up comes by itself wherever the object is made.
  const left =
    options.full || options.secrets ? flat : flat.filter(([path]) => !isGenerated(kind, path, representation))
  return { kind: name, key, id: options.ids ? id : undefined, fields: Object.fromEntries(left) }
}

function following(objects: readonly LiveObject[]): Following {
  const realm = objects.find(({ kind }) => kind === 'realm')!
  const additions = new Map(creationOrder.map((kind) => [kind, writers[kind].additions?.(realm)]))
  return {
    additions: (kind, stated) => additions.get(kind)?.(stated) ?? {},
    brought: objects.flatMap((live) => writers[live.kind].brings?.(live) ?? []),
  }
}

/** The representation in the order of the kind's description, maps by key; null stays. */
function representationOf(kind: Kind, fields: FlatFields): Representation {
  const order = new Map(Object.keys(kind.fields).map((name, at) => [name, at]))
  const place = (path: string) => (path === kind.naturalKey ? -1 : order.get(resolve(kind, path).name)!)
  const sorted = Object.keys(fields).sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
  const representation = assemble(kind, Object.fromEntries(sorted.map((path) => [path, fields[path]!])))
  for (const path of sorted.filter((one) => fields[one] === null)) {
    const { name, key } = resolve(kind, path)
    if (key === undefined) representation[name] = null
    else representation[name] = { ...(representation[name] as Representation | undefined), [key]: null }
  }
  return representation
}

/** Settings first, then what belongs to the realm, as its description has it. */
function inOrder(tree: Representation): Representation {
  const settings = Object.keys(tree).filter((field) => field in kinds.realm.fields)
  const content = Object.keys(kinds.realm.children).filter((field) => field in tree)
  const fields = new Set([...settings, ...content, ...Object.keys(tree)])
  return Object.fromEntries([...fields].map((field) => [field, tree[field]!]))
}

// A realm as one document: an export. Stable in order; secrets are masked unless they are asked for.

import { defaultRoleOf } from '../../kinds/built-in/index.ts'
import { flatten, isGenerated, isSecret, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { MASK } from '../../kinds/mask.ts'
import { creationOrder } from '../../kinds/order.ts'
import type { Context } from '../../service/context/context.ts'
import { changeTexts } from '../../service/context/secrets.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { demand } from '../../service/permissions/administrators.ts'
import { credentialsOf } from '../../service/users/credentials.ts'
import { defaultRoleName } from '../../service/users/default-role.ts'
import { escapeVariables, mapTexts } from '../substitute.ts'
import { following } from './following.ts'
import { minimal, type WrittenObject, whole } from './minimal.ts'
import { documentOf } from './written.ts'

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
    const found = await writers[kind].list(context, {})
    objects.push(...(kind === 'user' && options.secrets ? await withCredentials(context, found) : found))
  }
  // A text that looks like a variable must come back as it is.
  return mapTexts(await realmOf(context, objects, options), [], escapeVariables) as Representation
}

/** The objects of a realm, as they are listed, as its representation. A few statements. */
export async function realmOf(
  context: Context,
  objects: readonly LiveObject[],
  options: ExportOptions,
): Promise<Representation> {
  const written = objects.map((one) => writtenOf(context, one, options))
  const needed = (options.full ? whole : minimal)(context.realm.name, written, following(objects))
  return { ...documentOf(needed), ...(await otherDefaultRole(context)) }
}

/** The role that everybody has, where it is not called as in every new realm. A few statements. */
async function otherDefaultRole(context: Context): Promise<Representation> {
  const name = await defaultRoleName(context)
  return name === undefined || name === defaultRoleOf(context.realm.name) ? {} : { defaultRole: { name } }
}

/** Nobody compares what people log in with: it is read only where it is shown. */
async function withCredentials(context: Context, people: readonly LiveObject[]): Promise<LiveObject[]> {
  const credentials = await credentialsOf(context, people)
  return people.map((live) => {
    const own = credentials.get(live.id)
    return own ? { ...live, representation: { ...live.representation, credentials: own } } : live
  })
}

/** A live object as it is written: its secrets masked unless they are asked for. */
export function writtenOf(
  context: Context,
  { kind: name, key, id, representation, references }: LiveObject,
  options: ExportOptions,
): WrittenObject {
  const kind = kinds[name]
  const flat = Object.entries(flatten(kind, representation)).map(([path, value]): [string, Json] => {
    // Keycloak: reads such a reference by id only.
    if (options.ids && resolve(kind, path).field.wire === 'id') return [path, references[path] ?? value]
    if (!isSecret(kind, path)) return [path, value]
    return [path, changeTexts(value, (secret) => (options.secrets ? context.vault.open(secret) : MASK))]
  })
  // What is made up comes by itself wherever the object is made.
  const left =
    options.full || options.secrets ? flat : flat.filter(([path]) => !isGenerated(kind, path, representation))
  return { kind: name, key, id: options.ids ? id : undefined, fields: Object.fromEntries(left) }
}

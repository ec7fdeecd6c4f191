// Why something is as it is: which documents state it, and who set it when.
import { type FlatFields, isSecret, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { describe } from '../../kinds/tree.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { digested } from '../../service/context/secrets.ts'
import { entriesOf } from '../../service/journal/journal.ts'
import { writers } from '../../service/kinds/index.ts'
import { demand } from '../../service/permissions/administrators.ts'
import { inventoryOfObject, sourcesOf } from '../../service/sources/sources.ts'
import type { Attribution } from '../model/action.ts'
import { blame } from '../model/attribution.ts'

/** Where a source states a field. */
export interface StatedAt {
  readonly source: string
  /** The revision of the source that was applied last. */
  readonly revision: string
  readonly file: string
  readonly line: number
}

/** Why a field is as it is. */
export interface Reason {
  readonly path: string
  /** The live value; absent for secrets. */
  readonly value?: Json
  readonly stated: readonly StatedAt[]
  /** Who set it last; absent: it is as it came with its object. */
  readonly by?: Attribution
}

/** Why an object is as it is: who made it, and its fields. */
export interface Reasons {
  readonly kind: KindName
  readonly key: Key
  readonly id: string
  readonly by?: Attribution
  readonly fields: readonly Reason[]
}

/**
 * Why what stands at a path is as it is: of an object each field that is stated or was changed, or the one that the path names.
 * Throws invalid, not_found. A few statements.
 */
export async function why(context: Context, path: string): Promise<Reasons> {
  demand(context, 'administer-realm')
  const { kind, key, field } = placeOf(context.realm.name, path)
  const [live] = await writers[kind].list(context, { keys: [key] })
  if (!live) throw failure('not_found', `${describe(kind, key)} is not there`)
  const fields = digested(context.vault, kinds[kind], live.representation)
  const rows = await inventoryOfObject(context, kind, live.id)
  const entries = await entriesOf(context, [{ kind, object: live.id }])
  const sources = new Map((await sourcesOf(context)).map((one) => [one.source, one.revision]))
  const changed = new Set(entries.flatMap((one) => (one.operation === 'update' ? Object.keys(one.fields) : [])))
  const all = [...new Set([...rows.flatMap((row) => Object.keys(row.fields)), ...changed])].sort()
  const asked = field === undefined ? all : pathsUnder(kind, field, fields, all)
  const changedBy = blame(entries)
  const made = entries.findLast(({ operation }) => operation === 'create')
  const maker = made && blame([made])(kind, live.id)
  return {
    kind,
    key: live.key,
    id: live.id,
    ...(maker && { by: maker }),
    fields: asked.map((own): Reason => {
      const by = changed.has(own) ? changedBy(kind, live.id, own) : maker
      return {
        path: own,
        ...(!isSecret(kinds[kind], own) && { value: valueAt(kinds[kind], fields, own) }),
        stated: rows
          .filter((row) => own in row.fields)
          .map(({ source, file, line, lines }) => ({
            source,
            revision: sources.get(source) ?? '',
            file,
            line: line + (lines?.[own] ?? 0),
          })),
        ...(by && { by }),
      }
    }),
  }
}

/** A field, or the keys of a map. */
function pathsUnder(kind: KindName, field: string, live: FlatFields, known: readonly string[]): string[] {
  const [name = ''] = field.split('.')
  if (!Object.hasOwn(kinds[kind].fields, name)) {
    const near = nearest(name, Object.keys(kinds[kind].fields))
    throw failure('invalid', `${kinds[kind].title} has no field ${name}${near ? `; did you mean ${near}?` : ''}`)
  }
  const under = [...new Set([...known, ...Object.keys(live)])].filter((path) => path.startsWith(`${field}.`)).sort()
  return under.length ? under : [field]
}

/**
 * What a path names: `displayName`, `clients/my-app`, `clients/my-app/roles/buyer/description`, `groups/staff%2Fnight`; steps are
 * those of a realm file, and encoded as in an address.
 */
export function placeOf(realm: string, path: string): { kind: KindName; key: Key; field: string | undefined } {
  const steps = path.split('/').filter(Boolean).map(decodeURIComponent)
  let kind: KindName = 'realm'
  let key: Key = [realm]
  for (;;) {
    const child: KindName | undefined = childrenOf(kind)[steps[0] ?? '']
    if (!child) break
    const parented = kinds[child].parentField !== undefined
    const names = steps.slice(1, parented ? 3 : 2)
    if (names.length < (parented ? 2 : 1)) throw failure('invalid', `${steps[0]} of what? Name one: ${steps[0]}/<name>`)
    const above: Key = parented ? [kinds[child].parents[0]!, names[0]!] : kind === 'realm' ? [] : [kind, ...key]
    key = [...above, keyName(child, names.at(-1)!)]
    kind = child
    steps.splice(0, parented ? 3 : 2)
  }
  return { kind, key, field: steps.length ? steps.join('.') : undefined }
}

/** The kinds of what an object holds, by field; roles stand with their clients, as in the admin API. */
function childrenOf(kind: KindName): Readonly<Record<string, KindName>> {
  const own = kinds[kind].children
  return kind === 'client' ? { ...own, roles: 'role' } : own
}

/** Whose natural key is a path may be named without the first stroke. */
function keyName(kind: KindName, name: string): string {
  return kind === 'group' && !name.startsWith('/') ? `/${name}` : name
}

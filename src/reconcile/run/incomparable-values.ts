// Removes declared values that cannot be compared, since the live ones are unknown.
import { describeObject } from '../../kinds/tree.ts'
import type { DocumentWarning } from '../../realm-file/yaml/problem.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import { collectSecrets } from '../merge/desired-realm.ts'
import type { MergedRealm, RunInput } from '../merge/merge-sources.ts'

/** Returns a realm without the declared values that are not compared, with a note for each field. */
export function removeIncomparable({ listIncomparable }: RunInput, realm: MergedRealm): MergedRealm {
  if (!listIncomparable) return realm
  const { desired } = realm
  const objects = new Map(desired.objects)
  const removed: { readonly path: string; readonly object: DesiredObject }[] = []
  for (const [address, object] of objects) {
    const paths = listIncomparable(desired.name, object)
    if (!paths.length) continue
    removed.push(...paths.map((path) => ({ path, object })))
    const secrets = Object.entries(object.secrets ?? {}).filter(([path]) => !paths.includes(path))
    objects.set(address, {
      ...object,
      fields: object.fields.replace(new Map(paths.map((path) => [path, undefined]))),
      ...collectSecrets(object.kind, Object.fromEntries(secrets)),
    })
  }
  const byKind = Map.groupBy(removed, ({ object }) => object.kind)
  const warnings = [...byKind.values()].map(noteIncomparable)
  return { ...realm, desired: { ...desired, objects, warnings: [...desired.warnings, ...warnings] } }
}

/** The most fields that a note lists. */
const LISTED_FIELDS = 5

/** Returns one note for the values of all objects of a kind. */
function noteIncomparable(
  values: readonly { readonly path: string; readonly object: DesiredObject }[],
): DocumentWarning {
  const { path, object } = values[0]!
  const objectCount = new Set(values.map((value) => value.object)).size
  const paths = [...new Set(values.map((value) => value.path))]
  const listed = paths.slice(0, LISTED_FIELDS).join(', ')
  const fields = paths.length > LISTED_FIELDS ? `${listed} and ${paths.length - LISTED_FIELDS} more fields` : listed
  const objects = `${describeObject(object.kind, object.key)}${objectCount > 1 ? ` (and ${objectCount - 1} more)` : ''}`
  const position = object.origin.locate(path)
  return { position, message: `${objects}: not compared, since the server does not return it: ${fields}` }
}

// Where a resource may name a Secret: as its definition says, which lets pass what stands deeper, and which nobody has asked
// who speaks to admission by themselves.
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'
import type { DocumentPath } from '../../lib/source-position.ts'

/** Whether what stands at the path in an object of the kind is secret, or may be: whoever reads other fields must not read Secrets by them. */
export function mayNameSecret(kind: Kind, path: DocumentPath): boolean {
  const name = String(path[0])
  // Of components in components a form says so: see realm-file/forms/components.ts.
  const child = kind === kinds.component && name === 'subComponents' ? 'component' : kind.children[name]
  if (!child) return isSecretIn(kind.fields, path)
  // Children stand in a list, some of them by type.
  const at = path.findIndex((step) => typeof step === 'number')
  return at > 0 && mayNameSecret(kinds[child], path.slice(at + 1))
}

/** A list says of its members which of them are secret; of a map, it depends on the key. */
function isSecretIn(fields: Readonly<Record<string, Field>>, [name, , ...below]: DocumentPath): boolean {
  const field = fields[String(name)]
  if (!field?.secret || field.computed) return false
  return field.members ? isSecretIn(field.members, below) : true
}

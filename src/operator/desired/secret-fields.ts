// Decides which fields of a resource may refer to a Kubernetes Secret.
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'
import type { DocumentPath } from '../../lib/source-position.ts'

/**
 * Whether the field at the path in an object of the kind may refer to a Secret: it is secret itself. A user who may only read other
 * fields would otherwise read Secrets through them.
 */
export function canReferToSecret(kind: Kind, path: DocumentPath): boolean {
  const name = String(path[0])
  // The kind does not describe components within components, which are a format of realm files: see realm-file/formats/components.ts.
  const child = kind === kinds.component && name === 'subComponents' ? 'component' : kind.children[name]
  if (!child) return isSecretField(kind.fields, path)
  // Children are elements of a list, in some fields of a list by type.
  const index = path.findIndex((step) => typeof step === 'number')
  return index > 0 && canReferToSecret(kinds[child], path.slice(index + 1))
}

/** Whether a field is secret. Elements of a list have their own descriptions; in a map, any key may be secret. */
function isSecretField(fields: Readonly<Record<string, Field>>, [name, , ...rest]: DocumentPath): boolean {
  const field = fields[String(name)]
  if (!field?.secret || field.computed) return false
  return field.members ? isSecretField(field.members, rest) : true
}

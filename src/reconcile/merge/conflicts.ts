// Conflicts between declarations: different values of one field, and ids that are not unique.
import { kinds } from '../../kinds/index.ts'
import { describeObject, formatAddress } from '../../kinds/tree.ts'
import { formatPosition, type SourcePosition } from '../../lib/source-position.ts'
import type { DocumentProblem } from '../../realm-file/yaml/problem.ts'
import type { ObjectDeclaration } from '../model/plan-input.ts'

/** The declaration of an object with an id. */
export type IdClaim = Pick<ObjectDeclaration, 'kind' | 'key' | 'id' | 'origin'>

/**
 * Records the declared id of an object. Adds a problem if the object is declared with another id, or another object has it. `ids`:
 * claims by address, and by kind and id.
 */
export function claimId(
  ids: Map<string, IdClaim>,
  { kind, key, id, origin }: IdClaim,
  problems: DocumentProblem[],
): void {
  if (id === undefined) return
  const claim: IdClaim = { kind, key, id, origin }
  const [byAddress, byId] = [formatAddress(kind, key), `${kind} ${id}`]
  const { idField } = kinds[kind]
  const before = ids.get(byAddress)
  const holder = ids.get(byId)
  if (before && before.id !== id) problems.push(createConflict(claim, idField, before.origin.locate(idField)))
  else if (holder && formatAddress(holder.kind, holder.key) !== byAddress) {
    const other = `${describeObject(holder.kind, holder.key)} at ${formatPosition(holder.origin.locate(idField))}`
    const message = `${describeObject(kind, key)} has the id of ${other}. Remove one of them, since ids are unique.`
    problems.push({ position: origin.locate(idField), message })
  }
  ids.set(byAddress, before ?? claim).set(byId, holder ?? claim)
}

/** Returns the problem that a field is declared with another value at another position. */
export function createConflict({ kind, key, origin }: IdClaim, path: string, other: SourcePosition): DocumentProblem {
  const conflict = `${describeObject(kind, key)}: ${path} is declared differently at ${formatPosition(other)}`
  return {
    position: origin.locate(path),
    message: `${conflict}. Declare it once, or with the same value.`,
    otherPosition: other,
  }
}

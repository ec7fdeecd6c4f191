// Obstacles that prevent a plan: conflicts with other sources, and unresolved references. Pure.
import { type FlatFields, getField, isSameValue } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { describeObject, findParent, formatAddress } from '../../kinds/tree.ts'
import { findNearestWord } from '../../lib/nearest-word.ts'
import { quoteWord } from '../../lib/quote-word.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import type { RealmPlan } from '../model/action.ts'
import type { ObjectDeclaration, PlanInput } from '../model/plan-input.ts'
import { isUnchangedValue, listReferences, type ReferenceTarget } from '../model/references.ts'
import { findFormerKey } from '../model/renames.ts'
import { listFields } from './binding.ts'

/** A reason why a plan cannot be applied. */
export interface Obstacle {
  readonly position: SourcePosition
  readonly message: string
  /** The position of the last declaration of an object that is no longer declared. */
  readonly otherPosition?: SourcePosition
  /** Whether something is missing that another source may declare. */
  readonly isMissing?: true
}

/** Returns the reasons why a plan cannot be applied. `plan`: the plan of the input. */
export function findObstacles(input: PlanInput, plan: RealmPlan): Obstacle[] {
  const missing = findMissingRealm(input)
  if (missing) return [missing]
  return [
    ...findConflicts(input),
    ...findUnresolvedReferences(input, plan),
    ...findReferencesOfOtherSources(input, plan),
    ...findMissingObjects(input, plan),
    ...findDeclaredFormerNames(input),
  ]
}

/** Finds a realm that does not exist and whose objects alone are declared: its name may be misspelt, so it is not created. */
function findMissingRealm({ exists, realmReference, realm }: PlanInput): Obstacle | undefined {
  if (exists || !realmReference) return undefined
  const message = `realm ${realm} does not exist, and no document of this source declares it. Declare it, or correct the name.`
  return { position: realmReference, message, isMissing: true }
}

/** Finds fields that another source declares differently. That source is not read in this run: it can only veto. */
function findConflicts(input: PlanInput): Obstacle[] {
  const ofOtherSources = Map.groupBy(listVetoingSources(input), ({ kind, key }) => formatAddress(kind, key))
  return [...input.declared].flatMap(([id, declaration]) =>
    (ofOtherSources.get(id) ?? []).flatMap(({ source, file, line, lines, fields }) =>
      listFields(declaration).flatMap(({ path, value, origin }): Obstacle[] => {
        const kind = kinds[declaration.kind]
        const other = fields[path]
        const field = getField(kind, path)
        // Two hashes of a password differ although the password is the same.
        if (other === undefined || field.relation || (field.appliedOnChange && field.secret)) return []
        if (isSameValue(field, value, other)) return []
        const subject = `${describeObject(declaration.kind, declaration.key)}: ${path}`
        const advice = 'Declare it once, or with the same value.'
        // What the source itself has applied from a document that this run excludes.
        const isOwn = input.markedRows.has(source)
        const place = `${isOwn ? '' : `source ${source}, `}${file}:${line + (lines?.[path] ?? 0)}`
        const rename = `If ${source} is this source under an earlier name, run "regent source rename", or pass --name ${quoteWord(source)}.`
        const message = `${subject} is declared differently by ${place}. ${advice}${isOwn ? '' : ` ${rename}`}`
        return [{ position: origin.locate(path), message }]
      }),
    ),
  )
}

/** Returns the objects of other sources that this run must not contradict. */
const listVetoingSources = ({ otherSources, tenants }: PlanInput) =>
  tenants.size ? otherSources.filter(({ source }) => !tenants.has(source)) : otherSources

/** Finds objects that the plan deletes and another source refers to. That source is not read in this run: it can only veto. */
function findReferencesOfOtherSources(input: PlanInput, { actions }: RealmPlan): Obstacle[] {
  const deleted = new Set(
    actions.filter(({ operation }) => operation === 'delete').map(({ kind, key }) => formatAddress(kind, key)),
  )
  if (!deleted.size) return []
  const positions = new Map(
    input.managed.map((row) => [formatAddress(row.kind, row.key), { file: row.file, line: row.line, column: 1 }]),
  )
  return listVetoingSources(input).flatMap((owner) =>
    Object.entries(owner.fields)
      .flatMap(([path, value]) => listReferences(owner, path, value))
      .filter(({ to, key }) => deleted.has(formatAddress(to, key)))
      .map(({ to, key }): Obstacle => {
        const otherPosition = positions.get(formatAddress(to, key))
        return {
          ...(otherPosition && { otherPosition }),
          position: { file: owner.file, line: owner.line, column: 1 },
          message: `${describeObject(owner.kind, owner.key)} of source ${owner.source} refers to ${describeObject(to, key)}, which is no longer declared and would be deleted. Declare it again, or remove the reference first.`,
        }
      }),
  )
}

/** Finds references to objects that are neither declared nor live, or that the plan deletes. */
function findUnresolvedReferences(input: PlanInput, { actions }: RealmPlan): Obstacle[] {
  const addressOf = ({ kind, key }: { kind: KindName; key: Key }) => formatAddress(kind, key)
  const deleted = new Set(actions.filter(({ operation }) => operation === 'delete').map(addressOf))
  const existing = new Set([...input.declared.keys(), ...input.live.map(addressOf).filter((id) => !deleted.has(id))])
  const unmarked = new Map(input.managed.filter(({ marked }) => !marked).map((row) => [addressOf(row), row.fields]))
  // Many objects may refer to the same missing one.
  const suggestions = new Map<string, string | undefined>()
  return [...input.declared].flatMap(([id, declaration]) => {
    // References of unchanged objects resolve, unless the plan deletes their target.
    const isUnchanged = input.isUnchanged(id)
    if (isUnchanged && !deleted.size) return []
    return listReferencesOf(declaration, unmarked.get(id)).flatMap((reference): Obstacle[] => {
      const target = formatAddress(reference.to, reference.key)
      const isApplied = isUnchanged || reference.isApplied
      if (isApplied ? !deleted.has(target) : existing.has(target)) return []
      const isDeleted = deleted.has(target)
      if (!isDeleted && !suggestions.has(target)) suggestions.set(target, suggestName(input, reference))
      const message = describeUnresolved(declaration, reference, { isDeleted, suggestion: suggestions.get(target) })
      return [{ position: reference.locate(), message, isMissing: true }]
    })
  })
}

/** Finds objects that documents refer to without declaring them, and that do not exist. */
function findMissingObjects(input: PlanInput, { actions }: RealmPlan): Obstacle[] {
  return actions.flatMap(({ operation, kind, key }): Obstacle[] => {
    const declaration = input.declared.get(formatAddress(kind, key))
    if (operation !== 'create' || !declaration?.isReference) return []
    const suggestion = suggestName(input, { to: kind, key })
    const advice = suggestion === undefined ? 'Declare it, or remove the reference.' : `Did you mean ${suggestion}?`
    const message = `${describeObject(kind, key)} does not exist, but is referred to here. ${advice}`
    return [{ position: declaration.origin.position, message, isMissing: true }]
  })
}

/** Finds renamed objects whose former name is declared as well. */
function findDeclaredFormerNames({ declared }: PlanInput): Obstacle[] {
  return [...declared.values()].flatMap((declaration): Obstacle[] => {
    const { kind, key, origin } = declaration
    const former = findFormerKey(declaration)
    if (!former || !declared.has(formatAddress(kind, former))) return []
    const message = `${describeObject(kind, key)}: ${describeObject(kind, former)} is declared as well. Remove renamedFrom, or that declaration.`
    return [{ position: origin.position, message }]
  })
}

/** A reference of a declared object to its parent, or of one of its fields to another object. */
interface DeclaredReference extends ReferenceTarget {
  /** The field; absent if the reference is that to the parent. */
  readonly path?: string
  /** Whether the value is the last applied one, and nobody has changed the object since: its target exists. */
  readonly isApplied: boolean
  readonly locate: () => SourcePosition
}

function listReferencesOf(declaration: ObjectDeclaration, applied: FlatFields | undefined): DeclaredReference[] {
  const parent = findParent(declaration.key)
  const ofFields = listFields(declaration).flatMap(({ path, value, origin }) => {
    const isApplied = isUnchangedValue(applied, path, value)
    return listReferences(declaration, path, value).map(
      (target): DeclaredReference => ({ ...target, path, isApplied, locate: () => origin.locate(path, target.key) }),
    )
  })
  if (!parent) return ofFields
  const { origin } = declaration
  const isApplied = applied !== undefined
  return [{ to: parent.kind, key: parent.key, isApplied, locate: () => origin.parentPosition }, ...ofFields]
}

/** Describes an unresolved reference. `isDeleted`: the plan deletes its target. `suggestion`: a similar name. */
function describeUnresolved(
  { kind, key }: ObjectDeclaration,
  { to, key: target, path }: DeclaredReference,
  { isDeleted, suggestion }: { readonly isDeleted: boolean; readonly suggestion: string | undefined },
): string {
  const from = `${describeObject(kind, key)}:${path === undefined ? '' : ` ${path}`}`
  if (target.at(-1) === '') return `${from} names no ${kinds[to].title}. Write its name, or null for none.`
  const name = path === undefined ? describeObject(to, target) : `refers to ${describeObject(to, target)}, which`
  const removal = path === undefined ? `remove the ${kinds[kind].title}` : 'remove the reference'
  if (isDeleted) return `${from} ${name} is no longer declared and would be deleted. Declare it again, or ${removal}.`
  const advice = suggestion === undefined ? `Declare it, or ${removal}.` : `Did you mean ${suggestion}?`
  return `${from} ${name} does not exist. ${advice}`
}

/** Returns the most similar name of a declared or live object of the kind with the same parent, if one is similar. */
function suggestName(input: PlanInput, { to, key }: ReferenceTarget): string | undefined {
  const declared = [...input.declared.values()].filter(({ isReference }) => !isReference)
  const candidates = [
    ...[...declared, ...input.live].filter(({ kind }) => kind === to).map((object) => object.key),
    ...(input.candidateKeys.get(to) ?? []),
  ]
  const parent = JSON.stringify(key.slice(0, -1))
  const siblings = candidates.filter((candidate) => JSON.stringify(candidate.slice(0, -1)) === parent)
  return findNearestWord(
    key.at(-1)!,
    siblings.map((candidate) => candidate.at(-1)!),
  )
}

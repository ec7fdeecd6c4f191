// The warnings of an admission review: what applying the resource would do besides what it declares. Pure.
import { toRealmText } from '../../reconcile/report/outcome-text.ts'
import type { Resource } from '../cluster/resource.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import { renderProblem } from '../desired/resource-fault.ts'
import type { RealmRun } from '../realms/namespace-run.ts'

/** Warnings of one category that are listed one by one, at most. */
const MAX_LISTED = 5

/**
 * Lists the warnings of a dry run with the resource: findings, deletions, effects on users, and guards. `otherResources`: resources
 * that might be excluded because of it.
 */
export function listWarnings(
  { file }: DeclaringResource,
  { outcome, faults }: RealmRun,
  otherResources: readonly DeclaringResource[],
): string[] {
  const realmWarnings = outcome.realms.flatMap((realm) => {
    const { name, actions, userEffects, notes, findings, suspended } = toRealmText(realm)
    const deletions = [...actions].flatMap((action) =>
      action.operation === 'delete' ? [`deletes ${action.name}`] : [],
    )
    return [
      ...[...notes, ...findings].flatMap(({ position, message }) =>
        position && isInFile(position.file, file) ? [renderProblem(file, { position, message })] : [],
      ),
      ...abbreviate(deletions),
      ...abbreviate(userEffects.map((effect) => `${effect.name}: ${effect.text}`)),
      ...(realm.guards ?? []).map(
        ({ message }) => `the plan of the realm ${name} will need an approval, since it ${message}`,
      ),
      ...(suspended ? [`the realm ${name} is suspended: ${suspended}`] : []),
    ]
  })
  const exclusions = otherResources.flatMap((declaring) => {
    const fault = declaring.fault ?? faults.get(declaring.file)
    return fault && declaring.file !== file && isReady(declaring.resource)
      ? [`${declaring.file} will no longer be applied: ${fault.message}`]
      : []
  })
  return [...realmWarnings, ...abbreviate(exclusions)]
}

const isInFile = (path: string, file: string) => path === file || path.startsWith(`${file}/`)

const isReady = ({ status }: Resource): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

function abbreviate(warnings: readonly string[]): readonly string[] {
  const remaining = warnings.length - MAX_LISTED
  return remaining > 0 ? [...warnings.slice(0, MAX_LISTED), `and ${remaining} more`] : warnings
}

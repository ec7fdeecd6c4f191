// Logs what each reconciliation of a realm has changed, and why it ran.
import { shortenRevision } from '../../reconcile/model/attribution.ts'
import { type ChangeCounts, hasChanges, type NamespaceResult, type RealmRunResult } from '../status/realm-run-result.ts'

/** Resources that a line names at most. */
const MAX_RESOURCES = 5

/** Logs reconciliations that have changed something, or whose result is another than before. */
export class ReconciliationLog {
  readonly #log: (line: string) => void
  /** The last result of each realm, without its revision and cause. */
  readonly #results = new Map<string, string>()

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  /** Reports a reconciliation. `cause`: why it ran, such as `resources changed`. */
  report(realm: string, result: RealmRunResult, cause: string): void {
    const text = describeResult(result)
    const isRepeated = (this.#results.get(realm) ?? NOTHING) === text
    this.#results.set(realm, text)
    if (isRepeated && !listResults(result).some(isChanging)) return
    this.#log(`Realm ${realm} at ${shortenRevision(result.revision)} (${cause}): ${text}.`)
  }
}

const NOTHING = 'nothing to do'

const isChanging = ({ outcome, plan }: NamespaceResult): boolean => outcome === 'applied' && hasChanges(plan)

const listResults = ({ tenants, ...ofOwner }: RealmRunResult): NamespaceResult[] => [
  ofOwner,
  ...[...tenants.values()].filter((result) => typeof result !== 'string'),
]

function describeResult(result: RealmRunResult): string {
  const { tenants, faults } = result
  const parts = [
    describeOutcome(result),
    ...[...tenants].map(
      ([namespace, tenant]) =>
        `namespace ${namespace}: ${typeof tenant === 'string' ? tenant : describeOutcome(tenant)}`,
    ),
    ...(faults.size ? [describeFaults(faults)] : []),
  ]
  return parts.filter((part) => !part.endsWith(NOTHING)).join('; ') || NOTHING
}

function describeOutcome({ outcome, plan, pendingApproval }: NamespaceResult): string {
  if (outcome === 'applied')
    return hasChanges(plan) ? describeChanges(plan, ['created', 'updated', 'deleted']) : NOTHING
  if (outcome === 'pendingApproval') return `the plan ${pendingApproval?.plan} is pending approval`
  const changes = hasChanges(plan) ? describeChanges(plan, ['to create', 'to update', 'to delete']) : NOTHING
  return `${outcome}, ${changes}`
}

const describeChanges = (plan: ChangeCounts, words: readonly [string, string, string]): string =>
  `${plan.create} ${words[0]}, ${plan.update} ${words[1]}, ${plan.delete} ${words[2]}`

function describeFaults(faults: RealmRunResult['faults']): string {
  const files = [...faults].slice(0, MAX_RESOURCES).map(([file, { reason }]) => `${file} (${reason})`)
  const more = faults.size > MAX_RESOURCES ? ` and ${faults.size - MAX_RESOURCES} more` : ''
  return `not applied: ${files.join(', ')}${more}`
}

// Finds the authors of a plan: its caller, or the authors of the changes of its sources.
import type { Caller, Service } from '../../service/context/service.ts'
import type { AppliedSource, PlanAuthor } from '../../service/context/store-types.ts'
import { listEditors } from '../../service/sources/cluster-resources.ts'
import { getCallingAuthor } from '../../service/sources/plan-authors.ts'
import type { Commit, SourceContent } from '../read/source-content.ts'

/** The sources of a plan, and what each of them has applied last; absent: nothing. */
interface PlannedSources {
  readonly sources: readonly SourceContent[]
  readonly applied: ReadonlyMap<string, Pick<AppliedSource, 'revision' | 'appliedAt'>>
}

/**
 * Returns the authors of a plan; null if they are unknown. Without changes of the sources, such as after a change by REST, there is
 * none. No statement if a user plans, unless a second approver is required, else one for each source.
 */
export async function findPlanAuthors(
  service: Service,
  caller: Caller,
  { sources, applied }: PlannedSources,
): Promise<readonly PlanAuthor[] | null> {
  if (!service.requiresSecondApprover) return null
  if (caller.actor.kind !== 'source') return [await getCallingAuthor(service, caller)]
  const authors: PlanAuthor[] = []
  for (const source of sources) {
    const last = applied.get(source.name)
    if (last?.revision === source.revision) continue
    const ofSource = source.commits
      ? listCommitAuthors(source.commits, last?.revision)
      : await listEditors(service, { source: source.name, appliedAt: last?.appliedAt })
    if (!ofSource.length) return null
    authors.push(...ofSource)
  }
  return authors
}

/** Returns the authors of the commits that are not part of the applied one. */
function listCommitAuthors(commits: readonly Commit[], applied: string | undefined): PlanAuthor[] {
  const parents = new Map(commits.map(({ hash, parents }) => [hash, parents]))
  const included = new Set(applied === undefined ? [] : [applied])
  // A set also iterates over the elements that are added meanwhile.
  for (const hash of included) for (const parent of parents.get(hash) ?? []) included.add(parent)
  const names = commits.filter(({ hash }) => !included.has(hash)).flatMap(({ authors }) => authors)
  return [...new Map(names.map((author) => [author.join(), { names: author }])).values()]
}

// Which sources are to be read together: those that state the same realms.
import type { SourceState } from './source-state.ts'

/** What a source stated before and states now, and every other source that states a realm of these, and so on. */
export function sharing(
  changed: SourceState,
  before: SourceState | undefined,
  others: readonly SourceState[],
): SourceState[] {
  const realms = new Set([changed, ...(before ? [before] : [])].flatMap(realmsOf))
  const found = new Set([changed])
  for (;;) {
    const next = others.find((one) => !found.has(one) && realmsOf(one).some((realm) => realms.has(realm)))
    if (!next) return [...found]
    found.add(next)
    for (const realm of realmsOf(next)) realms.add(realm)
  }
}

function realmsOf({ documents }: SourceState): string[] {
  return documents.map(({ head }) => String(head.realm))
}

// What a source owns after a run: the rows that the record writes and drops.
import { isDeepStrictEqual } from 'node:util'
import type { Ownership } from '../service/sources.ts'
import type { Applied } from './apply.ts'
import { bind } from './binding.ts'
import type { DesiredRealm } from './desired.ts'
import type { Owned, PlanInput } from './plan-input.ts'

/** The inventory rows that differ from what is kept, and those that are owned no more. */
export function ownership(
  desired: DesiredRealm,
  input: PlanInput,
  applied: Applied,
): { owned: Ownership[]; dropped: { kind: string; object: string }[] } {
  // What no action is about is not loaded again: it is what was bound.
  const bound = bind(input)
  const kept = new Map(input.owned.map((row) => [`${row.kind} ${row.object}`, row]))
  const rows = [...desired.objects].map(([id, { kind, key, fields, position }]): Ownership => {
    const values = Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
    return {
      kind,
      object: (bound.get(id)?.id ?? applied.get(id)?.id)!,
      key,
      fields: values,
      file: position.file,
      line: position.line,
      marked: false,
    }
  })
  const now = new Set(rows.map(({ kind, object }) => `${kind} ${object}`))
  return {
    owned: rows.filter((row) => !isDeepStrictEqual(row, withoutSource(kept.get(`${row.kind} ${row.object}`)))),
    dropped: input.owned.filter(({ kind, object }) => !now.has(`${kind} ${object}`)),
  }
}

function withoutSource(row: (Owned & { source?: string }) | undefined): Owned | undefined {
  if (!row) return undefined
  const { source: _, ...rest } = row
  return rest
}

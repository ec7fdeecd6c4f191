// Aliases written out, within limits.
import type { Path } from '../../lib/position.ts'
import type { Source } from './events.ts'
import { maxDepth, maxGrowth, megabyte } from './limits.ts'
import { placeIn } from './places.ts'
import { DocumentError } from './problem.ts'

/**
 * The value with a copy at every alias, so that a change of one is not a change of the others.
 * Throws DocumentError where that is too deep or too long.
 */
export function writtenOut(source: Source, root: number, value: unknown): unknown {
  const fail = (path: Path, message: string) => {
    throw new DocumentError([{ position: placeIn(source)(root, path), message }])
  }
  const { size } = extentOf(value, [], new Map(), (path) =>
    fail(
      path,
      `aliases nest this document deeper than ${maxDepth} levels, or an alias holds itself: write the value out`,
    ),
  )
  if (size > source.text.length + maxGrowth) {
    fail(
      [],
      `aliases make this document more than ${maxGrowth / megabyte} MB longer: use fewer, or a script that writes it`,
    )
  }
  return JSON.parse(JSON.stringify(value))
}

interface Extent {
  /** About the length of its text, aliases written out. */
  readonly size: number
  readonly height: number
}

function extentOf(
  value: unknown,
  path: (string | number)[],
  known: Map<object, Extent>,
  tooDeep: (path: Path) => void,
): Extent {
  if (path.length > maxDepth) tooDeep(path)
  if (typeof value !== 'object' || value === null) return { size: String(value).length + 1, height: 0 }
  const before = known.get(value)
  if (before && path.length + before.height > maxDepth) tooDeep(path)
  if (before) return before
  let size = 2
  let height = 0
  for (const [key, child] of Object.entries(value)) {
    path.push(key)
    const inner = extentOf(child, path, known, tooDeep)
    path.pop()
    size += inner.size + (Array.isArray(value) ? 0 : key.length + 1)
    height = Math.max(height, inner.height + 1)
  }
  const extent = { size, height }
  known.set(value, extent)
  return extent
}

// Where a value stands in a JSON text. The text must be well formed: JSON.parse says whether it is.

/** A value in a text. */
export interface Place {
  readonly path: readonly (string | number)[]
  /** Offset of its first character. */
  readonly offset: number
}

/** Paths as a tree: of each step the steps behind it; `here`: a path ends. */
interface Wanted {
  here: boolean
  readonly steps: Map<string | number, Wanted>
}

/** Of the values at the paths the one that stands first in the text. Reads the text once, however many the paths are. */
export function firstOf(text: string, paths: readonly (readonly (string | number)[])[]): Place | undefined {
  const root: Wanted = { here: false, steps: new Map() }
  for (const path of paths) {
    let at = root
    for (const step of path) {
      if (!at.steps.has(step)) at.steps.set(step, { here: false, steps: new Map() })
      at = at.steps.get(step)!
    }
    at.here = true
  }
  return search(text, space(text, 0), root, [])
}

/** As deep as the paths are, never as deep as the text is. */
function search(text: string, offset: number, wanted: Wanted, path: Place['path']): Place | undefined {
  if (wanted.here) return { path, offset }
  const list = text[offset] === '['
  if (!list && text[offset] !== '{') return undefined
  let at = space(text, offset + 1)
  for (let index = 0; !/[\]}]/.test(text[at]!); index++) {
    let step: string | number = index
    if (!list) {
      const end = scalarEnd(text, at)
      step = JSON.parse(text.slice(at, end)) as string
      at = space(text, space(text, end) + 1)
    }
    const inner = wanted.steps.get(step)
    const found = inner && search(text, at, inner, [...path, step])
    if (found) return found
    at = space(text, valueEnd(text, at))
    if (text[at] === ',') at = space(text, at + 1)
  }
  return undefined
}

/** The offset behind the scalar that begins at the offset. */
export function scalarEnd(text: string, start: number): number {
  let at = start
  if (text[start] !== '"') {
    while (at < text.length && !/[\s,\]}]/.test(text[at]!)) at++
    return at
  }
  at++
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function valueEnd(text: string, start: number): number {
  if (!/[[{]/.test(text[start]!)) return scalarEnd(text, start)
  let at = start
  let depth = 0
  do {
    const character = text[at]!
    if (character === '"') at = scalarEnd(text, at)
    else {
      if (character === '{' || character === '[') depth++
      else if (character === '}' || character === ']') depth--
      at++
    }
  } while (depth > 0)
  return at
}

function space(text: string, at: number): number {
  let next = at
  while (/\s/.test(text[next] ?? '')) next++
  return next
}

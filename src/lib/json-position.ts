// Where a value stands in a JSON text. The text must be well formed: JSON.parse says whether it is.

/** The offset of the first character of the value at the path. */
export function locate(text: string, path: readonly (string | number)[]): number {
  let at = space(text, 0)
  for (const step of path) {
    let index = 0
    at = space(text, at + 1)
    while (at < text.length) {
      if (typeof step === 'number') {
        if (index === step) break
      } else {
        const end = valueEnd(text, at)
        const key = JSON.parse(text.slice(at, end)) as string
        at = space(text, space(text, end) + 1)
        if (key === step) break
      }
      at = space(text, space(text, valueEnd(text, at)) + 1)
      index++
    }
  }
  return at
}

/** The offset behind the scalar that begins at the offset. */
export function scalarEnd(text: string, start: number): number {
  if (text[start] !== '"') return start + /^[^\s,\]}]*/.exec(text.slice(start))![0].length
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function valueEnd(text: string, start: number): number {
  if (!/[[{]/.test(text[start]!)) return scalarEnd(text, start)
  let at = space(text, start + 1)
  while (!/[\]}]/.test(text[at]!)) at = space(text, /[,:]/.test(text[at]!) ? at + 1 : valueEnd(text, at))
  return at + 1
}

function space(text: string, at: number): number {
  let next = at
  while (/\s/.test(text[next] ?? '')) next++
  return next
}

// The URIs of resources as patterns. Keycloak: PathMatcher.

/** Returns the element with the longest pattern that matches a URI; undefined if none does. */
export function findBestMatch<T>(
  elements: readonly T[],
  uri: string,
  listPatterns: (element: T) => readonly string[],
): T | undefined {
  let best: { readonly element: T; readonly length: number } | undefined
  for (const element of elements) {
    for (const pattern of listPatterns(element)) {
      const isBetter = pattern.length > (best?.length ?? -1)
      if (isBetter && matchesPattern(pattern, uri)) best = { element, length: pattern.length }
    }
  }
  return best?.element
}

/** Whether a URI matches a pattern, in which `*` matches any text, and `{name}` one segment of the path. */
export function matchesPattern(pattern: string, uri: string): boolean {
  const star = pattern.indexOf('*')
  if (star < 0) return matchesSegments(pattern.split('/'), uri.split('/'))
  // Keycloak: /documents/* includes /documents.
  if (pattern.endsWith('/*') && matchesSegments(pattern.slice(0, -2).split('/'), uri.split('/'))) return true
  const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)]
  if (!/\{[^/]*\}/.test(start))
    return uri.length >= start.length + end.length && uri.startsWith(start) && uri.endsWith(end)
  const segments = start.split('/')
  const prefix = uri.split('/').slice(0, segments.length - 1)
  const rest = uri
    .split('/')
    .slice(segments.length - 1)
    .join('/')
  const last = segments.pop()!
  return matchesSegments(segments, prefix) && rest.startsWith(last) && rest.endsWith(end)
}

function matchesSegments(pattern: readonly string[], segments: readonly string[]): boolean {
  const matches = (segment: string, at: number) =>
    /^\{.*\}$/.test(segment) ? segments[at] !== '' : segment === segments[at]
  return pattern.length === segments.length && pattern.every(matches)
}

// Which resources of a client a list means.
import type { LiveObject } from '../../objects/live.ts'
import type { Query } from '../common/resource.ts'

/** Keycloak: name, type and scope by a part of them in any case, unless the name is to be exact; the rest exactly. */
export function filterResources(all: readonly LiveObject[], server: LiveObject, query: Query): LiveObject[] {
  const { _id, name, exactName, type, scope, owner, uri, matchingUri } = query
  const holds = (text: unknown, part: unknown) =>
    String(text ?? '')
      .toLowerCase()
      .includes(String(part).toLowerCase())
  const found = all.filter(({ id, key, representation, references }) => {
    const whose = references.owner === undefined ? [server.id, server.key[0]] : [references.owner, representation.owner]
    return (
      (!_id || id === _id) &&
      (!name || (exactName === true ? key.at(-1) === name : holds(key.at(-1), name))) &&
      (!type || holds(representation.type, type)) &&
      (!scope || (representation.scopes as string[]).some((one) => holds(one, scope))) &&
      (!owner || whose.includes(String(owner)))
    )
  })
  if (!uri) return found
  const exact = found.filter(({ representation }) => urisOf(representation).includes(String(uri)))
  return exact.length || matchingUri !== true ? exact : best(found, String(uri))
}

/** The resource whose pattern fits best: the longest one. */
function best(resources: readonly LiveObject[], uri: string): LiveObject[] {
  const patterns = resources.flatMap((live) => urisOf(live.representation).map((pattern) => ({ live, pattern })))
  const fitting = patterns.filter(({ pattern }) => fits(pattern, uri))
  const [first] = fitting.sort((a, b) => b.pattern.length - a.pattern.length)
  return first ? [first.live] : []
}

/** In a pattern `*` stands for anything, or else `{name}` for one step of a path. */
function fits(pattern: string, uri: string): boolean {
  const star = pattern.indexOf('*')
  if (star >= 0) {
    const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)]
    return uri.length >= start.length + end.length && uri.startsWith(start) && uri.endsWith(end)
  }
  const [steps, given] = [pattern.split('/'), uri.split('/')]
  const same = (step: string, at: number) => (/^\{.*\}$/.test(step) ? given[at] !== '' : step === given[at])
  return steps.length === given.length && steps.every(same)
}

function urisOf({ uris }: LiveObject['representation']): string[] {
  return (uris ?? []) as string[]
}

// What lists of several resources are asked for: a page, attributes.
import type { Query } from './resource.ts'

/** The part of a list that the query asks for; `max`: what it gives at most unless it is told. Keycloak: below 0 is as absent. */
export function pageOf({ first, max }: Query, most?: number): { first?: number; max?: number } {
  const asked = typeof max === 'number' ? max : most
  return {
    ...(typeof first === 'number' && first >= 0 && { first }),
    ...(asked !== undefined && asked >= 0 && { max: asked }),
  }
}

/** The attributes that `name:value "other name":"other value"` asks for. */
export function attributesOf(q: string): Record<string, string> {
  const pairs = q.matchAll(/(?:"([^"]+)"|([^\s:"]+)):(?:"([^"]*)"|(\S+))/g)
  return Object.fromEntries([...pairs].map(([, quoted, name, text, word]) => [quoted ?? name!, text ?? word ?? '']))
}

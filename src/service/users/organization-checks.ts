// What an organization must fulfil, and what the reference server says of one that does not.
import { domainToASCII } from 'node:url'
import type { Json, Representation } from '../../kinds/json.ts'
import { reservedIn } from '../objects/reserved.ts'

/** What is wrong with a whole organization; undefined when nothing is. */
export function organizationProblem({ name, alias, redirectUrl, domains }: Representation): string | undefined {
  if (!name) return 'Name can not be null'
  const reserved = reservedIn(String(alias))
  if (reserved !== undefined) return alias === name ? `Name cannot be used as alias: ${reserved}` : reserved
  if (redirectUrl && !isAddress(String(redirectUrl))) return 'Organization redirect URL is not valid.'
  const names = ((domains ?? []) as Record<string, Json>[]).map((domain) => String(domain.name ?? ''))
  const twice = names.find((domain, at) => names.indexOf(domain) !== at)
  if (twice !== undefined) return `Domain ${twice} is stated twice`
  return names.map(domainProblem).find((problem) => problem !== undefined)
}

function isAddress(text: string): boolean {
  return !/\s/.test(text) && ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')
}

/** Keycloak: a name of one part is a domain too, but not with `*.` before it, which stands for every domain below. */
function domainProblem(domain: string): string | undefined {
  if (domain === '') return 'Domain name cannot be empty'
  const base = domain.replace(/^\*\./, '')
  const parts = (/^[\p{L}\p{N}.-]+$/u.test(base) ? domainToASCII(base) || base : base).split('.')
  if (!parts.every((part) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i.test(part))) return `Invalid domain format: ${domain}`
  if (base !== domain && parts.length < 2) return `Domain must have at least 2 parts (e.g. 'example.com'): ${base}`
  return undefined
}

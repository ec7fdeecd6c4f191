// Mappers of the session and its login.
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { viewClient } from '../views.ts'
import { type Claims, isClaims, type MapperConfig, setClaim } from './claims.ts'
import { parseRequestedLevels } from './claims-parameter.ts'
import type { MapperFacts } from './mapper.ts'

/** Writes the user id as `sub`. */
export function mapSubject(claims: Claims, _config: MapperConfig, { user }: MapperFacts): void {
  claims.sub = user.id
}

/** Writes a user session note. */
export function mapSessionNote(
  claims: Claims,
  config: MapperConfig,
  { session, notes = session?.notes ?? {} }: MapperFacts,
): void {
  const name = config['user.session.note'] ?? ''
  if (Object.hasOwn(notes, name)) setClaim(claims, config, notes[name])
}

/** Keycloak: writes the session id under its legacy name. */
export function mapSessionState(claims: Claims, _config: MapperConfig, { session }: MapperFacts): void {
  if (session) claims.session_state = session.id
}

/** Writes the authentication methods that still count as `amr`. */
export function mapAuthenticationMethods(claims: Claims, _config: MapperConfig, { session, realm }: MapperFacts): void {
  const current = (session?.methods ?? []).filter(({ until }) => until >= toEpochSeconds(realm.now))
  claims.amr = current.map(({ name }) => name)
}

/** Writes the nonce of the authorization request to the access token too. */
export function mapNonce(claims: Claims, _config: MapperConfig, facts: MapperFacts): void {
  if (facts.nonce !== undefined) claims.nonce = facts.nonce
}

/** Writes the name of the reached level of authentication as `acr`; of several names, one that the request contains. */
export function mapAuthenticationLevel(
  claims: Claims,
  _config: MapperConfig,
  { realm, client, session, ...request }: MapperFacts,
): void {
  const level = session?.level ?? 1
  const levels = parseLevels(viewClient(client).attributes) ?? parseLevels(realm.settings.attributes) ?? {}
  const { values, isEssential } = parseRequestedLevels(request.claims)
  claims.acr =
    (isEssential ? findHighestName(level, levels, values) : undefined) ??
    findHighestName(level, levels, [...values, ...(request.acrValues ?? [])]) ??
    findHighestName(level, levels, Object.keys(levels)) ??
    String(level)
}

/** Returns the name of the highest level that was reached; a name may be the number of a level. */
function findHighestName(
  level: number,
  levels: Readonly<Record<string, number>>,
  names: readonly string[],
): string | undefined {
  const reached = names
    .map((name) => ({ name, level: Object.hasOwn(levels, name) ? levels[name]! : Number(name) }))
    .filter((candidate) => candidate.level > 0 && candidate.level <= level)
  // The first name wins where two have the same level.
  return reached.sort((a, b) => b.level - a.level)[0]?.name
}

/** Returns the levels of authentication by name. Keycloak: the attribute `acr.loa.map`, as JSON. */
export function parseLevels(
  attributes: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, number>> | undefined {
  const text = attributes?.['acr.loa.map']
  if (!text) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    const levels = isClaims(parsed) ? Object.entries(parsed) : []
    return levels.length ? Object.fromEntries(levels.map(([name, level]) => [name, Number(level)])) : undefined
  } catch {
    return undefined
  }
}

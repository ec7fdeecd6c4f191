// What a log-in says of itself.
import { secondsOf } from '../../lib/seconds.ts'
import { type Claims, type Settings, setClaim } from './claims.ts'
import type { Facts } from './mapper.ts'
import { wishesOf } from './wishes.ts'

/** Who the user is. */
export function subject(claims: Claims, _settings: Settings, { user }: Facts): void {
  claims.sub = user.id
}

/** What log-in noted. */
export function note(claims: Claims, settings: Settings, { session, notes = session?.notes ?? {} }: Facts): void {
  const name = settings['user.session.note'] ?? ''
  if (Object.hasOwn(notes, name)) setClaim(claims, settings, notes[name])
}

/** Keycloak: the session's id under its older name. */
export function sessionState(claims: Claims, _settings: Settings, { session }: Facts): void {
  if (session) claims.session_state = session.id
}

/** How the user proved who they are. */
export function methods(claims: Claims, _settings: Settings, { session, realm }: Facts): void {
  const counting = (session?.methods ?? []).filter(({ until }) => until >= secondsOf(realm.now))
  claims.amr = counting.map(({ name }) => name)
}

/** The nonce of the request, in the access token too. */
export function nonce(claims: Claims, _settings: Settings, facts: Facts): void {
  if (facts.nonce !== undefined) claims.nonce = facts.nonce
}

/** The level of authentication by its name: one that was asked for, where there are several. */
export function contextClass(claims: Claims, _settings: Settings, { realm, client, session, ...request }: Facts): void {
  const level = session?.level ?? 1
  const levels = levelsOf(client.representation.attributes) ?? levelsOf(realm.settings.attributes) ?? {}
  const { acr } = wishesOf(request.claims, 'id_token')
  const wished = [acr?.value, acr?.values].flat().filter((one) => typeof one === 'string')
  const asked = [...wished, ...(request.acrValues ?? [])]
  claims.acr =
    (acr?.essential === true ? best(level, levels, wished) : undefined) ??
    best(level, levels, asked) ??
    best(level, levels, Object.keys(levels)) ??
    String(level)
}

/** Of the names, that of the highest level which the log-in reached; a name may be the number of a level itself. */
function best(level: number, levels: Readonly<Record<string, number>>, names: readonly string[]): string | undefined {
  const reached = names
    .map((name) => ({ name, at: Object.hasOwn(levels, name) ? levels[name]! : Number(name) }))
    .filter(({ at }) => at > 0 && at <= level)
  return reached.reduce<(typeof reached)[number] | undefined>((a, b) => (a && a.at >= b.at ? a : b), undefined)?.name
}

/** Keycloak: names of levels, as JSON in an attribute. */
export function levelsOf(attributes: unknown): Record<string, number> | undefined {
  const text = (attributes as Record<string, string> | undefined)?.['acr.loa.map']
  if (!text) return undefined
  try {
    const stated = Object.entries(JSON.parse(text) as Record<string, unknown>)
    return stated.length ? Object.fromEntries(stated.map(([name, level]) => [name, Number(level)])) : undefined
  } catch {
    return undefined
  }
}

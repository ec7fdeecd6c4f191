// Which mappers take part in what, and in which order.
import { effectiveMapperConfig } from '../../kinds/mapper-types.ts'
import type { MapperHolder, NamedRole } from '../../service/context/store-types.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { mapperTypes, roleChanges } from './index.ts'
import type { ActiveMapper, Roles, Subject, Target } from './mapper.ts'

/** Types that were warned of. */
const unknown = new Set<string>()

/** The mappers of known types, in the order in which they come. */
export function activeMappers(holders: readonly MapperHolder[]): ActiveMapper[] {
  const all = holders.flatMap(({ mappers }) => mappers)
  for (const { type, name } of all.filter(({ type }) => priorityOf(type) === undefined && !unknown.has(type))) {
    unknown.add(type)
    process.emitWarning(`tokens do without the protocol mapper ${name}: there is no type ${type}`)
  }
  return all
    .filter(({ type }) => priorityOf(type) !== undefined)
    .map(({ type, config }) => ({ type, settings: effectiveMapperConfig(type, config) }))
    .sort((a, b) => priorityOf(a.type)! - priorityOf(b.type)!)
}

function priorityOf(type: string): number | undefined {
  return (mapperTypes[type] ?? roleChanges[type])?.priority
}

/** The roles as mappers make them: those of the realm, and of the clients that the token shall be for. */
export function changedRoles(
  mappers: readonly ActiveMapper[],
  held: readonly NamedRole[],
  { audience }: Subject,
): Roles {
  const shown = held.filter(({ client }) => client === null || (audience?.includes(client) ?? true))
  const byOwner = Map.groupBy(shown, ({ client }) => client ?? undefined)
  const roles: Roles = new Map([...byOwner].map(([client, own]) => [client, new Set(own.map(({ name }) => name))]))
  for (const { type, settings } of mappers) roleChanges[type]?.change(roles, settings)
  return roles
}

/** The settings that say whether a mapper is for a target: the first that is stated. */
const FLAGS: Readonly<Record<Target, readonly string[]>> = {
  accessToken: ['access.token.claim'],
  idToken: ['id.token.claim'],
  userInfo: ['userinfo.token.claim', 'id.token.claim'],
  introspection: ['introspection.token.claim', 'access.token.claim'],
  response: ['access.tokenResponse.claim'],
}

/** Whether the mapper takes part in what the client gets for the target. */
export function takesPart({ type, settings }: ActiveMapper, target: Target, { client }: Subject): boolean {
  const mapper = mapperTypes[type]
  if (!mapper?.targets.includes(target)) return false
  const flags = target === 'accessToken' && isLight(client) ? ['lightweight.claim'] : FLAGS[target]
  return mapper.always === true || flags.map((flag) => settings[flag]).find((set) => set !== undefined) === 'true'
}

/** Keycloak: access tokens of the client say little; introspection tells the rest. */
export function isLight({ representation }: LiveObject): boolean {
  const attributes = representation.attributes as Record<string, string> | undefined
  return attributes?.['client.use.lightweight.access.token.enabled'] === 'true'
}

/** Whether the mapper looks at roles for the target. */
export function showsRoles(mapper: ActiveMapper, target: Target, subject: Subject): boolean {
  return mapperTypes[mapper.type]?.roles === true && takesPart(mapper, target, subject)
}

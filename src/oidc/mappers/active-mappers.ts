// The mappers that are active for a token, and their order.
import { readFlag } from '../../kinds/json.ts'
import { toEffectiveMapperConfig } from '../../kinds/mapper-types.ts'
import type { MapperContainer, RoleName, StoredMapper } from '../../service/context/store-types.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { viewClient } from '../views.ts'
import { claimMappers, roleMappers } from './index.ts'
import type { ActiveMapper, ClaimTarget, TokenRoles, TokenSubject } from './mapper.ts'

/** Unsupported types that were reported. */
const reported = new Set<string>()

/** Returns the mappers of supported types, ordered by priority. */
export function listActiveMappers(containers: readonly MapperContainer[]): ActiveMapper[] {
  const mappers = containers.flatMap((container) => container.mappers)
  for (const { type, name } of mappers) {
    if (findPriority(type) !== undefined || reported.has(type)) continue
    reported.add(type)
    process.emitWarning(`The protocol mapper "${name}" is ignored, since its type ${type} is not supported.`)
  }
  return mappers
    .filter(({ type }) => findPriority(type) !== undefined)
    .map(toActiveMapper)
    .sort((a, b) => findPriority(a.type)! - findPriority(b.type)!)
}

/** Active mappers by stored mapper, which is the same object until the configuration changes. */
const activeMappers = new WeakMap<StoredMapper, ActiveMapper>()

function toActiveMapper(mapper: StoredMapper): ActiveMapper {
  const { type, config } = mapper
  const active = activeMappers.get(mapper) ?? { type, config: toEffectiveMapperConfig(type, config) }
  activeMappers.set(mapper, active)
  return active
}

function findPriority(type: string): number | undefined {
  return (claimMappers[type] ?? roleMappers[type])?.priority
}

/** Returns the roles for tokens, changed by role mappers. An audience limits them to realm roles and its clients. */
export function mapRoles(
  mappers: readonly ActiveMapper[],
  userRoles: readonly RoleName[],
  { audience }: TokenSubject,
): TokenRoles {
  const allowed = userRoles.filter(({ client }) => client === null || (audience?.includes(client) ?? true))
  const byClient = Map.groupBy(allowed, ({ client }) => client ?? undefined)
  const roles: TokenRoles = new Map(
    [...byClient].map(([client, clientRoles]) => [client, new Set(clientRoles.map(({ name }) => name))]),
  )
  for (const { type, config } of mappers) roleMappers[type]?.change(roles, config)
  return roles
}

/** The config keys that activate a mapper for a target: the first one that is set counts. */
const TARGET_FLAGS: Readonly<Record<ClaimTarget, readonly string[]>> = {
  accessToken: ['access.token.claim'],
  idToken: ['id.token.claim'],
  userInfo: ['userinfo.token.claim', 'id.token.claim'],
  introspection: ['introspection.token.claim', 'access.token.claim'],
  response: ['access.tokenResponse.claim'],
}

/** Whether a mapper is active for a target. */
export function isActiveFor({ type, config }: ActiveMapper, target: ClaimTarget, { client }: TokenSubject): boolean {
  const mapper = claimMappers[type]
  if (!mapper?.targets.includes(target)) return false
  const isLightweight = target === 'accessToken' && hasLightweightAccessTokens(client)
  const flags = isLightweight ? ['lightweight.claim'] : TARGET_FLAGS[target]
  return mapper.isAlwaysActive === true || flags.map((flag) => config[flag]).find((set) => set !== undefined) === 'true'
}

/** Whether access tokens of a client are lightweight: introspection returns the claims that they leave out. */
export function hasLightweightAccessTokens(client: LiveObject): boolean {
  return readFlag(viewClient(client).attributes?.['client.use.lightweight.access.token.enabled'])
}

/** Whether a mapper is active for a target and uses roles. */
export function needsRoles(mapper: ActiveMapper, target: ClaimTarget, subject: TokenSubject): boolean {
  return claimMappers[mapper.type]?.usesRoles === true && isActiveFor(mapper, target, subject)
}

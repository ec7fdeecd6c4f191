// Random authorization settings of a client, and requests for access, for property tests and the campaign against Keycloak.
import fc from 'fast-check'
import type { NamedResource } from '../../src/service/policy-evaluation/access-requests.ts'
import type {
  AuthorizationSettings,
  DecisionStrategy,
  Policy,
  ProtectedResource,
} from '../../src/service/policy-evaluation/resource-server.ts'

/** The objects of a realm that generated settings and requests name. */
export const universe = {
  users: ['mia', 'noel', 'otto'],
  /** Keys of roles: realm roles and one client role. */
  roles: [['reader'], ['keeper'], ['lead'], ['client', 'other', 'use']],
  groups: ['/staff', '/staff/night', '/visitors'],
  clients: ['web', 'narrow'],
  clientScopes: ['email', 'profile', 'phone'],
  scopes: ['read', 'write', 'share', 'burn'],
  types: ['urn:cabinet', 'urn:paper'],
  times: ['2026-01-31 23:59:59', '2026-02-01 00:00:00', '2026-07-15 12:30:00', '2027-01-01 08:00:00'],
} as const

/** Generated settings. The owners of resources are usernames. */
export type GeneratedSettings = AuthorizationSettings

/** A generated request for access. */
export interface GeneratedRequest {
  readonly user: string
  /** A client of the universe; undefined: the client with the settings. */
  readonly client: string | undefined
  readonly roles: readonly string[]
  /** Resources by name. */
  readonly resources: readonly NamedResource[]
  readonly attributes: Readonly<Record<string, string>>
}

const strategy = fc.constantFrom<DecisionStrategy[]>('UNANIMOUS', 'AFFIRMATIVE', 'CONSENSUS')
const subset = <T>(elements: readonly T[], minLength = 0) => fc.subarray([...elements], { minLength })
const oneOf = <T>(elements: readonly T[]) => fc.constantFrom(...elements)

const resource = (index: number): fc.Arbitrary<ProtectedResource> =>
  fc
    .record({
      type: fc.option(oneOf(universe.types), { nil: undefined }),
      owner: fc.option(oneOf(universe.users), { nil: undefined, freq: 2 }),
      isOwnerManaged: fc.boolean(),
      scopes: subset(universe.scopes),
    })
    .map((fields) => ({ id: `resource-${index}`, name: `Resource ${index}`, uris: [], ...fields }))

type PolicyFields = Policy['fields']

/** Splits elements in two lists: some of them are in the second one. */
const split = <T>(elements: readonly T[], minLength = 1) =>
  subset(elements, minLength).chain((chosen) =>
    subset(chosen).map((flagged) => ({ plain: chosen.filter((element) => !flagged.includes(element)), flagged })),
  )

const toRoles = (keys: readonly (readonly string[])[]): NonNullable<PolicyFields['roles']> => {
  const realm = keys.filter((key) => key.length === 1).map((key) => key[0]!)
  const other = keys.filter((key) => key.length > 1).map((key) => key[2]!)
  return { ...(realm.length && { realm }), ...(other.length && { client: { other } }) }
}

const range = (name: string, minimum: number, maximum: number): fc.Arbitrary<Record<string, string>> =>
  fc
    .tuple(fc.integer({ min: minimum, max: maximum }), fc.option(fc.integer({ min: minimum, max: maximum })))
    .map(([start, end]) => ({ [name]: String(start), ...(end !== null && { [`${name}End`]: String(end) }) }))

const conditions: Readonly<Record<string, fc.Arbitrary<PolicyFields>>> = {
  role: fc.tuple(split(universe.roles), fc.boolean()).map(([{ plain, flagged }, fetchRoles]) => ({
    roles: toRoles(plain),
    requiredRoles: toRoles(flagged),
    config: { fetchRoles: String(fetchRoles) },
  })),
  client: subset(universe.clients).map((clients) => ({ clients })),
  'client-scope': split(universe.clientScopes).map(({ plain, flagged }) => ({
    clientScopes: plain,
    requiredClientScopes: flagged,
  })),
  user: subset(universe.users).map((users) => ({ users })),
  group: fc
    .tuple(split(universe.groups), fc.constantFrom({}, { groupsClaim: 'groups' }, { groupsClaim: 'nothing' }))
    .map(([{ plain, flagged }, config]) => ({ groups: plain, groupsAndBelow: flagged, config })),
  time: fc
    .tuple(
      fc.option(oneOf(universe.times)),
      fc.option(oneOf(universe.times)),
      fc.option(range('month', 1, 8)),
      fc.option(range('dayMonth', 1, 31)),
      fc.option(range('hour', 0, 23)),
    )
    .map(([nbf, noa, ...ranges]) => ({
      config: Object.assign(
        { ...(nbf && { nbf }), ...(noa && { noa }) },
        ...ranges.filter((limits) => limits !== null),
      ),
    })),
  regex: fc
    .record({
      targetClaim: fc.constantFrom('preferred_username', 'email', 'badge', 'nothing', 'address.city'),
      pattern: fc.constantFrom('m.*', '.*o', '[a-z]+', '(?i)MIA', '\\d{2}', '.*@example\\.org', 'Oslo|Rome'),
      targetContextAttributes: fc.constantFrom('true', 'false'),
    })
    .map((config) => ({ config })),
}

const condition = (index: number): fc.Arbitrary<Policy> =>
  fc
    .constantFrom(...Object.keys(conditions))
    .chain((type) =>
      fc
        .tuple(conditions[type]!, fc.constantFrom('POSITIVE', 'NEGATIVE'))
        .map(([fields, logic]) => ({ ...fields, type, logic })),
    )
    .map((fields) => ({ id: `policy-${index}`, name: `Policy ${index}`, fields }))

const aggregate = (index: number, names: readonly string[]): fc.Arbitrary<Policy> =>
  fc
    .record({
      policies: subset(names),
      decisionStrategy: strategy,
      logic: fc.constantFrom<('POSITIVE' | 'NEGATIVE')[]>('POSITIVE', 'NEGATIVE'),
    })
    .map((fields) => ({
      id: `aggregate-${index}`,
      name: `Aggregate ${index}`,
      fields: { ...fields, type: 'aggregate' },
    }))

/** A permission on resources, on a type of resources, or on scopes. */
const permission = (
  index: number,
  { resources, policies }: { readonly resources: readonly string[]; readonly policies: readonly string[] },
): fc.Arbitrary<Policy> => {
  const combined = { policies: subset(policies).filter((names) => names.length < 4), decisionStrategy: strategy }
  const onResources = subset(resources, Math.min(1, resources.length)).map((names) => ({ resources: names }))
  const onType = oneOf(universe.types).map((defaultResourceType) => ({ config: { defaultResourceType } }))
  const target = fc.oneof(
    fc.tuple(fc.constant('resource'), fc.oneof(onResources, onType)),
    fc.tuple(fc.constant('scope'), fc.oneof(onResources, fc.constant({}), onType)),
    fc.tuple(fc.constant('uma'), onResources),
  )
  return fc.tuple(target, fc.record(combined), subset(universe.scopes, 1)).map(([[type, targets], fields, scopes]) => ({
    id: `permission-${index}`,
    name: `Permission ${index}`,
    fields: { ...fields, ...targets, type, ...(type !== 'resource' && { scopes }) },
  }))
}

const toIndexes = (length: number): number[] => Array.from({ length }, (_, index) => index)

/** Settings of a client. Every permission refers to at most three policies. */
export const generatedSettings: fc.Arbitrary<GeneratedSettings> = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 6 }))
  .chain(([resourceCount, policyCount]) =>
    fc.tuple(fc.tuple(...toIndexes(resourceCount).map(resource)), fc.tuple(...toIndexes(policyCount).map(condition))),
  )
  .chain(([resources, policies]) => {
    const names = policies.map(({ name }) => name)
    const combined = fc.tuple(aggregate(0, names), aggregate(1, [...names, 'Aggregate 0']))
    const resourceNames = resources.map(({ name }) => name)
    const allNames = [...names, 'Aggregate 0', 'Aggregate 1']
    const permissions = fc
      .integer({ min: 0, max: 6 })
      .chain((count) =>
        fc.tuple(
          ...toIndexes(count).map((index) => permission(index, { resources: resourceNames, policies: allNames })),
        ),
      )
    return fc
      .record({
        enforcementMode: fc.constantFrom<AuthorizationSettings['enforcementMode'][]>(
          'ENFORCING',
          'ENFORCING',
          'ENFORCING',
          'PERMISSIVE',
          'DISABLED',
        ),
        // Keycloak: CONSENSUS is refused here.
        decisionStrategy: fc.constantFrom<DecisionStrategy[]>('UNANIMOUS', 'AFFIRMATIVE'),
        combined,
        permissions,
      })
      .map(({ combined, permissions, ...settings }) => ({
        id: 'client',
        ...settings,
        resources,
        scopes: universe.scopes.map((name) => ({ id: `scope-${name}`, name })),
        policies: [...policies, ...combined, ...permissions],
      }))
  })

/** A request of a user for a scope of a resource, which its owner has granted. The resource is given by name. */
export interface GeneratedTicket {
  readonly resource: string
  readonly scope: string
  readonly requester: string
}

/** Granted tickets for resources of the settings whose owners manage access; none twice. */
export function generatedTickets({ resources }: GeneratedSettings): fc.Arbitrary<GeneratedTicket[]> {
  const possible = resources
    .filter(({ isOwnerManaged }) => isOwnerManaged)
    .flatMap(({ name, owner, scopes }) =>
      scopes.flatMap((scope) =>
        universe.users
          .filter((requester) => requester !== owner)
          .map((requester) => ({ resource: name, scope, requester })),
      ),
    )
  return subset(possible)
}

/**
 * A request for access to resources of the settings. It requests each resource once, and only one if there are permissions of owners:
 * Keycloak may use results of the first resource for a second one.
 */
export function generatedRequest({ resources, policies }: GeneratedSettings): fc.Arbitrary<GeneratedRequest> {
  const scopes = fc.oneof(fc.constant([]), subset(universe.scopes, 1))
  const byId = (ids: readonly string[]) =>
    fc.tuple(...ids.map((id) => scopes.map((names): NamedResource => ({ id, scopes: names }))))
  const ids = resources.map(({ id }) => id)
  const oneResource = oneOf(ids).chain((id) => byId([id]))
  const hasOwnerPermissions = policies.some(({ fields }) => fields.type === 'uma')
  const byType = fc
    .tuple(oneOf(universe.types), scopes)
    .map(([type, names]): NamedResource[] => [{ type, scopes: names }])
  const byName = oneOf(resources).chain(({ name, owner }) =>
    (owner === undefined ? scopes : fc.constant([])).map((names): NamedResource[] => [{ name, scopes: names }]),
  )
  const byScope = oneOf(universe.scopes).map((scope): NamedResource[] => [{ scopes: [scope] }])
  return fc.record({
    user: oneOf(universe.users),
    client: fc.option(oneOf(universe.clients), { nil: undefined }),
    roles: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, subset(['reader', 'lead'], 1)),
    resources: hasOwnerPermissions
      ? oneResource
      : fc.oneof(fc.constant([]), { weight: 4, arbitrary: subset(ids, 1).chain(byId) }, byType, byName, byScope),
    attributes: fc
      .tuple(fc.option(oneOf(universe.times)), fc.option(fc.constantFrom('42', 'mia,noel')))
      .map(([time, badge]) => ({
        'kc.time.date_time': time ?? universe.times[0],
        ...(badge !== null && { badge }),
      })),
  })
}

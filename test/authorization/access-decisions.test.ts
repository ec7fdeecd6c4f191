// Decisions about requests for access: the permissions that apply, and how their results are combined.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideAccess } from '../../src/service/policy-evaluation/access-decisions.ts'
import { type NamedResource, resolveRequests } from '../../src/service/policy-evaluation/access-requests.ts'
import type { EvaluationContext } from '../../src/service/policy-evaluation/identity.ts'
import {
  type AuthorizationSettings,
  indexResourceServer,
  type Policy,
  type ProtectedResource,
} from '../../src/service/policy-evaluation/resource-server.ts'
import {
  type GeneratedRequest,
  type GeneratedSettings,
  generatedRequest,
  generatedSettings,
  universe,
} from '../support/generated-authorization.ts'
import { propertyOptions, TIME_LIMIT } from '../support/property-options.ts'

const mia: EvaluationContext = {
  identity: { id: 'mia', username: 'mia', claims: new Map(), roles: new Set(), groups: [] },
  attributes: new Map(),
}

const yes: Policy = { id: 'yes', name: 'yes', fields: { type: 'user', users: ['mia'] } }
const no: Policy = { id: 'no', name: 'no', fields: { type: 'user' } }
const broken: Policy = { id: 'broken', name: 'broken', fields: { type: 'js' } }

const resource = (name: string, fields: Partial<ProtectedResource> = {}): ProtectedResource => ({
  id: name,
  name,
  isOwnerManaged: false,
  uris: [],
  scopes: [],
  ...fields,
})

/** Returns permissions by name, with the policies named in the rest. */
const permission = (name: string, fields: Policy['fields'], ...policies: string[]): Policy => ({
  id: name,
  name,
  fields: { decisionStrategy: 'UNANIMOUS', ...fields, policies },
})
const onHall = (name: string, ...policies: string[]) =>
  permission(name, { type: 'resource', resources: ['hall'] }, ...policies)
const onScopes = (name: string, scopes: string[], resources: string[], ...policies: string[]) =>
  permission(name, { type: 'scope', scopes, resources }, ...policies)
const onType = (name: string, ...policies: string[]) =>
  permission(name, { type: 'resource', config: { defaultResourceType: 'cabinet' } }, ...policies)

const hall = resource('hall', { type: 'cabinet' })
const file = resource('file', { scopes: ['read', 'write'] })
const cabinet = resource('cabinet', { type: 'cabinet', owner: 'mia', isOwnerManaged: true })

/** Returns what is decided about requests, as `resource PERMIT [scopes]`. */
function decide(
  permissions: readonly Policy[],
  requested: readonly NamedResource[],
  settings: Partial<AuthorizationSettings> = {},
): string[] {
  const server = indexResourceServer({
    id: 'client',
    enforcementMode: 'ENFORCING',
    decisionStrategy: 'UNANIMOUS',
    resources: [hall, file, cabinet],
    scopes: ['read', 'write', 'enter'].map((name) => ({ id: name, name })),
    policies: [yes, no, broken, ...permissions],
    ...settings,
  })
  return decideAccess(server, mia, resolveRequests(server, mia.identity, requested)).map(
    ({ request, effect, scopes }) => `${request.resource?.name ?? '*'} ${effect} [${scopes}]`,
  )
}

const onlyHall = [{ id: 'hall', scopes: [] }]
const allOfFile = [{ id: 'file', scopes: [] }]
const AFFIRMATIVE = { decisionStrategy: 'AFFIRMATIVE' } as const
const enter = {
  resources: [resource('cabinet', { type: 'cabinet', owner: 'mia', scopes: ['enter'], isOwnerManaged: true })],
}

describe('decisions as in Keycloak', () => {
  test.each<[string, Policy[], NamedResource[], string[], Partial<AuthorizationSettings>?]>([
    ['no permission', [], onlyHall, []],
    ['no permission, permissive', [], onlyHall, ['hall PERMIT []'], { enforcementMode: 'PERMISSIVE' }],
    [
      'no permission, permissive, managed by the owner',
      [],
      [{ id: 'cabinet', scopes: [] }],
      [],
      { enforcementMode: 'PERMISSIVE' },
    ],
    [
      'a denying permission, permissive',
      [onHall('a', 'no')],
      onlyHall,
      ['hall DENY []'],
      { enforcementMode: 'PERMISSIVE' },
    ],
    [
      'a denying permission, disabled',
      [onHall('a', 'no')],
      onlyHall,
      ['hall PERMIT []'],
      { enforcementMode: 'DISABLED' },
    ],
    ['a permission without policies', [onHall('a')], onlyHall, []],
    ['a permission without policies, permissive', [onHall('a')], onlyHall, [], { enforcementMode: 'PERMISSIVE' }],
    [
      'a permission without policies on the type, permissive',
      [onType('a')],
      onlyHall,
      ['hall PERMIT []'],
      { enforcementMode: 'PERMISSIVE' },
    ],
    ['a permission without policies beside another', [onHall('a'), onHall('b', 'yes')], onlyHall, ['hall PERMIT []']],
    ['a permission on the resource', [onHall('a', 'yes')], onlyHall, ['hall PERMIT []']],
    ['a policy that cannot be evaluated', [onHall('a', 'yes', 'broken')], onlyHall, ['hall DENY []']],
    ['two permissions', [onHall('a', 'yes'), onHall('b', 'no')], onlyHall, ['hall DENY []']],
    [
      'two permissions, affirmative, without scopes',
      [onHall('a', 'yes'), onHall('b', 'no')],
      onlyHall,
      ['hall DENY []'],
      AFFIRMATIVE,
    ],
    ['a permission on the type', [onType('a', 'yes')], onlyHall, ['hall PERMIT []']],
    ['a permission on the type denies', [onType('a', 'no'), onHall('b', 'yes')], onlyHall, ['hall DENY []']],
    [
      'a permission on another type',
      [permission('a', { type: 'resource', config: { defaultResourceType: 'x' } }, 'yes')],
      onlyHall,
      [],
    ],
    [
      'a permission on a scope of the resource',
      [onScopes('a', ['read'], ['file'], 'yes')],
      allOfFile,
      ['file PERMIT [read]'],
    ],
    [
      'a permission on a scope of any resource',
      [onScopes('a', ['read'], [], 'yes')],
      allOfFile,
      ['file PERMIT [read]'],
    ],
    ['a permission on a scope of another resource', [onScopes('a', ['read'], ['hall'], 'yes')], allOfFile, []],
    [
      'permissions on two scopes',
      [onScopes('a', ['read'], [], 'yes'), onScopes('b', ['write'], ['file'], 'no')],
      allOfFile,
      ['file PERMIT [read]'],
    ],
    [
      'permissions on one scope',
      [onScopes('a', ['read'], [], 'yes'), onScopes('b', ['read'], ['file'], 'no')],
      allOfFile,
      ['file DENY [read,write]'],
    ],
    [
      'permissions on one scope, affirmative',
      [onScopes('a', ['read'], [], 'yes'), onScopes('b', ['read'], ['file'], 'no')],
      allOfFile,
      ['file PERMIT [read]'],
      AFFIRMATIVE,
    ],
    [
      'a requested scope that is denied',
      [onScopes('a', ['read'], ['file'], 'yes')],
      [{ id: 'file', scopes: ['write'] }],
      ['file DENY [write]'],
    ],
    [
      'an unknown scope',
      [onScopes('a', ['read'], ['file'], 'yes')],
      [{ id: 'file', scopes: ['burn'] }],
      ['file PERMIT []'],
    ],
    [
      'a scope alone, which a resource has',
      [onScopes('a', ['read'], [], 'yes')],
      [{ scopes: ['read'] }],
      ['file PERMIT [read]'],
    ],
    [
      'a scope alone, which no resource has',
      [onScopes('a', ['enter'], [], 'yes')],
      [{ scopes: ['enter'] }],
      ['* PERMIT [enter]'],
    ],
    [
      'everything',
      [onType('a', 'yes'), onScopes('b', ['read'], [], 'no')],
      [],
      ['hall PERMIT []', 'file DENY [read,write]', 'cabinet PERMIT []'],
    ],
    [
      'an unknown resource',
      [onHall('a', 'yes')],
      [{ id: 'nowhere', scopes: [] }],
      ['hall PERMIT []', 'cabinet PERMIT []'],
    ],
    ['a resource by name', [onHall('a', 'yes')], [{ name: 'hall', scopes: [] }], ['hall PERMIT []']],
    [
      'a resource of a user by name',
      [onHall('a', 'yes')],
      [{ name: 'cabinet', scopes: [] }],
      ['hall PERMIT []', 'cabinet PERMIT []'],
    ],
    ['resources of the client by type', [onType('a', 'yes')], [{ type: 'cabinet', scopes: [] }], ['hall PERMIT []']],
    [
      'a resource of a user has permissions on resources of its type',
      [onHall('a', 'yes')],
      [{ id: 'cabinet', scopes: [] }],
      ['cabinet PERMIT []'],
    ],
    [
      'a permission of the owner, for the owner',
      [permission('a', { type: 'uma', resources: ['cabinet'], scopes: ['enter'] }, 'no')],
      [{ id: 'cabinet', scopes: [] }],
      ['cabinet PERMIT [enter]'],
      enter,
    ],
    [
      'a permission of the owner, for others',
      [permission('a', { type: 'uma', resources: ['cabinet'], scopes: ['enter'] }, 'no')],
      [{ id: 'cabinet', scopes: [] }],
      ['cabinet DENY [enter]'],
      { resources: [{ ...enter.resources[0]!, owner: 'noel' }] },
    ],
  ])('%s', (_title, permissions, requested, expected, settings) => {
    expect(decide(permissions, requested, settings)).toEqual(expected)
  })
})

/** The scopes that a generated request is granted, by resource. A granted resource has the scope ''. */
function grantedScopes(settings: GeneratedSettings, request: GeneratedRequest): Set<string> {
  const server = indexResourceServer(settings)
  const identity = { ...mia.identity, id: request.user, username: request.user, groups: universe.groups.slice(0, 2) }
  const context = {
    identity,
    attributes: new Map(Object.entries(request.attributes).map(([name, value]) => [name, [value]])),
  }
  const decisions = decideAccess(server, context, resolveRequests(server, identity, request.resources))
  return new Set(
    decisions
      .filter(({ effect }) => effect === 'PERMIT')
      .flatMap(({ request: { resource: { name } = { name: '*' } }, scopes }) =>
        ['', ...scopes].map((scope) => `${name}/${scope}`),
      ),
  )
}

const withRequest = generatedSettings.chain((settings) => fc.tuple(fc.constant(settings), generatedRequest(settings)))
const isPermission = ({ fields }: Policy) => ['resource', 'scope', 'uma'].includes(String(fields.type))
const withoutOwnerPermissions = (settings: GeneratedSettings): GeneratedSettings => ({
  ...settings,
  policies: settings.policies.filter(({ fields }) => fields.type !== 'uma'),
})
const onlyScopes = (granted: Set<string>) => new Set([...granted].filter((name) => !name.endsWith('/')))

function expectSubset(part: ReadonlySet<string>, superset: ReadonlySet<string>): void {
  expect([...part].filter((element) => !superset.has(element))).toEqual([])
}

const options = { ...propertyOptions, numRuns: propertyOptions.numRuns * 20 }

test('a decision does not depend on the order of resources, policies and scopes', { timeout: TIME_LIMIT }, () => {
  const shuffled = withRequest.chain(([settings, request]) => {
    const shuffle = <T>(elements: readonly T[]) =>
      fc.shuffledSubarray([...elements], { minLength: elements.length, maxLength: elements.length })
    const policies = shuffle(settings.policies).chain((all) =>
      fc.tuple(
        ...all.map((policy) =>
          fc.tuple(shuffle(policy.fields.policies ?? []), shuffle(policy.fields.resources ?? [])).map(
            ([combined, resources]): Policy => ({
              ...policy,
              fields: {
                ...policy.fields,
                ...(policy.fields.policies && { policies: combined }),
                ...(policy.fields.resources && { resources }),
              },
            }),
          ),
        ),
      ),
    )
    return fc
      .tuple(shuffle(settings.resources), policies, shuffle(request.resources))
      .map(([resources, all, requested]) => ({
        original: { settings, request },
        shuffled: {
          settings: { ...settings, resources, policies: all },
          request: { ...request, resources: requested },
        },
      }))
  })
  fc.assert(
    fc.property(shuffled, ({ original, shuffled: other }) => {
      expect(grantedScopes(other.settings, other.request)).toEqual(grantedScopes(original.settings, original.request))
    }),
    options,
  )
})

test('unanimous permissions grant at most what those by consensus do, and these at most what affirmative ones do', {
  timeout: TIME_LIMIT,
}, () => {
  fc.assert(
    fc.property(withRequest, ([generated, request]) => {
      const settings = withoutOwnerPermissions(generated)
      const [unanimous, consensus, affirmative] = (['UNANIMOUS', 'CONSENSUS', 'AFFIRMATIVE'] as const).map(
        (decisionStrategy) =>
          grantedScopes(
            {
              ...settings,
              policies: settings.policies.map((policy) =>
                isPermission(policy) ? { ...policy, fields: { ...policy.fields, decisionStrategy } } : policy,
              ),
            },
            request,
          ),
      )
      expectSubset(unanimous!, consensus!)
      expectSubset(consensus!, affirmative!)
    }),
    options,
  )
})

test('a unanimous client grants at most what an affirmative one does', { timeout: TIME_LIMIT }, () => {
  fc.assert(
    fc.property(withRequest, ([settings, request]) => {
      const [unanimous, affirmative] = (['UNANIMOUS', 'AFFIRMATIVE'] as const).map((decisionStrategy) =>
        grantedScopes({ ...settings, decisionStrategy }, request),
      )
      expectSubset(unanimous!, affirmative!)
    }),
    options,
  )
})

const enforcing = { enforcementMode: 'ENFORCING' } as const

test('for an affirmative client that enforces, the removal of a permission grants no further scope', {
  timeout: TIME_LIMIT,
}, () => {
  fc.assert(
    fc.property(withRequest, ([generated, request]) => {
      const settings = { ...generated, ...enforcing, ...AFFIRMATIVE }
      const before = onlyScopes(grantedScopes(settings, request))
      for (const removed of settings.policies.filter(isPermission)) {
        const policies = settings.policies.filter((policy) => policy !== removed)
        expectSubset(onlyScopes(grantedScopes({ ...settings, policies }, request)), before)
      }
    }),
    options,
  )
})

test('a client that enforces and has no permissions denies everything', { timeout: TIME_LIMIT }, () => {
  fc.assert(
    fc.property(withRequest, ([settings, request]) => {
      const policies = settings.policies.filter((policy) => !isPermission(policy))
      expect(grantedScopes({ ...settings, ...enforcing, policies }, request)).toEqual(new Set())
    }),
    options,
  )
})

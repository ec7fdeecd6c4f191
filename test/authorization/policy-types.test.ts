// The conditions of policies by type.
import { describe, expect, test } from 'vitest'
import { toClaimAttributes } from '../../src/service/policy-evaluation/attributes.ts'
import type { EvaluationContext } from '../../src/service/policy-evaluation/identity.ts'
import { createPolicyEvaluation } from '../../src/service/policy-evaluation/policy-evaluation.ts'
import { indexResourceServer, type Policy } from '../../src/service/policy-evaluation/resource-server.ts'

type Fields = Policy['fields']

const claims = {
  scope: 'email profile',
  preferred_username: 'mia',
  email_verified: false,
  age: 42,
  aud: ['account', 'web'],
  groups: ['/staff/night', 'visitors'],
  realm_access: { roles: ['reader', 'other'] },
  resource_access: { api: { roles: ['use'] } },
  'kc.client.web.roles': ['use'],
  address: { city: 'Oslo', lines: ['a', 'b'], none: null },
}

const context: EvaluationContext = {
  identity: {
    id: 'mia-id',
    username: 'mia',
    claims: toClaimAttributes(claims),
    roles: new Set(['["reader"]', '["client","api","use"]', '["keeper"]']),
    groups: ['/staff/night', '/a~/b'],
  },
  attributes: new Map([
    ['kc.client.id', ['web']],
    ['kc.time.date_time', ['2026-02-01 08:30:00']],
    ['badge', ['42', '43']],
    ['json', ['{"a":{"b":1}}']],
    ['text', ['x\ny']],
  ]),
}

/** Evaluates a policy as the only one of a permission. */
function evaluate(fields: Fields, otherPolicies: readonly Policy[] = []) {
  const policy = { id: 'p', name: 'p', fields }
  const permission = { id: 'x', name: 'x', fields: { type: 'resource', resources: ['r'], policies: ['p'] } }
  const server = indexResourceServer({
    id: 'client',
    enforcementMode: 'ENFORCING',
    decisionStrategy: 'UNANIMOUS',
    resources: [],
    scopes: [],
    policies: [policy, permission, ...otherPolicies],
  })
  const [result] = createPolicyEvaluation(server, context).evaluatePermission(permission, undefined)!.policies
  return result!.error === undefined ? result!.effect : 'ERROR'
}

const time = (config: Record<string, string>): Fields => ({ type: 'time', config })
const regex = (targetClaim: string, pattern: string, more = {}): Fields => ({
  type: 'regex',
  config: { targetClaim, pattern, ...more },
})
const inContext = { targetContextAttributes: 'true' }
const fetchRoles = { config: { fetchRoles: 'true' } }

describe('a policy permits access if its condition is met', () => {
  test.each<[string, Fields, 'PERMIT' | 'DENY' | 'ERROR']>([
    ['role of the token', { type: 'role', roles: { realm: ['reader'] } }, 'PERMIT'],
    ['role that only the user has', { type: 'role', roles: { realm: ['keeper'] } }, 'DENY'],
    ['role that only the user has, fetched', { type: 'role', roles: { realm: ['keeper'] }, ...fetchRoles }, 'PERMIT'],
    ['role that only the token has, fetched', { type: 'role', roles: { realm: ['other'] }, ...fetchRoles }, 'DENY'],
    ['client role', { type: 'role', roles: { client: { api: ['use'] } } }, 'PERMIT'],
    ['client role, fetched', { type: 'role', roles: { client: { api: ['use'] } }, ...fetchRoles }, 'PERMIT'],
    ['role of another client', { type: 'role', roles: { client: { web: ['use'] } } }, 'DENY'],
    [
      'a required role is missing',
      { type: 'role', roles: { realm: ['reader'] }, requiredRoles: { realm: ['x'] } },
      'DENY',
    ],
    ['only a required role', { type: 'role', requiredRoles: { realm: ['reader'] } }, 'PERMIT'],
    ['no roles', { type: 'role' }, 'DENY'],
    ['client', { type: 'client', clients: ['api', 'web'] }, 'PERMIT'],
    ['other client', { type: 'client', clients: ['api'] }, 'DENY'],
    ['client scope', { type: 'client-scope', clientScopes: ['phone', 'email'] }, 'PERMIT'],
    [
      'client scope without the required one',
      { type: 'client-scope', clientScopes: ['email'], requiredClientScopes: ['phone'] },
      'DENY',
    ],
    ['part of the name of a client scope', { type: 'client-scope', clientScopes: ['mail'] }, 'DENY'],
    ['user', { type: 'user', users: ['mia'] }, 'PERMIT'],
    ['no users', { type: 'user' }, 'DENY'],
    ['group', { type: 'group', groups: ['/staff/night'] }, 'PERMIT'],
    ['ancestor of a group', { type: 'group', groups: ['/staff'] }, 'DENY'],
    ['ancestor of a group, with subgroups', { type: 'group', groupsAndBelow: ['/staff'] }, 'PERMIT'],
    ['group whose path begins with the name of another', { type: 'group', groupsAndBelow: ['/sta'] }, 'DENY'],
    ['group with a slash in its name', { type: 'group', groups: ['/a~/b'] }, 'PERMIT'],
    ['subgroup with the same path except for the slash', { type: 'group', groups: ['/a/b'] }, 'DENY'],
    ['claim with groups', { type: 'group', groups: ['/staff/night'], config: { groupsClaim: 'groups' } }, 'PERMIT'],
    [
      'claim with the name of a group',
      { type: 'group', groups: ['/x/visitors'], config: { groupsClaim: 'groups' } },
      'PERMIT',
    ],
    [
      'claim with a group below',
      { type: 'group', groupsAndBelow: ['/staff'], config: { groupsClaim: 'groups' } },
      'PERMIT',
    ],
    [
      'claim without the group that the user has',
      { type: 'group', groups: ['/a~/b'], config: { groupsClaim: 'groups' } },
      'DENY',
    ],
    ['absent claim: groups of the user', { type: 'group', groups: ['/a~/b'], config: { groupsClaim: 'x' } }, 'PERMIT'],
    ['no limits of time', time({}), 'PERMIT'],
    ['not before now', time({ nbf: '2026-02-01 08:30:00' }), 'PERMIT'],
    ['not before a second later', time({ nbf: '2026-02-01 08:30:01' }), 'DENY'],
    ['not on or after now', time({ noa: '2026-02-01 08:30:00' }), 'PERMIT'],
    ['not on or after a second ago', time({ noa: '2026-02-01 08:29:59' }), 'DENY'],
    ['not before a day', time({ nbf: '2026-02-01' }), 'PERMIT'],
    ['not on or after a day', time({ noa: '2026-02-01' }), 'DENY'],
    ['a day that does not exist', time({ nbf: '2026-01-32 00:00:00', noa: '2026-02-30 00:00:00' }), 'PERMIT'],
    ['a month', time({ month: '2' }), 'PERMIT'],
    ['another month', time({ month: '1' }), 'DENY'],
    ['a range of months', time({ month: '1', monthEnd: '2' }), 'PERMIT'],
    ['a range over the end of the year', time({ month: '11', monthEnd: '2' }), 'DENY'],
    ['the end of a range only', time({ monthEnd: '1' }), 'PERMIT'],
    ['all parts', time({ year: '2026', dayMonth: '1', hour: '8', hourEnd: '9', minute: '30' }), 'PERMIT'],
    ['another minute', time({ minute: '31', minuteEnd: '59' }), 'DENY'],
    ['a malformed time', time({ nbf: 'tomorrow' }), 'ERROR'],
    ['a malformed number', time({ month: 'May' }), 'ERROR'],
    ['pattern of a claim', regex('preferred_username', 'm.a'), 'PERMIT'],
    ['pattern of a part of a claim', regex('preferred_username', 'mi'), 'DENY'],
    ['pattern of a boolean', regex('email_verified', 'false'), 'PERMIT'],
    ['pattern of a number', regex('age', '\\d+'), 'PERMIT'],
    ['pattern of the first value', regex('aud', 'account'), 'PERMIT'],
    ['pattern of the second value', regex('aud', 'web'), 'DENY'],
    ['pattern of an absent claim', regex('nowhere', '.*'), 'DENY'],
    ['pattern of a member', regex('address.city', 'Oslo'), 'PERMIT'],
    ['pattern of an absent member', regex('address.street', '.*'), 'DENY'],
    ['pattern of a member that is null', regex('address.none', '.*'), 'DENY'],
    ['pattern of a list', regex('address.lines', '\\[a, b\\]'), 'PERMIT'],
    ['pattern of an element', regex('address.lines[1]', 'b'), 'PERMIT'],
    ['pattern of a member of a text', regex('preferred_username.x', '.*'), 'ERROR'],
    ['pattern of an attribute of the context', regex('badge', '42', inContext), 'PERMIT'],
    ['pattern of a member of an attribute', regex('json.a.b', '1', inContext), 'PERMIT'],
    ['pattern of a claim instead of an attribute', regex('badge', '42'), 'DENY'],
    ['an attribute with dots is a path', regex('kc.client.id', 'web', inContext), 'DENY'],
    ['a dot does not match the end of a line', regex('text', 'x.y', inContext), 'DENY'],
    ['flags of Java', regex('preferred_username', '(?i)MIA'), 'PERMIT'],
    ['a malformed pattern', regex('preferred_username', '('), 'ERROR'],
    ['no pattern', { type: 'regex', config: { targetClaim: 'a' } }, 'ERROR'],
    ['a script', { type: 'js' }, 'ERROR'],
    ['a permission as a policy', { type: 'resource' }, 'ERROR'],
    ['no type', {}, 'ERROR'],
  ])('%s', (_title, fields, expected) => {
    expect(evaluate(fields)).toBe(expected)
    const opposite = { PERMIT: 'DENY', DENY: 'PERMIT', ERROR: 'ERROR' }[expected]
    expect(evaluate({ ...fields, logic: 'NEGATIVE' }), 'with negative logic').toBe(opposite)
  })
})

describe('an aggregated policy combines others', () => {
  const user = { id: 'u', name: 'u', fields: { type: 'user', users: ['mia'] } } satisfies Policy
  const client = { id: 'c', name: 'c', fields: { type: 'client', clients: ['web'] } } satisfies Policy
  const none = { id: 'n', name: 'n', fields: { type: 'user' } } satisfies Policy
  const broken = { id: 'b', name: 'b', fields: { type: 'js' } } satisfies Policy
  test.each<[string[], Policy['fields']['decisionStrategy'], string]>([
    [['u', 'c'], 'UNANIMOUS', 'PERMIT'],
    [['u', 'n'], 'UNANIMOUS', 'DENY'],
    [['u', 'n'], undefined, 'DENY'],
    [['u', 'n'], 'AFFIRMATIVE', 'PERMIT'],
    [['n'], 'AFFIRMATIVE', 'DENY'],
    [['u', 'n'], 'CONSENSUS', 'DENY'],
    [['u', 'c', 'n'], 'CONSENSUS', 'PERMIT'],
    [[], 'UNANIMOUS', 'DENY'],
    [['u', 'b'], 'AFFIRMATIVE', 'ERROR'],
    [['u', 'p'], 'AFFIRMATIVE', 'ERROR'],
    [['nowhere', 'u'], 'UNANIMOUS', 'PERMIT'],
  ])('%j %s: %s', (policies, decisionStrategy, expected) => {
    const fields = { type: 'aggregate', policies, ...(decisionStrategy && { decisionStrategy }) }
    expect(evaluate(fields, [user, client, none, broken])).toBe(expected)
    const opposite = expected === 'ERROR' ? expected : expected === 'PERMIT' ? 'DENY' : 'PERMIT'
    expect(evaluate({ ...fields, logic: 'NEGATIVE' }, [user, client, none, broken])).toBe(opposite)
  })
})

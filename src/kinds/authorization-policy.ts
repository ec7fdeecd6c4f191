import * as z from 'zod'
import { choice, structured, text, textMap, textSet } from './fields.ts'
import { groupPaths } from './group.ts'
import { defineKind } from './kind.ts'
import { roleNames } from './role.ts'

const sibling = { relation: true, targetsSiblings: true } as const

/** Keycloak: PolicyRepresentation. A policy says yes or no; one of the types `resource` and `scope` is a permission. */
export const authorizationPolicy = defineKind({
  name: 'authorizationPolicy',
  title: 'authorization policy',
  representation: 'PolicyRepresentation',
  naturalKey: 'name',
  conflict: { create: 'Policy with name [{name}] already exists' },
  events: {
    type: 'AUTHORIZATION_POLICY',
    paths: { client: 'clients/{parentId}/authz/resource-server/policy/{id}' },
  },
  parents: ['client'],
  isSeparate: true,
  fields: {
    name: text('Name of the policy; unique in its client.'),
    description: text('What the policy is for.', { onPut: 'clear' }),
    type: text('Type of the policy, such as role, user or time; of a permission resource or scope.'),
    logic: choice(['POSITIVE', 'NEGATIVE'], 'Whether the policy means what it says, or the opposite.', {
      onPut: 'clear',
      default: 'POSITIVE',
    }),
    decisionStrategy: choice(
      ['AFFIRMATIVE', 'UNANIMOUS', 'CONSENSUS'],
      'What several policies must say: one of them yes, all of them, or most.',
      { onPut: 'clear', default: 'UNANIMOUS' },
    ),
    config: textMap('Settings of the policy, by name.', { onPut: 'replace', default: {} }),
    resources: textSet('Resources that the permission is for.', { refersTo: 'authorizationResource', ...sibling }),
    scopes: textSet('Scopes that the permission is for.', { refersTo: 'authorizationScope', ...sibling }),
    policies: textSet('Policies that decide.', { refersTo: 'authorizationPolicy', late: true, ...sibling }),
    users: {
      ...textSet('People who fulfil the policy, by username.', { refersTo: 'user', relation: true }),
      schema: z.array(z.string().transform((name) => name.toLowerCase())),
    },
    clients: textSet('Clients that fulfil the policy.', { refersTo: 'client', relation: true }),
    roles: structured(roleNames, 'Roles any of which fulfils the policy.', { refersTo: 'role', relation: true }),
    requiredRoles: structured(roleNames, 'Roles that all are needed.', { refersTo: 'role', relation: true }),
    groups: groupPaths('Groups whose members fulfil the policy, by path.'),
    groupsAndBelow: groupPaths('Groups whose members and those of groups below fulfil the policy, by path.'),
    clientScopes: textSet('Client scopes any of which fulfils the policy.', {
      refersTo: 'clientScope',
      relation: true,
    }),
    requiredClientScopes: textSet('Client scopes that all are needed.', { refersTo: 'clientScope', relation: true }),
  },
})

/** What a policy names. In documents and on the wire it is a setting that is a JSON text. */
export interface PolicyTarget {
  readonly setting: string
  /** The field of the kind. */
  readonly field: string
  /** Policies of any type name it, or only those of this one. */
  readonly type?: string
  /** The field of those that are named with this flag; elements are objects then, and these members name. */
  readonly flagged?: { readonly flag: string; readonly field: string; readonly names: readonly string[] }
}

/** Everything that policies name. */
export const policyTargets: readonly PolicyTarget[] = [
  { setting: 'resources', field: 'resources' },
  { setting: 'scopes', field: 'scopes' },
  { setting: 'applyPolicies', field: 'policies' },
  { setting: 'users', field: 'users', type: 'user' },
  { setting: 'clients', field: 'clients', type: 'client' },
  {
    setting: 'roles',
    field: 'roles',
    type: 'role',
    flagged: { flag: 'required', field: 'requiredRoles', names: ['id'] },
  },
  {
    setting: 'groups',
    field: 'groups',
    type: 'group',
    flagged: { flag: 'extendChildren', field: 'groupsAndBelow', names: ['path', 'id'] },
  },
  {
    setting: 'clientScopes',
    field: 'clientScopes',
    type: 'client-scope',
    flagged: { flag: 'required', field: 'requiredClientScopes', names: ['id'] },
  },
]

/** What policies of a type name. */
export function listPolicyTargets(type: unknown): PolicyTarget[] {
  return policyTargets.filter((target) => target.type === undefined || target.type === type)
}

/** One element of what a policy names. */
export interface PolicyElement {
  readonly name: string
  readonly flagged: boolean
}

/** The elements that a setting states, be it a JSON text or a list; undefined where it is no such list. */
export function parsePolicyElements({ flagged }: PolicyTarget, value: unknown): PolicyElement[] | undefined {
  const list = typeof value === 'string' ? parsed(value) : value
  if (!Array.isArray(list)) return undefined
  const elements = list.map((one: unknown): PolicyElement | undefined => {
    if (typeof one === 'string') return { name: one, flagged: false }
    if (!flagged || one === null || typeof one !== 'object') return undefined
    const members = one as Record<string, unknown>
    const name = flagged.names.map((member) => members[member]).find((text) => typeof text === 'string')
    return name === undefined ? undefined : { name: name as string, flagged: isTrue(members[flagged.flag]) }
  })
  return elements.every((one) => one !== undefined) ? elements : undefined
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

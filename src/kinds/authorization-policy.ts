import * as z from 'zod'
import { choice, structured, text, textMap, textSet } from './fields.ts'
import { groupPaths } from './group.ts'
import { isList, isObject, type Json } from './json.ts'
import { defineKind } from './kind.ts'
import { roleNames } from './role.ts'

const sibling = { relation: true, targetsSiblings: true } as const

/** Keycloak: PolicyRepresentation. A policy grants or denies access. With the type `resource` or `scope`, it is a permission. */
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
    name: text('Name of the policy, which is unique in the client.'),
    description: text('Description of the policy.', { onPut: 'clear' }),
    type: text('Type of the policy, such as role, user or time; of a permission, resource or scope.'),
    logic: choice(
      ['POSITIVE', 'NEGATIVE'],
      'Whether the result of the policy is used as it is (POSITIVE) or negated (NEGATIVE).',
      {
        schemaName: 'Logic',
        onPut: 'clear',
        default: 'POSITIVE',
      },
    ),
    decisionStrategy: choice(
      ['AFFIRMATIVE', 'UNANIMOUS', 'CONSENSUS'],
      'Policies that must grant access if there are several: one (AFFIRMATIVE), all (UNANIMOUS), or most (CONSENSUS).',
      { schemaName: 'DecisionStrategy', onPut: 'clear', default: 'UNANIMOUS' },
    ),
    config: textMap('Settings of the policy, by name.', { onPut: 'replace', default: {} }),
    resources: textSet('Resources of the permission, by name.', { refersTo: 'authorizationResource', ...sibling }),
    scopes: textSet('Scopes of the permission, by name.', { refersTo: 'authorizationScope', ...sibling }),
    policies: textSet('Policies of the permission or aggregated policy, by name.', {
      refersTo: 'authorizationPolicy',
      late: true,
      ...sibling,
    }),
    users: {
      ...textSet('Users to whom the policy grants access, by username.', { refersTo: 'user', relation: true }),
      schema: z.array(z.string().transform((name) => name.toLowerCase())),
    },
    clients: textSet('Clients to whom the policy grants access, by client id.', { refersTo: 'client', relation: true }),
    roles: structured(roleNames, 'Roles of which one is required.', { refersTo: 'role', relation: true }),
    requiredRoles: structured(roleNames, 'Roles that are all required.', { refersTo: 'role', relation: true }),
    groups: groupPaths('Groups to whose members the policy grants access, by path.'),
    groupsAndBelow: groupPaths(
      'Groups to whose members, including those of subgroups, the policy grants access, by path.',
    ),
    clientScopes: textSet('Client scopes of which one is required.', {
      refersTo: 'clientScope',
      relation: true,
    }),
    requiredClientScopes: textSet('Client scopes that are all required.', { refersTo: 'clientScope', relation: true }),
  },
})

/** A relation of policies. In documents and REST, it is a setting with a JSON text. */
export interface PolicyTarget {
  readonly configKey: string
  /** The field of the policy. */
  readonly field: string
  /** The type of policies with this relation. Default: all types. */
  readonly type?: string
  /** Elements are objects: those with this flag are in another field, and these members may contain the name. */
  readonly flagged?: { readonly flag: string; readonly field: string; readonly names: readonly string[] }
}

/** All relations of policies. */
export const policyTargets: readonly PolicyTarget[] = [
  { configKey: 'resources', field: 'resources' },
  { configKey: 'scopes', field: 'scopes' },
  { configKey: 'applyPolicies', field: 'policies' },
  { configKey: 'users', field: 'users', type: 'user' },
  { configKey: 'clients', field: 'clients', type: 'client' },
  {
    configKey: 'roles',
    field: 'roles',
    type: 'role',
    flagged: { flag: 'required', field: 'requiredRoles', names: ['id'] },
  },
  {
    configKey: 'groups',
    field: 'groups',
    type: 'group',
    flagged: { flag: 'extendChildren', field: 'groupsAndBelow', names: ['path', 'id'] },
  },
  {
    configKey: 'clientScopes',
    field: 'clientScopes',
    type: 'client-scope',
    flagged: { flag: 'required', field: 'requiredClientScopes', names: ['id'] },
  },
]

/** Returns the relations of policies of a type. */
export function listPolicyTargets(type: unknown): PolicyTarget[] {
  return policyTargets.filter((target) => target.type === undefined || target.type === type)
}

/** An element of a relation of a policy. */
export interface PolicyElement {
  readonly name: string
  readonly flagged: boolean
}

/** Parses the elements of a setting, which is a JSON text or a list; undefined for any other value. */
export function parsePolicyElements({ flagged }: PolicyTarget, value: Json): PolicyElement[] | undefined {
  const list = typeof value === 'string' ? parseJson(value) : value
  if (!isList(list)) return undefined
  const elements = list.map((element): PolicyElement | undefined => {
    if (typeof element === 'string') return { name: element, flagged: false }
    if (!flagged || !isObject(element)) return undefined
    const name = flagged.names.map((member) => element[member]).find((text) => typeof text === 'string')
    return name === undefined ? undefined : { name, flagged: isTrue(element[flagged.flag]) }
  })
  return elements.every((element) => element !== undefined) ? elements : undefined
}

function isTrue(value: Json | undefined): boolean {
  return value === true || value === 'true'
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

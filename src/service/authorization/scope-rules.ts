// Which grants give a caller a scope on an object, in both versions of fine-grained admin permissions.
import { type PermissionType, permissionTypes } from '../../kinds/admin-permissions.ts'
import type { ObjectGrants, PermissionVersion, ScopeGrants } from '../policy-evaluation/object-grants.ts'

/** Grants that give a scope together: one of them must be there, and none may be a denial. */
export interface ScopeRule {
  /** A scope of the object itself, which overrides the others. */
  readonly ofObject?: string
  /** A scope of the groups of a user, and of their ancestors. */
  readonly ofGroups?: string
  /** A scope of the client of a role. */
  readonly ofClient?: string
  /** A scope of all users. */
  readonly ofAllUsers?: string
}

/** The rules of version 1, of which one is sufficient. A scope without rules is granted by that scope alone. */
const rulesOfVersion1: RulesByType = {
  Users: {
    view: [{ ofObject: 'view' }, { ofObject: 'manage' }, { ofGroups: 'view-members' }, { ofGroups: 'manage-members' }],
    manage: [{ ofObject: 'manage' }, { ofGroups: 'manage-members' }],
    'map-roles': [{ ofObject: 'map-roles' }, { ofObject: 'manage' }, { ofGroups: 'manage-members' }],
    'manage-group-membership': [
      { ofObject: 'manage-group-membership' },
      { ofObject: 'manage' },
      { ofGroups: 'manage-members' },
    ],
    'reset-password': [{ ofObject: 'manage' }, { ofGroups: 'manage-members' }],
  },
  Groups: {
    view: [{ ofObject: 'view' }, { ofObject: 'manage' }],
    'view-members': [
      { ofObject: 'view-members' },
      { ofObject: 'manage-members' },
      { ofAllUsers: 'view' },
      { ofAllUsers: 'manage' },
    ],
    'manage-membership': [{ ofObject: 'manage-membership' }, { ofObject: 'manage' }],
  },
  Clients: {
    view: [{ ofObject: 'view' }, { ofObject: 'configure' }, { ofObject: 'manage' }],
    configure: [{ ofObject: 'configure' }, { ofObject: 'manage' }],
  },
  Roles: createRoleRules(),
}

const rulesOfVersion2: RulesByType = {
  Users: { 'reset-password': [{ ofObject: 'reset-password' }, { ofObject: 'manage', ofGroups: 'manage-members' }] },
  // Version 1 has a scope of its own to configure a client.
  Clients: { configure: [{ ofObject: 'manage' }] },
  Roles: createRoleRules(),
}

type RulesByType = Readonly<Partial<Record<PermissionType, Readonly<Record<string, readonly ScopeRule[]>>>>>
const rulesByVersion: Readonly<Record<PermissionVersion, RulesByType>> = { 1: rulesOfVersion1, 2: rulesOfVersion2 }

/** Returns the rules for roles: their clients have the same scopes for all of their roles. */
function createRoleRules(): Readonly<Record<string, readonly ScopeRule[]>> {
  const toClientScope = (scope: string) => scope.replace('map-role', 'map-roles')
  return Object.fromEntries(
    ['map-role', 'map-role-client-scope', 'map-role-composite'].map((scope) => [
      scope,
      [{ ofObject: scope }, { ofClient: toClientScope(scope) }],
    ]),
  )
}

/** Returns the rules for a scope, of which one is sufficient. */
export function listScopeRules(version: PermissionVersion, type: PermissionType, scope: string): readonly ScopeRule[] {
  const rules = rulesByVersion[version][type]?.[scope]
  if (rules) return rules
  // Keycloak: in version 2, scopes of groups are aliases of the scopes of their members.
  const [alias] = version === 2 ? (permissionTypes[type].scopeAliases?.[scope] ?? []) : []
  return [{ ofObject: scope, ...(alias !== undefined && { ofGroups: alias }) }]
}

/** An object of a type, with what its grants depend on besides its id. */
export interface GrantedObject {
  readonly type: PermissionType
  /** Absent: all objects of the type, such as for creation. */
  readonly id?: string | undefined
  /** The ids of the groups of a user, and of their ancestors. */
  readonly groups?: readonly string[] | undefined
  /** The id of the client of a role. */
  readonly client?: string | undefined
}

/** Whether grants give a scope on an object. */
export function isScopeGranted(grants: ObjectGrants, scope: string, object: GrantedObject): boolean {
  return listScopeRules(grants.version, object.type, scope).some((rule) => meetsRule(grants, rule, object))
}

function meetsRule(grants: ObjectGrants, rule: ScopeRule, { type, id, groups = [], client }: GrantedObject): boolean {
  const { ofObject, ofGroups, ofClient, ofAllUsers } = rule
  const objectGrants = ofObject === undefined ? undefined : grants.find(type, ofObject)
  const decision = id === undefined ? undefined : objectGrants?.byId.get(id)
  if (decision !== undefined) return decision
  const decisions = [
    objectGrants?.all,
    ...(ofGroups === undefined ? [] : listGroupDecisions(grants.find('Groups', ofGroups), groups)),
    ofClient === undefined || client === undefined ? undefined : decide(grants.find('Clients', ofClient), client),
    ofAllUsers === undefined ? undefined : grants.find('Users', ofAllUsers).all,
  ]
  return decisions.includes(true) && !decisions.includes(false)
}

/** Returns the decisions about the groups of a user. Keycloak: the decision about all groups counts if there is none about one of them. */
function listGroupDecisions({ byId, all }: ScopeGrants, groups: readonly string[]): (boolean | undefined)[] {
  const decisions = groups.flatMap((group) => byId.get(group) ?? [])
  return decisions.length || !groups.length ? decisions : [all]
}

const decide = ({ byId, all }: ScopeGrants, id: string): boolean | undefined => byId.get(id) ?? all

// Resources of roles, groups, users and organizations, and of the relations between them.
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { type Representation, readObjects } from '../../kinds/json.ts'
import { SERVICE_ACCOUNT_PREFIX } from '../../kinds/user.ts'
import {
  applied,
  converted,
  ignored,
  type Rule,
  type Rules,
  reported,
  resolveEach,
  toList,
  valueLists,
} from './attribute-rules.ts'
import type { ObjectNode } from './object-node.ts'
import { MissingReference, type RealmScope } from './references.ts'
import {
  addRoles,
  getObject,
  getReferred,
  inList,
  inRealm,
  type ResourceType,
  type ResourceTypes,
} from './resource-type.ts'

const INCOMPLETE = 'is false, and the file declares all of them: check in the plan that none is removed'

/** Reports a resource that does not manage all roles or groups. */
const checkExhaustive: Rule = applied((isExhaustive, _node, { attribute, report }) => {
  if (isExhaustive === false) report(attribute, INCOMPLETE)
})

/** Converts role ids to the fields `realmRoles` and `clientRoles`. */
const roleIds: Rule = applied((ids, node, scope) => addRoles(node, resolveEach('role', ids, scope)))

const compositeRoles: Rule = applied((ids, node, scope) => {
  for (const { name, client } of resolveEach('role', ids, scope))
    node.add(client === undefined ? 'composites/realm' : ['composites', 'client', client], name)
})

/** Returns a user. Every user has the default role of the realm, unless Terraform manages all roles. */
function getUserWithRoles({ user_id: id, exhaustive = true }: Representation, realm: RealmScope): ObjectNode {
  const node = getReferred('user', id, realm)
  if (exhaustive === false) node.add('realmRoles', getDefaultRoleName(realm.name))
  return node
}

/** Returns the service account of a client, with the default role of the realm. */
function getServiceAccount({ service_account_user_id: id = null }: Representation, realm: RealmScope): ObjectNode {
  const clientId = realm.references.findServiceAccountClient(id)
  if (clientId === undefined) throw new MissingReference('user', String(id))
  const username = `${SERVICE_ACCOUNT_PREFIX}${clientId}`
  const node = realm.node.getChild('users', username, { username, serviceAccountClientId: clientId })
  node.add('realmRoles', getDefaultRoleName(realm.name))
  return node
}

const groupNode: ResourceType['getNode'] = (attributes, realm) => {
  const { organization_id: organization = null, id = null } = attributes
  if (organization !== null && organization !== '')
    return getReferred('organization', organization, realm).getChild('groups', String(attributes.name), {
      name: attributes.name ?? null,
    })
  return getReferred('group', id, realm)
}

const user: Rules = {
  attributes: valueLists('attributes'),
  federated_identity: converted('federatedIdentities', (identities) =>
    readObjects(identities).map(
      ({ identity_provider: provider = null, user_id: userId = null, user_name: name = null }) => ({
        identityProvider: provider,
        userId,
        userName: name,
      }),
    ),
  ),
  initial_password: reported('sets a password only when the user is created'),
}

/** Resource types of roles, groups, users and organizations. */
export const userTypes: ResourceTypes = {
  keycloak_role: {
    kind: 'role',
    getNode: ({ id }, realm) => getReferred('role', id, realm),
    rules: { attributes: valueLists('attributes'), client_id: ignored, composite_roles: compositeRoles },
  },
  keycloak_default_roles: {
    getNode: (_attributes, realm) =>
      getObject(realm, { kind: 'role', name: getDefaultRoleName(realm.name), attributes: {} }),
    rules: {
      default_roles: applied((roles, node) => {
        for (const role of toList(roles).map(String)) {
          const [client, name] = role.includes('/') ? role.split(/\/(.*)/s) : []
          if (client === undefined || name === undefined) node.add('composites/realm', role)
          else node.add(['composites', 'client', client], name)
        }
      }),
    },
  },
  keycloak_group: {
    kind: 'group',
    getNode: groupNode,
    rules: {
      attributes: valueLists('attributes'),
      name: ignored,
      organization_id: ignored,
      parent_id: ignored,
      path: ignored,
    },
  },
  keycloak_group_roles: {
    getNode: ({ group_id: id }, realm) => getReferred('group', id, realm),
    rules: { group_id: ignored, role_ids: roleIds, exhaustive: checkExhaustive },
  },
  keycloak_default_groups: {
    getNode: inRealm,
    rules: {
      group_ids: applied((ids, node, scope) => {
        const groups = resolveEach('group', ids, scope)
        if (groups.length)
          node.set(
            'defaultGroups',
            groups.map(({ name }) => name),
          )
      }),
    },
  },
  keycloak_group_memberships: {
    getNode: inRealm,
    rules: {
      group_id: ignored,
      members: applied((members, node, { attributes, realm }) => {
        const group = realm.references.resolve('group', attributes.group_id ?? null).name
        for (const username of toList(members).map(String))
          node.getChild('users', username, { username }).add('groups', group)
      }),
    },
  },
  keycloak_user: { kind: 'user', getNode: inList('users', ['username', 'username']), rules: user },
  keycloak_user_roles: {
    getNode: getUserWithRoles,
    rules: { user_id: ignored, role_ids: roleIds, exhaustive: checkExhaustive },
  },
  keycloak_user_groups: {
    getNode: ({ user_id: id }, realm) => getReferred('user', id, realm),
    rules: {
      user_id: ignored,
      group_ids: applied((ids, node, scope) =>
        node.add('groups', ...resolveEach('group', ids, scope).map(({ name }) => name)),
      ),
      exhaustive: checkExhaustive,
    },
  },
  keycloak_openid_client_service_account_role: {
    getNode: getServiceAccount,
    rules: {
      service_account_user_id: ignored,
      client_id: ignored,
      role: applied((role, node, { attributes, realm }) => {
        const client = realm.references.resolve('client', attributes.client_id ?? null).name
        addRoles(node, [{ name: String(role), client }])
      }),
    },
  },
  keycloak_openid_client_service_account_realm_role: {
    getNode: getServiceAccount,
    rules: {
      service_account_user_id: ignored,
      role: applied((role, node) => addRoles(node, [{ name: String(role) }])),
    },
  },
  keycloak_organization: {
    kind: 'organization',
    getNode: ({ id }, realm) => getReferred('organization', id, realm),
    rules: { attributes: valueLists('attributes'), domain: 'domains' },
  },
}

// Resources of authorization services: resources, scopes, policies and permissions of a client.

import { type Json, readObjects } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import {
  applied,
  converted,
  ignored,
  type Rule,
  type Rules,
  settings,
  text,
  toList,
  valueLists,
} from './attribute-rules.ts'
import type { References } from './references.ts'
import { getReferred, type ResourceType, type ResourceTypes } from './resource-type.ts'

/** Returns the element of a list in the authorization settings of a client. */
const inSettings =
  (list: string, fields: (type: Json | undefined) => { type?: Json } = () => ({})): ResourceType['getNode'] =>
  ({ resource_server_id: client, name = null, type }, realm) =>
    getReferred('client', client, realm).getChild(['authorizationSettings', list], String(name), {
      name,
      ...fields(type),
    })

const common: Rules = { name: ignored, resource_server_id: ignored }

/** A rule for ids of objects, which become a JSON list of names in the settings of a policy. */
const targets = (setting: string, kind: KindName): Rule =>
  converted(['config', setting], (ids, { references }) =>
    JSON.stringify(toList(ids).map((id) => references.resolve(kind, id).name)),
  )

/** A rule for blocks with an id and a flag, which become a JSON list. */
const flaggedTargets = (
  setting: string,
  convert: (id: Json, references: References) => { readonly [member: string]: string },
  flag: string,
): Rule => {
  const attribute = flag.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return converted(['config', setting], (blocks, { references }) =>
    JSON.stringify(
      readObjects(blocks).map((target) => ({
        ...convert(target.id ?? null, references),
        [flag]: target[attribute] === true,
      })),
    ),
  )
}

function policy(policyType: string, rules: Rules): ResourceType {
  return {
    kind: 'authorizationPolicy',
    getNode: inSettings('policies', () => ({ type: policyType })),
    rules: { ...common, type: ignored, ...rules },
  }
}

const roleName = (id: Json, references: References) => {
  const { name, client } = references.resolve('role', id)
  return { id: client === undefined ? name : `${client}/${name}` }
}

/** Resource types of authorization services. */
export const authorizationTypes: ResourceTypes = {
  keycloak_openid_client_authorization_scope: {
    kind: 'authorizationScope',
    getNode: inSettings('scopes'),
    rules: common,
  },
  keycloak_openid_client_authorization_resource: {
    kind: 'authorizationResource',
    getNode: inSettings('resources'),
    rules: {
      ...common,
      attributes: valueLists('attributes'),
      icon_uri: 'icon_uri',
      scopes: converted('scopes', (names) => toList(names).map((name) => ({ name }))),
    },
  },
  keycloak_openid_client_authorization_permission: {
    kind: 'authorizationPolicy',
    getNode: inSettings('policies', (type = 'resource') => ({ type })),
    rules: {
      ...common,
      type: ignored,
      policies: targets('applyPolicies', 'authorizationPolicy'),
      resources: targets('resources', 'authorizationResource'),
      resource_type: text('config/defaultResourceType'),
      scopes: targets('scopes', 'authorizationScope'),
    },
  },
  keycloak_openid_client_aggregate_policy: policy('aggregate', {
    policies: targets('applyPolicies', 'authorizationPolicy'),
  }),
  keycloak_openid_client_client_policy: policy('client', { clients: targets('clients', 'client') }),
  keycloak_openid_client_authorization_client_scope_policy: policy('client-scope', {
    scope: flaggedTargets(
      'clientScopes',
      (id, references) => ({ id: references.resolve('clientScope', id).name }),
      'required',
    ),
  }),
  keycloak_openid_client_group_policy: policy('group', {
    groups: flaggedTargets(
      'groups',
      (id, references) => ({ path: references.resolve('group', id).name }),
      'extendChildren',
    ),
    groups_claim: text('config/groupsClaim'),
  }),
  keycloak_openid_client_regex_policy: policy('regex', {
    ...settings('config', ['pattern', 'target_claim', 'target_context_attributes']),
  }),
  keycloak_openid_client_role_policy: policy('role', {
    role: flaggedTargets('roles', roleName, 'required'),
    fetch_roles: applied((fetches, node) => {
      if (fetches === true) node.set('config/fetchRoles', 'true')
    }),
  }),
  keycloak_openid_client_time_policy: policy('time', {
    ...settings('config', ['day_month', 'day_month_end', 'month', 'month_end', 'year', 'year_end']),
    ...settings('config', ['hour', 'hour_end', 'minute', 'minute_end']),
    not_before: text('config/nbf'),
    not_on_or_after: text('config/noa'),
  }),
  keycloak_openid_client_user_policy: policy('user', { users: targets('users', 'user') }),
}

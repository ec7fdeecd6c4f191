// The supported types of protocol mappers for OpenID Connect, with Keycloak's priorities.

import { mapRequestedClaims, mapRequestedValue } from './claims-parameter.ts'
import { mapAllowedOrigins, mapAudience, mapHardcodedClaim, mapPairwiseSubject } from './client.ts'
import type { ClaimMapper, ClaimTarget } from './mapper.ts'
import { mapOrganizationGroups, mapOrganizations, ORGANIZATION_MEMBERSHIP } from './organizations.ts'
import {
  addHardcodedRole,
  mapClientRoles,
  mapRealmRoles,
  mapResolvedAudience,
  type RoleMapper,
  renameRole,
} from './roles.ts'
import {
  mapAuthenticationLevel,
  mapAuthenticationMethods,
  mapNonce,
  mapSessionNote,
  mapSessionState,
  mapSubject,
} from './session.ts'
import { mapAddress, mapAttribute, mapFullName, mapGroups, mapProperty } from './user.ts'

const tokenTargets: readonly ClaimTarget[] = ['accessToken', 'idToken']
const tokensAndIntrospection: readonly ClaimTarget[] = [...tokenTargets, 'introspection']
const accessTokenTargets: readonly ClaimTarget[] = ['accessToken', 'introspection']
const allButResponse: readonly ClaimTarget[] = [...tokensAndIntrospection, 'userInfo']
const allTargets: readonly ClaimTarget[] = [...allButResponse, 'response']

/** The types that write claims, by provider id. */
export const claimMappers: Readonly<Record<string, ClaimMapper>> = {
  'oidc-sub-mapper': { priority: -10, targets: accessTokenTargets, map: mapSubject },
  'oidc-acr-mapper': { priority: 0, targets: tokensAndIntrospection, map: mapAuthenticationLevel },
  'oidc-address-mapper': { priority: 0, targets: allButResponse, map: mapAddress },
  'oidc-allowed-origins-mapper': { priority: 0, targets: accessTokenTargets, map: mapAllowedOrigins },
  'oidc-amr-mapper': { priority: 0, targets: tokenTargets, map: mapAuthenticationMethods },
  'oidc-audience-mapper': { priority: 0, targets: tokensAndIntrospection, map: mapAudience },
  'oidc-claims-param-token-mapper': { priority: 0, targets: ['idToken', 'userInfo'], map: mapRequestedClaims },
  'oidc-claims-param-value-idtoken-mapper': { priority: 0, targets: ['idToken'], map: mapRequestedValue },
  'oidc-full-name-mapper': { priority: 0, targets: allButResponse, map: mapFullName },
  'oidc-group-membership-mapper': { priority: 0, targets: allButResponse, map: mapGroups },
  'oidc-hardcoded-claim-mapper': { priority: 0, targets: allTargets, map: mapHardcodedClaim },
  'oidc-nonce-backwards-compatible-mapper': {
    priority: 0,
    targets: ['accessToken'],
    isAlwaysActive: true,
    map: mapNonce,
  },
  [ORGANIZATION_MEMBERSHIP]: { priority: 0, targets: allButResponse, map: mapOrganizations },
  'oidc-session-state-mapper': { priority: 0, targets: allButResponse, map: mapSessionState },
  'oidc-sha256-pairwise-sub-mapper': {
    priority: 0,
    targets: allButResponse,
    isAlwaysActive: true,
    map: mapPairwiseSubject,
  },
  'oidc-usermodel-attribute-mapper': { priority: 0, targets: allButResponse, map: mapAttribute },
  'oidc-usermodel-property-mapper': { priority: 0, targets: allButResponse, map: mapProperty },
  'oidc-usersessionmodel-note-mapper': { priority: 0, targets: allTargets, map: mapSessionNote },
  'oidc-organization-group-membership-mapper': { priority: 10, targets: allButResponse, map: mapOrganizationGroups },
  'oidc-audience-resolve-mapper': {
    priority: 30,
    targets: accessTokenTargets,
    usesRoles: true,
    map: mapResolvedAudience,
  },
  'oidc-usermodel-client-role-mapper': { priority: 40, targets: allButResponse, usesRoles: true, map: mapClientRoles },
  'oidc-usermodel-realm-role-mapper': { priority: 40, targets: allButResponse, usesRoles: true, map: mapRealmRoles },
}

/** The types that change roles, by provider id. Their priorities are lower than those of the types that write roles. */
export const roleMappers: Readonly<Record<string, RoleMapper>> = {
  'oidc-role-name-mapper': { priority: 10, change: renameRole },
  'oidc-hardcoded-role-mapper': { priority: 20, change: addHardcodedRole },
}

// All types of protocol mappers for OpenID Connect, with the reference server's priorities.
import { allowedOrigins, audience, hardcodedClaim, pairwiseSubject } from './client.ts'
import type { MapperType, Target } from './mapper.ts'
import { MEMBERSHIP, organizationGroups, organizationMembership } from './organizations.ts'
import { audienceResolve, clientRoles, hardcodedRole, type RoleChange, realmRoles, rename } from './roles.ts'
import { contextClass, methods, nonce, note, sessionState, subject } from './session.ts'
import { address, attribute, fullName, groupMembership, property } from './user.ts'
import { wishedClaims, wishedValue } from './wishes.ts'

const tokens: readonly Target[] = ['accessToken', 'idToken']
const notUserInfo: readonly Target[] = [...tokens, 'introspection']
const access: readonly Target[] = ['accessToken', 'introspection']
const everywhere: readonly Target[] = [...notUserInfo, 'userInfo']
const andResponse: readonly Target[] = [...everywhere, 'response']

/** The types that write claims. */
export const mapperTypes: Readonly<Record<string, MapperType>> = {
  'oidc-sub-mapper': { priority: -10, targets: access, map: subject },
  'oidc-acr-mapper': { priority: 0, targets: notUserInfo, map: contextClass },
  'oidc-address-mapper': { priority: 0, targets: everywhere, map: address },
  'oidc-allowed-origins-mapper': { priority: 0, targets: access, map: allowedOrigins },
  'oidc-amr-mapper': { priority: 0, targets: tokens, map: methods },
  'oidc-audience-mapper': { priority: 0, targets: notUserInfo, map: audience },
  'oidc-claims-param-token-mapper': { priority: 0, targets: ['idToken', 'userInfo'], map: wishedClaims },
  'oidc-claims-param-value-idtoken-mapper': { priority: 0, targets: ['idToken'], map: wishedValue },
  'oidc-full-name-mapper': { priority: 0, targets: everywhere, map: fullName },
  'oidc-group-membership-mapper': { priority: 0, targets: everywhere, map: groupMembership },
  'oidc-hardcoded-claim-mapper': { priority: 0, targets: andResponse, map: hardcodedClaim },
  'oidc-nonce-backwards-compatible-mapper': { priority: 0, targets: ['accessToken'], always: true, map: nonce },
  [MEMBERSHIP]: { priority: 0, targets: everywhere, map: organizationMembership },
  'oidc-session-state-mapper': { priority: 0, targets: everywhere, map: sessionState },
  'oidc-sha256-pairwise-sub-mapper': {
    priority: 0,
    targets: everywhere,
    always: true,
    map: pairwiseSubject,
  },
  'oidc-usermodel-attribute-mapper': { priority: 0, targets: everywhere, map: attribute },
  'oidc-usermodel-property-mapper': { priority: 0, targets: everywhere, map: property },
  'oidc-usersessionmodel-note-mapper': { priority: 0, targets: andResponse, map: note },
  'oidc-organization-group-membership-mapper': { priority: 10, targets: everywhere, map: organizationGroups },
  'oidc-audience-resolve-mapper': { priority: 30, targets: access, roles: true, map: audienceResolve },
  'oidc-usermodel-client-role-mapper': { priority: 40, targets: everywhere, roles: true, map: clientRoles },
  'oidc-usermodel-realm-role-mapper': { priority: 40, targets: everywhere, roles: true, map: realmRoles },
}

/** The types that change the roles themselves: all of them come before those that show roles. */
export const roleChanges: Readonly<Record<string, RoleChange>> = {
  'oidc-role-name-mapper': { priority: 10, change: rename },
  'oidc-hardcoded-role-mapper': { priority: 20, change: hardcodedRole },
}

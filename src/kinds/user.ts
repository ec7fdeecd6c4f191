import * as z from 'zod'
import {
  flag,
  flagMap,
  integer,
  lowerCaseText,
  objectList,
  opaque,
  structured,
  text,
  textListMap,
  textMap,
  textOrListMap,
  textSet,
  timestamp,
} from './fields.ts'
import { groupPaths, mappedRoles } from './group.ts'
import { defineKind } from './kind.ts'

/** Keycloak: CredentialRepresentation, with the fields of early versions that `secretData` and `credentialData` replaced. */
const credential = {
  id: text('Id of the credential.'),
  type: text('Type of the credential: password, otp, webauthn, recovery-authn-codes and others.'),
  userLabel: text('Label that the user gave the credential.'),
  createdDate: timestamp('Time of creation, in milliseconds since 1970.'),
  priority: integer('Priority among the credentials of the user. The lowest one is preferred.'),
  value: text('Password in plain text, which is stored as a hash.', { secret: true }),
  temporary: flag('Whether the user must change the password at the next login.'),
  secretData: text('Secret part of the credential, as JSON: a hash with its salt, or the secret of one-time codes.', {
    secret: true,
  }),
  credentialData: text('Public part of the credential, as JSON: algorithm and parameters.'),
  federationLink: text('Keycloak: id of the user federation provider with the credential.'),
  algorithm: text('Keycloak: legacy field; use credentialData.', { deprecated: true }),
  hashedSaltedValue: text('Keycloak: legacy field; use secretData.', { deprecated: true, secret: true }),
  salt: text('Keycloak: legacy field; use secretData.', { deprecated: true, secret: true }),
  hashIterations: integer('Keycloak: legacy field; use credentialData.', { deprecated: true }),
  counter: integer('Keycloak: legacy field; use credentialData.', { deprecated: true }),
  digits: integer('Keycloak: legacy field; use credentialData.', { deprecated: true }),
  period: integer('Keycloak: legacy field; use credentialData.', { deprecated: true }),
  device: text('Keycloak: legacy field, ignored.', { deprecated: true }),
  config: textListMap('Keycloak: legacy field, ignored.', { deprecated: true }),
}

/** Keycloak: the prefix of the usernames of service accounts. */
export const SERVICE_ACCOUNT_PREFIX = 'service-account-'

/** Keycloak: UserRepresentation. A user, or the service account of a client. */
export const user = defineKind({
  name: 'user',
  title: 'user',
  representation: 'UserRepresentation',
  naturalKey: 'username',
  events: { type: 'USER', paths: { realm: 'users/{id}' }, omitsId: true },
  isUserData: true,
  conflict: {
    create: 'User exists with same username',
    update: 'User exists with same username',
    fields: { email: 'User exists with same email' },
  },
  defaults: () => ({ enabled: false, emailVerified: false, notBefore: 0 }),
  fields: {
    username: lowerCaseText('Username, which is unique in the realm, regardless of case.'),
    firstName: text('First name.'),
    lastName: text('Last name.'),
    email: lowerCaseText('Email address.', { credential: true, emptyIsAbsent: true, format: 'email' }),
    emailVerified: flag('Whether the email address is verified.'),
    attributes: textOrListMap('Attributes: lists of values by name.', {
      onPut: 'replace',
      // They name the entry of a directory whose password the user has.
      credential: ['LDAP_ID', 'LDAP_ENTRY_DN'],
    }),
    userProfileMetadata: opaque('User profile metadata of the attributes.', { computed: true }),
    enabled: flag('Whether the user is enabled. A disabled user cannot log in.', { credential: true }),
    createdTimestamp: timestamp('Time of creation, in milliseconds since 1970.', { generated: true }),
    totp: flag('Whether the user has a credential for one-time codes.', { computed: true }),
    disableableCredentialTypes: textSet('Types of credentials that can be disabled.', { computed: true }),
    requiredActions: textSet('Required actions at the next login, such as UPDATE_PASSWORD.', {
      appliedOnChange: true,
    }),
    notBefore: integer('Tokens issued before this time are invalid. In seconds since 1970; 0 for no limit.'),
    credentials: objectList(credential, 'Credentials of the user.', {
      schemaName: 'CredentialRepresentation',
      storedSeparately: true,
      secret: true,
      appliedOnChange: true,
      credential: true,
    }),
    ...mappedRoles,
    groups: groupPaths('Groups of the user, by path.', { grants: true }),
    organizations: textSet('Organizations of the user, by alias.', {
      refersTo: 'organization',
      relation: true,
      isSeparate: true,
    }),
    managedBy: textSet('Organizations that manage the user, who is deleted when the membership ends.', {
      refersTo: 'organization',
      relation: true,
      isSeparate: true,
    }),
    organizationGroups: structured(
      z.record(z.string(), z.array(z.string())),
      'Groups of organizations that the user is in, by alias of the organization and path.',
      { refersTo: 'organizationGroup', relation: true, targetParent: 'organization', isSeparate: true },
    ),
    federatedIdentities: objectList(
      {
        identityProvider: text('Alias of the identity provider.', { refersTo: 'identityProvider' }),
        userId: text('User id at the identity provider.'),
        userName: text('Username at the identity provider.'),
      },
      'Linked accounts at identity providers.',
      {
        schemaName: 'FederatedIdentityRepresentation',
        storedSeparately: true,
        elementKey: 'identityProvider',
        credential: true,
      },
    ),
    clientConsents: objectList(
      {
        clientId: text('Client that the user consented to, by client id.', { refersTo: 'client' }),
        grantedClientScopes: textSet('Client scopes that the user consented to.', { refersTo: 'clientScope' }),
        createdDate: timestamp('Time of the consent, in milliseconds since 1970.'),
        lastUpdatedDate: timestamp('Time of the last change, in milliseconds since 1970.'),
        grantedRealmRoles: textSet('Keycloak: legacy field, ignored.', { computed: true, deprecated: true }),
      },
      'Consents of the user.',
      {
        schemaName: 'UserConsentRepresentation',
        storedSeparately: true,
        elementKey: 'clientId',
        optionalMembers: ['createdDate', 'lastUpdatedDate'],
      },
    ),
    federationLink: text('Id of the user federation provider that the user comes from.', { credential: true }),
    serviceAccountClientId: text('Client whose service account the user is, by client id.', {
      refersTo: 'client',
      credential: true,
    }),

    access: flagMap('Permissions of the caller on the user.', { computed: true }),
    permissionTickets: textMap(
      'Requests of the user for access to resources of other users, by id. Only the journal contains them.',
      { computed: true },
    ),
    origin: text('Origin of the user: the same as federationLink.', { computed: true }),
    self: text('Keycloak: legacy field, ignored and never returned.', { computed: true, legacy: true }),
    applicationRoles: structured(
      z.record(z.string(), z.array(z.string())),
      'Keycloak: legacy field; in documents, clientRoles if these are not declared.',
      { computed: true, legacy: true },
    ),
    socialLinks: opaque('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
  },
})

/** The fields of a user that forms, conditions and mappers treat like attributes. */
const USER_FIELDS = ['username', 'email', 'firstName', 'lastName'] as const

/** Whether a name is that of a field of users, such as `email`; other names are those of attributes. */
export const isUserField = (name: string): name is (typeof USER_FIELDS)[number] =>
  USER_FIELDS.some((field) => field === name)

/** Whether a new user gets exactly the declared roles, which may be none. Keycloak: the default role must then be declared too. */
export function declaresRoles({ realmRoles, clientRoles }: Readonly<Record<string, unknown>>): boolean {
  return realmRoles !== undefined || clientRoles !== undefined
}

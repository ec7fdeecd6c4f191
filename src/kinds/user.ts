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
  textSet,
  timestamp,
} from './fields.ts'
import { groupPaths, mappedRoles } from './group.ts'
import { defineKind } from './kind.ts'

/** Keycloak: CredentialRepresentation, with what earlier versions kept beside `secretData` and `credentialData`. */
const credential = {
  id: text('Id of the credential.'),
  type: text('Kind of credential: password, otp, webauthn, recovery-authn-codes and so on.'),
  userLabel: text('What the person calls it.'),
  createdDate: timestamp('When it was made; milliseconds since 1970.'),
  priority: integer('Place among the credentials of the person: lower is preferred.'),
  value: text('A password in the clear, which is hashed before it is kept.', { secret: true }),
  temporary: flag('Whether the person must choose another password at the next log-in.'),
  secretData: text(
    'What is secret of the credential, as JSON: a hash with its salt, or the secret of one-time codes.',
    { secret: true },
  ),
  credentialData: text('The rest, as JSON: algorithm and its parameters.'),
  federationLink: text('Keycloak: id of the user store that keeps it.'),
  algorithm: text('Keycloak: of an earlier form; see credentialData.'),
  hashedSaltedValue: text('Keycloak: of an earlier form; see secretData.', { secret: true }),
  salt: text('Keycloak: of an earlier form; see secretData.', { secret: true }),
  hashIterations: integer('Keycloak: of an earlier form; see credentialData.'),
  counter: integer('Keycloak: of an earlier form; see credentialData.'),
  digits: integer('Keycloak: of an earlier form; see credentialData.'),
  period: integer('Keycloak: of an earlier form; see credentialData.'),
  device: text('Keycloak: of an earlier form; ignored.'),
  config: textListMap('Keycloak: of an earlier form; ignored.'),
}

/** Keycloak: UserRepresentation. A person, or the account of a client. */
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
    username: lowerCaseText('Name of the person at log-in; unique in the realm, in any case.'),
    firstName: text('First name.'),
    lastName: text('Last name.'),
    email: lowerCaseText('Mail address.', { credential: true }),
    emailVerified: flag('Whether the mail address is known to be theirs.'),
    attributes: textListMap('Further facts, lists of texts by name.', { onPut: 'replace' }),
    enabled: flag('Whether the person can log in.', { credential: true }),
    createdTimestamp: timestamp('When the account was made; milliseconds since 1970.', { generated: true }),
    notBefore: integer('Tokens from before this time are refused; seconds since 1970, 0 for none.'),
    requiredActions: textSet('What the person must do at the next log-in, such as UPDATE_PASSWORD.', {
      appliedOnChange: true,
    }),
    credentials: objectList(credential, 'What the person proves who they are with.', {
      storedSeparately: true,
      secret: true,
      appliedOnChange: true,
      credential: true,
    }),
    ...mappedRoles,
    groups: groupPaths('Groups that the person belongs to, by path.', { grants: true }),
    organizations: textSet('Organizations that the person belongs to, by alias.', {
      refersTo: 'organization',
      relation: true,
      isSeparate: true,
    }),
    managedBy: textSet('Those of these organizations that made the account, which ends with the membership.', {
      refersTo: 'organization',
      relation: true,
      isSeparate: true,
    }),
    federatedIdentities: objectList(
      {
        identityProvider: text('Alias of the identity provider.', { refersTo: 'identityProvider' }),
        userId: text('Id of the person there.'),
        userName: text('Name of the person there.'),
      },
      'Accounts of the person at identity providers.',
      { storedSeparately: true, elementKey: 'identityProvider', credential: true },
    ),
    clientConsents: objectList(
      {
        clientId: text('Client that the person agreed to.', { refersTo: 'client' }),
        grantedClientScopes: textSet('Client scopes that they agreed to.', { refersTo: 'clientScope' }),
        createdDate: timestamp('When they agreed; milliseconds since 1970.'),
        lastUpdatedDate: timestamp('When they changed it; milliseconds since 1970.'),
        grantedRealmRoles: textSet('Keycloak: of an earlier form; ignored.', { computed: true }),
      },
      'What the person lets clients learn.',
      { storedSeparately: true, elementKey: 'clientId', optionalMembers: ['createdDate', 'lastUpdatedDate'] },
    ),
    federationLink: text('Id of the user store that the person comes from.', { credential: true }),
    serviceAccountClientId: text('Client whose account this is.', { refersTo: 'client', credential: true }),

    access: flagMap('What the caller may do with the person.', { computed: true }),
    origin: text('Where the person comes from.', { computed: true }),
    self: text('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    totp: flag('Whether the person has one-time codes.', { computed: true }),
    disableableCredentialTypes: textSet('Kinds of credentials that can be switched off.', { computed: true }),
    userProfileMetadata: opaque('What the profile says of the attributes.', { computed: true }),
    applicationRoles: structured(
      z.record(z.string(), z.array(z.string())),
      'Keycloak: of an earlier form; in documents it counts where there are no clientRoles.',
      { computed: true, legacy: true },
    ),
    socialLinks: opaque('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
  },
})

/** Whether a new user has exactly the roles that are declared, be they none. Keycloak: the default role is one of them, or not given. */
export function declaresRoles({ realmRoles, clientRoles }: Readonly<Record<string, unknown>>): boolean {
  return realmRoles !== undefined || clientRoles !== undefined
}

// What a user is, as far as Regent knows users: the fields of their representation and of their credentials.
import { type Field, flag, integer, objectList, opaque, text, textList, textListMap, textSet } from './fields.ts'

const credentialFields: Readonly<Record<string, Field>> = {
  id: text('Id of the credential.', { computed: true }),
  type: text('Sort of the credential, such as password or otp.'),
  userLabel: text('Name that the person gave to the credential.'),
  createdDate: integer('When the credential was made; milliseconds since 1970.'),
  value: text('Password in the clear; only on input.', { secret: true }),
  temporary: flag('Whether the password must be changed at the next log-in.'),
  secretData: text('Secret part of a stored credential, as JSON in a text.', { secret: true }),
  credentialData: text('Other part of a stored credential, as JSON in a text: algorithm, iterations and so on.'),
  priority: integer('Place among the credentials of the person: lower comes first.'),
  federationLink: text('Id of the user store that keeps the credential.', { computed: true }),
  algorithm: text('Keycloak: of an earlier form; hash of a stored password or code.'),
  hashIterations: integer('Keycloak: of an earlier form; iterations of the hash of a stored password.'),
  hashedSaltedValue: text('Keycloak: of an earlier form; hash of a stored password, or secret of codes.', {
    secret: true,
  }),
  salt: text('Keycloak: of an earlier form; salt of a stored password.', { secret: true }),
  counter: integer('Keycloak: of an earlier form; counter of one-time codes.'),
  digits: integer('Keycloak: of an earlier form; digits of one-time codes.'),
  period: integer('Keycloak: of an earlier form; seconds of one-time codes.'),
  device: text('Keycloak: of an earlier form; ignored.', { computed: true }),
  config: opaque('Keycloak: of an earlier form; ignored.', { computed: true }),
}

/** Keycloak: UserRepresentation. A person, or the service account of a client. */
export const userFields: Readonly<Record<string, Field>> = {
  username: text('Name at log-in, in lower case; unique in the realm.'),
  email: text('Mail address, in lower case.', { emptyIsAbsent: true }),
  emailVerified: flag('Whether the person confirmed the mail address.', { default: false }),
  firstName: text('First name.', { emptyIsAbsent: true }),
  lastName: text('Last name.', { emptyIsAbsent: true }),
  enabled: flag('Whether the person can log in.', { default: false }),
  // Keycloak: an update that states attributes also clears mail address and names where it does not state them.
  attributes: textListMap('Further facts about the person: lists of texts by name.', { onPut: 'replace' }),
  requiredActions: textSet('Aliases of the actions that the person must take at the next log-in.', { default: [] }),
  credentials: objectList(credentialFields, 'Passwords and other credentials; only on input.', { apart: true }),
  notBefore: integer('Tokens from before this time are refused; seconds since 1970, 0 for none.', { default: 0 }),
  createdTimestamp: integer('When the user was made; milliseconds since 1970.'),
  federationLink: text('Id of the user store that the person comes from.'),
  serviceAccountClientId: text('Client id of the client whose service account the user is.'),
  realmRoles: textSet('Names of realm roles that the person has; only on input.', { relation: true }),
  clientRoles: textListMap('Names of client roles that the person has, by client id; only on input.', {
    relation: true,
  }),
  groups: textSet('Paths of groups that the person is in; only on input.', { relation: true }),
  federatedIdentities: opaque('Accounts at identity providers that belong to the person.', { apart: true }),
  clientConsents: opaque('What the person agreed to, by client; only on input.', { apart: true }),
  access: opaque('What the caller may do with the user.', { computed: true }),
  disableableCredentialTypes: textList('Sorts of credentials that can be switched off.', { computed: true }),
  totp: flag('Whether the person has one-time codes.', { computed: true }),
  userProfileMetadata: opaque('Rules for the attributes of the person.', { computed: true }),
  origin: text('Where the user comes from, when that is not the realm itself.', { computed: true }),
  self: text('Keycloak: of an earlier form; ignored.', { computed: true }),
  applicationRoles: opaque('Keycloak: of an earlier form; ignored.', { computed: true }),
  socialLinks: opaque('Keycloak: of an earlier form; ignored.', { computed: true }),
}

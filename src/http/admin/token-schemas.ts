// The schemas of tokens in OpenAPI: AccessToken and IDToken. Protocol mappers add any other claims.
import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'

const text = (description: string) => z.string().optional().describe(description)
const flag = (description: string) => z.boolean().optional().describe(description)
const time = (description: string) => z.int().optional().describe(`${description}, in seconds since 1970.`)
const texts = (description: string) => z.array(z.string()).optional().describe(description)

const address = nameSchema(
  'AddressClaimSet',
  z
    .looseObject({
      formatted: text('Full address.'),
      street_address: text('Street and number.'),
      locality: text('City.'),
      region: text('State or region.'),
      postal_code: text('Postal code.'),
      country: text('Country.'),
    })
    .describe('The address claim (OpenID Connect Core, section 5.1.1).'),
)

/** The claims of access tokens and ID tokens (RFC 7519, section 4.1; OpenID Connect Core, sections 2 and 5.1). */
const claims = {
  jti: text('Id of the token.'),
  iss: text('Issuer: URL of the realm.'),
  sub: text('Subject: id of the user.'),
  typ: text('Type of the token, such as Bearer or ID.'),
  azp: text('Client to which the token was issued, by client id.'),
  aud: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('Audience: client ids.'),
  exp: time('Time of expiration'),
  nbf: time('Time before which the token is invalid'),
  iat: time('Time of issue'),
  auth_time: time('Time of the login'),
  nonce: text('Nonce of the authorization request.'),
  sid: text('Id of the session.'),
  acr: text('Authentication context class: level of the login.'),
  at_hash: text('Hash of the access token.'),
  c_hash: text('Hash of the authorization code.'),
  s_hash: text('Hash of the state.'),
  name: text('Full name.'),
  given_name: text('First name.'),
  family_name: text('Last name.'),
  middle_name: text('Middle name.'),
  nickname: text('Nickname.'),
  preferred_username: text('Username.'),
  profile: text('URL of the profile page.'),
  picture: text('URL of a picture.'),
  website: text('URL of a website.'),
  email: text('Email address.'),
  email_verified: flag('Whether the email address is verified.'),
  gender: text('Gender.'),
  birthdate: text('Date of birth.'),
  zoneinfo: text('Time zone.'),
  locale: text('Language.'),
  phone_number: text('Phone number.'),
  phone_number_verified: flag('Whether the phone number is verified.'),
  address: address.optional().describe('Address.'),
  updated_at: time('Time of the last update of the user'),
  claims_locales: text('Languages of the claims.'),
  otherClaims: z
    .record(z.string(), z.json())
    .optional()
    .describe('Keycloak: further claims. They are members of the token itself.'),
}

const access = nameSchema(
  'Access',
  z
    .looseObject({ roles: texts('Roles, by name.'), verify_caller: flag('Keycloak: legacy claim. Always absent.') })
    .describe('Roles of a realm or client.'),
)
const permission = nameSchema(
  'Permission',
  z
    .looseObject({
      rsid: text('Id of the resource.'),
      rsname: text('Name of the resource.'),
      scopes: texts('Scopes, by name.'),
      claims: z.record(z.string(), z.array(z.string())).optional().describe('Claims of the permission, by name.'),
    })
    .describe('A permission in a requesting party token. Only evaluations of policies have one.'),
)
const authorization = nameSchema(
  'Authorization',
  z
    .looseObject({ permissions: z.array(permission).optional().describe('Permissions.') })
    .describe('The permissions in a requesting party token. Only evaluations of policies have them.'),
)
const confirmation = nameSchema(
  'Confirmation',
  z
    .looseObject({ 'x5t#S256': text('Hash of the client certificate.'), jkt: text('Hash of the key (DPoP).') })
    .describe('The key that the token is bound to (RFC 7800).'),
)
const authorizationDetails = nameSchema(
  'AuthorizationDetailsJSONRepresentation',
  z
    .looseObject({
      type: text('Type of the authorization details.'),
      locations: texts('Locations of resources.'),
      actions: texts('Actions.'),
      datatypes: texts('Types of data.'),
      identifier: text('Id of a resource.'),
      privileges: texts('Privileges.'),
      customData: z.record(z.string(), z.json()).optional().describe('Further members.'),
      scopeNameFromCustomData: text('Keycloak: name of a dynamic scope.'),
      dynamicScopeParamFromCustomData: text('Keycloak: parameter of a dynamic scope.'),
    })
    .describe('Authorization details (RFC 9396).'),
)

/** The claims of an access token. */
export const accessToken = nameSchema(
  'AccessToken',
  z
    .looseObject({
      ...claims,
      scope: text('Scopes, separated by spaces.'),
      'allowed-origins': texts('Allowed CORS origins of the client.'),
      'trusted-certs': texts('Keycloak: legacy claim. Always absent.'),
      realm_access: access.optional().describe('Realm roles of the user.'),
      resource_access: z.record(z.string(), access).optional().describe('Client roles of the user, by client id.'),
      authorization: authorization.optional().describe('Keycloak: permissions. Always absent.'),
      cnf: confirmation.optional().describe('The key that the token is bound to.'),
      authorization_details: z.array(authorizationDetails).optional().describe('Authorization details.'),
    })
    .describe('The claims of an access token.'),
)

/** The claims of an ID token. */
export const idToken = nameSchema('IDToken', z.looseObject(claims).describe('The claims of an ID token.'))

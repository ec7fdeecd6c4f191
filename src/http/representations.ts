// The schemas of representations in OpenAPI, under Keycloak's names: the fields of kinds, nested objects and legacy fields.
import * as z from 'zod'
import { policiesDocument, profilesDocument } from '../kinds/client-policies.ts'
import { kinds } from '../kinds/index.ts'
import { anyRepresentation, anyRepresentations, isSchemaName, nameSchema } from '../kinds/json-schema.ts'
import { getPluralTitle, type Kind, type KindName } from '../kinds/kind.ts'
import { childrenSchema, listNestedChildren } from '../kinds/nested-schema.ts'
import { profileMetadata, profileSchema } from '../kinds/user-profile.ts'
import { bodySchema, getChildSchemas } from './body.ts'
import { withArticle } from './shapes/subject.ts'

const text = (description: string) => z.string().optional().describe(description)
const integer = (description: string) => z.int().optional().describe(description)
const config = z.record(z.string(), z.string()).optional().describe('Settings, by name.')

const deprecated = <S extends z.ZodType>(schema: S): S => schema.meta({ deprecated: true })

const scopeMapping = nameSchema(
  'ScopeMappingRepresentation',
  z
    .object({
      self: text('Keycloak: ignored.'),
      client: text('Client whose scope has the roles, by client id.'),
      clientScope: text('Client scope whose scope has the roles, by name.'),
      clientTemplate: deprecated(text('Keycloak: legacy field; use clientScope.')),
      roles: z.array(z.string()).optional().describe('Roles, by name.'),
    })
    .describe('Roles in the scope of a client or client scope.'),
)

const federationProvider = nameSchema(
  'UserFederationProviderRepresentation',
  z
    .object({
      id: text('Id of the component.'),
      displayName: text('Name of the component.'),
      providerName: text('Provider of the component, such as ldap.'),
      config,
      priority: integer('Priority of the provider. The lowest comes first.'),
      fullSyncPeriod: integer('Seconds between full synchronizations. -1: never.'),
      changedSyncPeriod: integer('Seconds between synchronizations of changed users. -1: never.'),
      lastSync: integer('Time of the last synchronization, in seconds since 1970.'),
    })
    .describe('Keycloak: legacy form of a user federation provider, which is a component.'),
)

const federationMapper = nameSchema(
  'UserFederationMapperRepresentation',
  z
    .object({
      id: text('Id of the component.'),
      name: text('Name of the mapper.'),
      federationProviderDisplayName: text('Name of the user federation provider.'),
      federationMapperType: text('Type of the mapper.'),
      config,
    })
    .describe('Keycloak: legacy form of a mapper of a user federation provider, which is a component.'),
)

const clientTemplate = nameSchema(
  'ClientTemplateRepresentation',
  deprecated(
    z
      .looseObject({
        id: text('Id of the client scope.'),
        name: text('Name of the client scope.'),
        description: text('Description of the client scope.'),
        protocol: text('Protocol of the client scope.'),
        attributes: z.record(z.string(), z.string()).optional().describe('Attributes of the client scope.'),
        ...Object.fromEntries(
          [
            'bearerOnly',
            'consentRequired',
            'directAccessGrantsEnabled',
            'frontchannelLogout',
            'fullScopeAllowed',
            'implicitFlowEnabled',
            'publicClient',
            'serviceAccountsEnabled',
            'standardFlowEnabled',
          ].map((field) => [field, z.boolean().optional().describe('Keycloak: ignored.')]),
        ),
        protocolMappers: z
          .array(z.lazy(() => representationOf(kinds.protocolMapper)))
          .optional()
          .describe('Protocol mappers.'),
      })
      .describe('Keycloak: legacy form of a client scope.'),
  ),
)

const claims = nameSchema(
  'ClaimRepresentation',
  z
    .object(
      Object.fromEntries(
        ['name', 'username', 'profile', 'picture', 'website', 'email', 'gender', 'locale', 'address', 'phone'].map(
          (claim) => [claim, z.boolean().optional().describe(`Keycloak: whether tokens contain the claim ${claim}.`)],
        ),
      ),
    )
    .describe('Keycloak: legacy form of the claims in tokens; use protocol mappers.'),
)

const socialLink = nameSchema(
  'SocialLinkRepresentation',
  z
    .object({
      socialProvider: text('Alias of the identity provider.'),
      socialUserId: text('User id at the identity provider.'),
      socialUsername: text('Username at the identity provider.'),
    })
    .describe('Keycloak: legacy form of a federated identity.'),
)

/** The fields that clients have in the legacy API only. */
export const applicationFields = {
  oauth2DeviceAuthorizationGrantEnabled: z
    .boolean()
    .optional()
    .describe('Keycloak: whether the client can use the device authorization grant.'),
  claims: deprecated(claims.optional().describe('Claims in tokens.')),
}

/** Keycloak: the legacy form of a client, with its claims. */
const legacyClient = (name: string, title: string, fields: z.ZodRawShape) =>
  nameSchema(
    name,
    deprecated(
      z
        .looseObject({
          ...bodySchema(kinds.client).shape,
          ...fields,
          protocolMappers: z
            .array(z.lazy(() => representationOf(kinds.protocolMapper)))
            .optional()
            .describe('Protocol mappers.'),
          authorizationSettings: anyRepresentation('ResourceServerRepresentation')
            .optional()
            .describe('Settings of the authorization services.'),
        })
        .describe(`Keycloak: legacy form of ${title}.`),
    ),
  )
const application = legacyClient('ApplicationRepresentation', 'a client', applicationFields)
const oauthClient = legacyClient('OAuthClientRepresentation', 'a third-party client', {
  claims: applicationFields.claims,
})

const componentExport: z.ZodType = nameSchema(
  'ComponentExportRepresentation',
  z
    .object({
      id: text('Id of the component.'),
      name: text('Name of the component, which may not be unique.'),
      providerId: text('Provider of the component, such as ldap, rsa-generated or trusted-hosts.'),
      subType: text('Subtype of the component: anonymous or authenticated, for client registration policies.'),
      subComponents: z
        .lazy(() => componentsByType)
        .optional()
        .describe('Child components by the type of their provider.'),
      config: nameSchema(
        'MultivaluedHashMapStringString',
        z.record(z.string(), z.array(z.string())).describe('Lists of texts by name.'),
      )
        .optional()
        .describe('Settings: lists of values by name, in any order.'),
    })
    .describe('A component in an export, within its parent.'),
)
const componentsByType = nameSchema(
  'MultivaluedHashMapStringComponentExportRepresentation',
  z.record(z.string(), z.array(componentExport)).describe('Components by the type of their provider.'),
)

const workflowState = nameSchema(
  'WorkflowStateRepresentation',
  z.object({ errors: z.array(z.string()).optional().describe('Error messages.') }).describe('State of a workflow.'),
)

/** Fields of representations besides those of their kind: nested objects, and fields that documents or early versions have. */
const additionalFields: Partial<
  Record<KindName, (schemaOf: (kind: KindName) => z.ZodType) => Record<string, z.ZodType>>
> = {
  realm: (schemaOf) => ({
    ...getChildSchemas(schemaOf),
    components: componentsByType,
    defaultRole: schemaOf('role'),
    adminPermissionsClient: schemaOf('client'),
    clientProfiles: profilesDocument,
    clientPolicies: policiesDocument,
    userProfile: profileSchema,
    scopeMappings: z.array(scopeMapping),
    clientScopeMappings: z.record(z.string(), z.array(scopeMapping)),
    userFederationProviders: z.array(federationProvider),
    userFederationMappers: z.array(federationMapper),
    federatedUsers: deprecated(anyRepresentations('UserRepresentation')),
    protocolMappers: deprecated(anyRepresentations('ProtocolMapperRepresentation')),
    applicationScopeMappings: deprecated(z.record(z.string(), z.array(scopeMapping))),
    socialProviders: deprecated(z.record(z.string(), z.string())),
    ...Object.fromEntries(
      ['certificate', 'codeSecret', 'privateKey', 'publicKey'].map((field) => [field, deprecated(z.string())]),
    ),
    defaultRoles: deprecated(z.array(z.string())),
    clientTemplates: deprecated(z.array(clientTemplate)),
    applications: deprecated(z.array(application)),
    oauthClients: deprecated(z.array(oauthClient)),
  }),
  client: () => ({ authorizationSettings: anyRepresentation('ResourceServerRepresentation') }),
  group: (schemaOf) => ({ subGroups: z.array(schemaOf('group')) }),
  user: () => ({ userProfileMetadata: profileMetadata, socialLinks: deprecated(z.array(socialLink)) }),
  organization: () => ({
    members: anyRepresentations('MemberRepresentation'),
    identityProviders: anyRepresentations('IdentityProviderRepresentation'),
    groups: anyRepresentations('GroupRepresentation'),
  }),
  authorizationScope: () => ({
    policies: anyRepresentations('PolicyRepresentation'),
    resources: anyRepresentations('ResourceRepresentation'),
  }),
  workflow: () => ({ state: workflowState }),
}

const representations = new Map<Kind, z.ZodType>()

/** Returns the schema of a kind's representation, registered under Keycloak's name for it. */
export function representationOf(kind: Kind): z.ZodType {
  const cached = representations.get(kind)
  if (cached) return cached
  const { shape } = bodySchema(kind)
  const additional = additionalFields[kind.name]?.((name) => z.lazy(() => representationOf(kinds[name]))) ?? {}
  const children = listNestedChildren(kind)
    .filter(([field]) => !Object.hasOwn(additional, field))
    .map(([field, child]) => [
      field,
      nestedRepresentations(child)
        .optional()
        .describe(`The ${getPluralTitle(child)} of the ${kind.title}.`),
    ])
  const fields = Object.entries(additional).map(([field, schema]) => [
    field,
    schema.optional().describe((shape[field] as z.ZodType).description ?? schema.description ?? ''),
  ])
  const schema = z
    .object({ ...shape, ...Object.fromEntries([...children, ...fields]) })
    .describe(`Representation of ${withArticle(kind.title)}.`)
  // An operation may have given the name to a schema of its own.
  representations.set(kind, isSchemaName(kind.representation) ? schema : nameSchema(kind.representation, schema))
  return schema
}

/** Returns the schema of children within their parent. Keycloak: roles by realm and client have a representation of their own. */
function nestedRepresentations(child: Kind): z.ZodType {
  const schema = childrenSchema(child, representationOf(child))
  return child.name === 'role' ? nameSchema('RolesRepresentation', schema) : schema
}

// The bodies and responses of the operations on authorization services of clients. Policies have fields by their type.
import * as z from 'zod'
import { policyTargets } from '../../kinds/authorization-policy.ts'
import { policySettings } from '../../kinds/authorization-policy-types.ts'
import { client } from '../../kinds/client.ts'
import { type Field, objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import { anyRepresentation, anyRepresentations, nameSchema, toReference } from '../../kinds/json-schema.ts'
import type { Kind } from '../../kinds/kind.ts'
import { type BodyForm, bodySchema } from '../body.ts'
import type { Response } from '../operation.ts'
import { representationOf } from '../representations.ts'
import { errorSchema } from '../responses.ts'

const text = (description: string) => z.string().nullish().describe(description)

const policyFields = kinds.authorizationPolicy.fields
const settings = Object.fromEntries(
  policySettings.map(({ field, configKey: setting, isFlag: flag }) => [
    field,
    z
      .union([z.string(), z.number(), z.boolean()])
      .meta({ wire: { type: 'string' } })
      .nullish()
      .describe(
        flag ? `Setting \`${setting}\` in \`config\`: true or false.` : `Setting \`${setting}\` in \`config\`.`,
      ),
  ]),
)
const relations = Object.fromEntries(
  policyTargets.map(({ field, flagged }) => [
    field,
    z
      .array(flagged ? z.union([z.string(), z.looseObject({})]) : z.string())
      .nullish()
      .describe(
        `${policyFields[field]!.description.replace(/, by .*\./, '.')} By id${flagged ? `, each with \`${flagged.flag}\`` : ''}.`,
      ),
  ]),
)

const pickFields = (kind: Kind, fields: readonly string[]) =>
  objectSchema(Object.fromEntries(fields.map((name): [string, Field] => [name, kind.fields[name]!]))).shape

const policyShape = {
  id: text('Id of the policy. Used only on creation.'),
  ...pickFields(kinds.authorizationPolicy, ['name', 'description', 'type', 'logic', 'decisionStrategy', 'config']),
  ...settings,
  ...relations,
  owner: text(
    'Keycloak: user who created the policy, with user-managed access. Returned by the request that creates the policy, and not stored.',
  ),
  resourcesData: anyRepresentations('ResourceRepresentation')
    .nullish()
    .describe('Resources in full. Ignored in requests.'),
  scopesData: anyRepresentations('ScopeRepresentation').nullish().describe('Scopes in full. Ignored in requests.'),
}

/** Keycloak: PolicyRepresentation, and those of the types. */
const policy = nameSchema(
  'PolicyRepresentation',
  z
    .strictObject(policyShape)
    .describe('A policy, with the fields of its type. With the type resource or scope, a permission.'),
)

/** Keycloak: the representation of policies in lists. */
const listedPolicy = nameSchema(
  'AbstractPolicyRepresentation',
  z.strictObject(policyShape).describe('A policy in a list.'),
)

const scope = bodySchema(kinds.authorizationScope)
const owner = nameSchema(
  'ResourceOwnerRepresentation',
  z.looseObject({ id: text('Id of the owner.'), name: text('Name of the owner.') }),
)
const scopes = z
  .array(z.union([z.string(), scope]))
  .meta({ wire: { type: 'array', items: { $ref: toReference('ScopeRepresentation') } } })
  .nullish()
  .describe('Scopes of the resource, by name. Missing scopes are created.')

const resource = nameSchema(
  'ResourceRepresentation',
  z
    .strictObject({
      _id: text('Id of the resource. Used only on creation.'),
      ...pickFields(kinds.authorizationResource, [
        'name',
        'displayName',
        'type',
        'uris',
        'icon_uri',
        'ownerManagedAccess',
      ]),
      uri: text('Keycloak: legacy field; use uris.').meta({ deprecated: true }),
      owner: z.union([z.string(), owner]).nullish().describe('Owner of the resource: a user, or the client itself.'),
      scopes,
      scopesUma: scopes,
      // Keycloak: a value that is no object counts as absent.
      attributes: z
        .union([kinds.authorizationResource.fields.attributes!.schema, z.json().transform(() => undefined)])
        .meta({ wire: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } } })
        .nullish()
        .describe('Attributes: lists of values by name.'),
    })
    .describe('A resource that a client protects.'),
)

const resourceType = nameSchema(
  'ResourceType',
  z
    .object({
      type: text('Name of the type.'),
      scopes: z.array(z.string()).nullish().describe('Scopes of the type.'),
      scopeAliases: z.record(z.string(), z.array(z.string())).nullish().describe('Aliases of scopes, by scope.'),
      groupType: text('Type that contains objects of this type.'),
    })
    .describe('A type of objects that fine-grained admin permissions are for.'),
)
nameSchema(
  'AuthorizationSchema',
  z
    .object({ resourceTypes: z.record(z.string(), resourceType).nullish().describe('Types of objects, by name.') })
    .describe('The types of objects that fine-grained admin permissions are for.'),
)

const server = nameSchema(
  'ResourceServerRepresentation',
  z
    .strictObject({
      id: text('Id of the client.'),
      clientId: text('Id of the client, as in `id`.'),
      name: text('Client id of the client.'),
      ...(client.fields.authorizationSettings!.schema as z.ZodObject).shape,
      resources: anyRepresentations('ResourceRepresentation').nullish().describe('Resources of the client.'),
      policies: anyRepresentations('PolicyRepresentation')
        .nullish()
        .describe('Policies and permissions of the client.'),
      scopes: anyRepresentations('ScopeRepresentation').nullish().describe('Authorization scopes of the client.'),
      authorizationSchema: anyRepresentation('AuthorizationSchema')
        .nullish()
        .describe('Keycloak: types of objects that fine-grained admin permissions are for. Ignored in requests.'),
    })
    .describe('Settings of the authorization services of a client.'),
)

/** The query parameter of a search by name. */
export const byName = z.object({ name: z.string().optional().describe('Exact name; required.') })

/** The request bodies of the operations on authorization services. */
export const bodies = {
  server: {
    schema: server,
    description: 'The resource server settings.',
    representation: 'ResourceServerRepresentation',
  },
  resource: { schema: resource, description: 'The resource.', representation: 'ResourceRepresentation' },
  policy: { schema: policy, description: 'The policy.', representation: 'PolicyRepresentation' },
} satisfies Record<string, BodyForm>

const provider = nameSchema(
  'PolicyProviderRepresentation',
  z.object({
    type: z.string().describe('Type of policies, such as role.'),
    name: z.string().describe('Display name of the type.'),
    group: z.string().describe('Heading under which the admin console lists the type.'),
  }),
)

/** The responses with one object or all of a kind. */
export const answers = {
  server: { description: 'The resource server settings.', schema: server },
  resource: { description: 'The resource.', schema: resource },
  resources: { description: 'The resources.', schema: z.array(resource) },
  scopes: { description: 'The scopes.', schema: z.array(representationOf(kinds.authorizationScope)) },
  policy: { description: 'The policy.', schema: policy },
  listedPolicy: { description: 'The policy.', schema: listedPolicy },
  policies: { description: 'The policies.', schema: z.array(policy) },
  listedPolicies: { description: 'The policies.', schema: z.array(listedPolicy) },
  providers: { description: 'The types of policies.', schema: z.array(provider) },
  attributes: {
    description: 'The attributes: lists of values by name.',
    schema: z.record(z.string(), z.array(z.string())),
  },
  absent: { description: 'No object matches.' },
  replaced: { description: 'Updated.' },
} satisfies Record<string, Response>

/** Error responses that may have no body, as in Keycloak. */
export const bodylessErrors = {
  unnamed: { 400: { description: 'The parameter `name` is missing.', schema: errorSchema.optional() } },
  missing: { 404: { description: 'An object in the path does not exist.', schema: errorSchema.optional() } },
} satisfies Record<string, Record<number, Response>>
